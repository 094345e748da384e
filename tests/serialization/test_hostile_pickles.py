"""The unpickler does what it has decided, to data alone; everything else in a pickle is refused."""

import io
import pickle
import pickletools
import sys
import tracemalloc

import pytest

import minitorch_compile as torch
from minitorch_compile.serialization import UnreadableFileError
from minitorch_compile.serialization.unpickler import OPCODES, loads

from .hostile import archive, call, loaded, name, number, numbers, storage, tensor, text

WHOLE = tensor(number(0), numbers(2, 3), numbers(3, 1))


def test_the_pickles_written_by_hand_are_right() -> None:
    """Or else all tests below would see a refusal for another reason."""
    x = loaded(WHOLE)
    assert (x.shape, x.stride(), x.tolist()) == ((2, 3), (3, 1), [[0, 0, 0], [0, 0, 0]])
    assert loaded(tensor(number(6), numbers(0), numbers(1))).shape == (0,)
    assert loaded(tensor(number(5), numbers(4, 2), numbers(0, 0))).stride() == (0, 0)


LAYOUTS = {
    "more than there is": (number(0), numbers(2, 4), numbers(3, 1)),
    "an offset behind the end": (number(6), numbers(1), numbers(1)),
    "a 0-d tensor behind the end": (number(6), b")", b")"),
    "a large stride": (number(0), numbers(2, 2), numbers(2**40, 1)),
    "strides whose sum wraps around": (number(0), numbers(2, 2), numbers(2**63 - 1, 2**63 - 1)),
    "a size beyond 64 bits": (number(0), numbers(2**64), numbers(0)),
    "sizes whose product wraps around": (number(0), numbers(2**32, 2**32), numbers(0, 0)),
    "such sizes, and no elements": (number(0), numbers(2**62, 2**62, 0), numbers(0, 0, 0)),
    "a negative size": (number(0), numbers(-1, 3), numbers(3, 1)),
    "a negative stride": (number(5), numbers(2, 3), numbers(3, -1)),
    "a negative offset": (number(-1), numbers(2), numbers(1)),
    "a huge offset of nothing": (number(2**63), numbers(0), numbers(1)),
    "a size that is True": (number(0), b"(\x88t", numbers(1)),
    "a stride that is False": (number(0), numbers(1), b"(\x89t"),
    "an offset that is True": (b"\x88", numbers(1), numbers(1)),
    "an offset that is a float": (b"G" + bytes(8), numbers(1), numbers(1)),
    "sizes that are floats": (number(0), b"(G" + bytes(8) + b"t", numbers(1)),
    "sizes that are a string": (number(0), text("12"), numbers(1, 1)),
    "sizes that are a dictionary": (number(0), b"}", b"}"),
    "no sizes": (number(0), b"N", b"N"),
    "fewer strides": (number(0), numbers(2, 3), numbers(1)),
    "65 dimensions": (number(0), numbers(*[1] * 65), numbers(*[1] * 65)),
    "sizes that hold a name": (number(0), b"(" + name("torch.Size") + b"t", numbers(1)),
}


@pytest.mark.parametrize("case", LAYOUTS)
def test_a_tensor_lies_in_its_storage(case: str) -> None:
    with pytest.raises(UnreadableFileError):
        loaded(tensor(*LAYOUTS[case]))


STORAGES = {
    "one that is not there": storage(key="1"),
    "another folder's": storage(key="../data.pkl"),
    "longer than its bytes": storage(elements=7),
    "shorter than its bytes": storage(elements=5),
    "of a wider dtype": storage("torch.DoubleStorage"),
    "negative": storage(elements=-6),
    "huge": storage(elements=2**62),
    "of no type": storage("collections.OrderedDict"),
    "of a type that is none": storage("torch.Size"),
    "with too few parts": b"(" + text("storage") + name("torch.FloatStorage") + text("0") + b"tQ",
    "that is none": text("storage") + b"Q",
    "that is a tensor": WHOLE,
    "that is a number": number(3),
    "that is a name": name("torch.FloatStorage"),
    "a view of one": (
        b"("
        + text("storage")
        + name("torch.FloatStorage")
        + text("0")
        + text("cpu")
        + number(6)
        + numbers(0, 1, 2)
        + b"tQ"
    ),
    "whose length is True": (b"(" + text("storage") + name("torch.FloatStorage") + text("0") + text("cpu") + b"\x88tQ"),
    "whose key is a number": (
        b"(" + text("storage") + name("torch.FloatStorage") + number(0) + text("cpu") + number(6) + b"tQ"
    ),
}


@pytest.mark.parametrize("case", STORAGES)
def test_a_storage_is_what_the_file_has(case: str) -> None:
    with pytest.raises(UnreadableFileError):
        loaded(tensor(number(0), numbers(1), numbers(1), STORAGES[case]))


def test_two_references_to_a_storage_must_agree() -> None:
    other = tensor(number(0), numbers(3), numbers(1), storage("torch.DoubleStorage", elements=3))
    with pytest.raises(UnreadableFileError, match="two things"):
        loaded(b"](" + WHOLE + other + b"e")
    first, second = loaded(b"](" + WHOLE + WHOLE + b"e")
    assert first.storage() == second.storage()


def test_a_byte_that_is_no_bool_is_refused() -> None:
    stored = storage("torch.BoolStorage", elements=2)
    with pytest.raises(UnreadableFileError, match="neither 0 nor 1"):
        loaded(tensor(number(0), numbers(2), numbers(1), stored), {"data/0": b"\1\2"})


STATE = b"}" + text("sizes") + numbers(100) + b"s"
TARGETS = {
    "a tensor": WHOLE + STATE + b"b",
    "a tensor, as pickle's other kind of state": WHOLE + b"N" + STATE + b"\x86b",
    "a parameter": call("torch._utils._rebuild_parameter", WHOLE, b"\x88", call("collections.OrderedDict"))
    + STATE
    + b"b",
    "a dtype": name("torch.float32") + b"}" + text("itemsize") + number(1) + b"sb",
    "a class": name("collections.OrderedDict") + STATE + b"b",
    "a function": name("torch._utils._rebuild_tensor_v2") + b"}" + text("__code__") + b"Nsb",
    "a storage": storage() + b"}" + text("buffer") + b"Nsb",
    "a type of storage": name("torch.FloatStorage") + b"}" + text("stored") + b"Nsb",
    "a device": call("torch.device", text("cpu")) + b"}" + text("type") + text("x") + b"sb",
    "a list": b"]" + STATE + b"b",
    "a dictionary": b"}" + STATE + b"b",
    "a number": number(1) + STATE + b"b",
    "a set": b"\x8f" + STATE + b"b",
    "a defaultdict": call("collections.defaultdict") + b"}" + text("default_factory") + b"Nsb",
    "a method of an OrderedDict": call("collections.OrderedDict") + b"}" + text("items") + number(1) + b"sb",
    "the class of an OrderedDict": call("collections.OrderedDict") + b"}" + text("__class__") + number(1) + b"sb",
    "an OrderedDict by what is no dictionary": call("collections.OrderedDict") + b"]b",
}


@pytest.mark.parametrize("case", TARGETS)
def test_build_sets_only_what_can_bear_it(case: str) -> None:
    with pytest.raises(UnreadableFileError):
        loaded(TARGETS[case])
    assert torch.float32.itemsize == 4


def test_build_gives_a_state_dict_its_metadata() -> None:
    made = loaded(call("collections.OrderedDict") + b"}" + text("_metadata") + b"}" + b"sb")
    assert made._metadata == {}


def attributes(key: str) -> bytes:
    """A tensor with an attribute, as PyTorch pickles it."""
    arguments = (
        b"(" + storage() + number(0) + numbers(6) + numbers(1) + b"\x89" + call("collections.OrderedDict") + b"t"
    )
    function, cls = name("torch._utils._rebuild_tensor_v2"), name("torch.Tensor")
    return call("torch._tensor._rebuild_from_type_v2", function, cls, arguments, b"}" + text(key) + number(7) + b"s")


@pytest.mark.parametrize(
    "key", ["sizes", "strides", "offset", "storage", "dtype", "_array", "grad", "__class__", "add", "_grad"]
)
def test_a_tensors_own_attributes_are_not_set(key: str) -> None:
    assert loaded(attributes("tag")).tag == 7
    with pytest.raises(UnreadableFileError, match="its own"):
        loaded(attributes(key))


CALLS = {
    "of what is not on the list": call("os.system", text("true")),
    "of what is found in a module on the list": call("collections.namedtuple", text("x"), text("y")),
    "by a longer way": call("torch.os.system", text("true")),
    "of a method": call("builtins.getattr", name("os.system"), text("x")),
    "of eval": call("__builtin__.eval", text("1")),
    "of a dtype": name("torch.float32") + b")R",
    "of a type of storage": name("torch.FloatStorage") + b")R",
    "of a tensor": WHOLE + b")R",
    "of a string": text("os.system") + b")R",
    "without a tuple": name("collections.OrderedDict") + b"]R",
    "with a name among the items": call("collections.OrderedDict", b"](" + text("a") + name("torch.Size") + b"\x86e"),
    "of bytearray with a length": call("builtins.bytearray", number(10**12)),
    "of Size with strings": call("torch.Size", text("12")),
    "of complex with strings": call("builtins.complex", text("1j"), text("1")),
    "of set with a range of 10**9 items": call("builtins.set", call("builtins.range", number(10**9))),
    "of Counter with a string": call("collections.Counter", text("ab")),
    "of a device that is none": call("torch.device", text("nonsense")),
    "of encode with another encoding": call("_codecs.encode", text("x"), text("rot13")),
    "of a defaultdict with a function": call("collections.defaultdict", name("torch._utils._rebuild_tensor_v2")),
    "with too many arguments": call("builtins.set", b"]", b"]"),
    "of a parameter of a list": call("torch._utils._rebuild_parameter", b"]", b"\x88", b"N"),
    "with requires_grad of integers": tensor(
        number(0), numbers(3), numbers(1), storage("torch.LongStorage", elements=3), b"\x88"
    ),
    "with requires_grad that is a number": tensor(number(0), numbers(3), numbers(1), grad=number(1)),
    "that makes an instance": name("collections.OrderedDict") + b")\x81",
}


@pytest.mark.parametrize("case", CALLS)
def test_only_what_is_on_the_list_is_called_as_it_is_meant(case: str) -> None:
    with pytest.raises(UnreadableFileError):
        loaded(CALLS[case])


CONTAINERS = {
    "append to a dictionary": b"}" + number(1) + b"a",
    "append to a tuple": b")" + number(1) + b"a",
    "append to a tensor": WHOLE + number(1) + b"a",
    "items of a list": b"]" + text("a") + number(1) + b"s",
    "items of a tensor": WHOLE + number(0) + number(1) + b"s",
    "items of a string": text("a") + number(0) + number(1) + b"s",
    "a key without a value": b"}(" + text("a") + b"u",
    "items added to a list": b"](" + number(1) + b"\x90",
    "a key that is a list": b"}]" + number(1) + b"s",
    "a key that holds a list": b"}]\x85" + number(1) + b"s",
    "an item that can't be hashed": b"\x8f(]\x90",
    "a name as an item": b"]" + name("torch.Size") + b"a",
    "a name in a tuple as an item": b"]" + name("torch.Size") + b"\x85a",
    "a name as a value": b"}" + text("a") + name("torch.Size") + b"s",
    "a name as a key": b"}" + name("torch.Size") + number(1) + b"s",
    "a name as all there is": name("torch.Size"),
    "a mark as an item": b"](a",
    "a mark as all there is": b"(",
    "nothing": b"",
    "two things": b"NN",
    "a memory that is empty": b"h\0",
    "too much popped": b"00",
    "a tuple of too few": b"N\x86",
    "no mark": b"Nt",
    "remembering nothing": b"q\0",
    "a string that is not UTF-8": b"X\x01\0\0\0\xff",
    "a string longer than the file": b"X\xff\xff\xff\x7fab",
    "a number longer than the file": b"\x8b\xff\xff\xff\x7fab",
    "a name without an end": b"ctorch",
    "a name that is not UTF-8": b"c\xff\n\xff\n",
    "a name by numbers": number(1) + number(2) + b"\x93",
    "a frame longer than the file": b"\x95" + bytes([255]) * 8 + b"N",
    "a protocol that is none": b"\x80\x09N",
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_containers_and_the_stack_hold_data(case: str) -> None:
    with pytest.raises(UnreadableFileError):
        loaded(CONTAINERS[case])


def test_every_other_opcode_is_refused() -> None:
    """INST, OBJ, EXT, PERSID, DUP, the texts of protocol 0, and what no pickle has."""
    known = {opcode.code.encode("latin1") for opcode in pickletools.opcodes}
    refused = known - set(OPCODES) - {b"."}
    assert {b"i", b"o", b"P", b"2", b"\x82", b"\x83", b"\x84", b"\x92", b"\x97", b"\x98", b"I", b"S", b"V"} <= refused
    for code in range(256):
        if (opcode := bytes([code])) not in OPCODES and opcode != b".":
            with pytest.raises(UnreadableFileError, match="opcode"):
                loaded(b"NN(" + opcode + b"\x01\x01\x01\x01\n\n")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_data_of_every_protocol_is_read(protocol: int) -> None:
    shared = [1]
    value = {
        "numbers": [0, -1, 255, 256, 2**31, -(2**31), 2**100, -(2**2100), 1.5, True, None, 1j],
        "texts": ["", "é", "x" * 300, "\ud800", b"", b"\xff" * 300, bytearray(b"ab")],
        "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
        "sets": [{1, "a"}, frozenset({2}), set(range(2000))],
        "shared": [shared, shared, list(range(3000)), dict.fromkeys(range(3000))],
    }
    again = loads(pickle.dumps(value, protocol))
    assert again == value
    assert again["shared"][0] is again["shared"][1]
    shared.append(shared)
    again = loads(pickle.dumps(shared, protocol))
    assert again[1] is again


COPIES = b"h\0\x85R"  # of what was remembered first
BOMBS = {
    "sets": b"(" + b"\x8f" * 600_000 + b"t",
    "lists": b"(" + b"]" * 600_000 + b"t",
    "dictionaries": b"(" + b"}" * 600_000 + b"t",
    "the memory": b"N" + b"".join(b"r" + i.to_bytes(4, "little") for i in range(600_000)),
    "a list copied again and again": b"](" + b"N" * 50_000 + b"eq\0(" + (name("builtins.set") + COPIES) * 100 + b"t",
    "pairs copied": b"](" + b"K\1N\x86" * 9000 + b"eq\0(" + (name("collections.OrderedDict") + COPIES) * 100 + b"t",
}


@pytest.mark.parametrize("case", BOMBS)
def test_little_bytes_do_not_become_much_memory(case: str) -> None:
    data = archive(BOMBS[case])
    file = io.BytesIO(data)
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableFileError, match="memory"):
            torch.load(file)
        assert tracemalloc.get_traced_memory()[1] < len(data) + (64 << 20)
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_file_of_many_tensors_is_read() -> None:
    """15,000 of them, which have names, storages of their own, and little else."""
    members = {f"data/{i}": bytes(4) for i in range(15_000)}
    stored = (storage(key=str(i), elements=1) for i in range(15_000))
    pairs = b"".join(text(f"layers.{i}.weight") + tensor(number(0), b")", b")", one) for i, one in enumerate(stored))
    assert len(loaded(b"}(" + pairs + b"u", members)) == 15_000


def test_a_file_that_is_trusted_may_take_more_memory() -> None:
    pickled = b"](" + b"]" * 550_000 + b"e"
    with pytest.raises(UnreadableFileError, match="weights_only=False"):
        loaded(pickled)
    assert len(loaded(pickled, weights_only=False)) == 550_000


def test_a_key_of_countless_parts_is_refused_at_once() -> None:
    """Each tuple is twice in the next: hashing the last would take 2**100 steps."""
    pickled = b"0".join(
        [b")q\0", *(b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) for i in range(100))]
    )
    for use in (b"}h\x64Ns", b"\x8f(h\x64\x90", b"(h\x64\x91", call("builtins.set", b"](h\x64e")):
        with pytest.raises(UnreadableFileError, match="parts"):
            loaded(pickled + b"0" + use)


def test_a_key_that_is_a_huge_number_is_refused() -> None:
    """Its hash is computed each time that it is looked up."""
    huge = b"\x8b" + (100_000).to_bytes(4, "little") + b"\x7f" * 100_000
    with pytest.raises(UnreadableFileError, match="bits"):
        loaded(huge + b"q\x000}h\0Ns")
    assert loaded(huge).bit_length() == 799_999


@pytest.mark.parametrize("depth", [101, sys.getrecursionlimit() * 3, 200_000])
@pytest.mark.parametrize("kind", ["lists", "tuples", "dictionaries"])
def test_what_is_nested_too_deeply_is_refused(depth: int, kind: str) -> None:
    steps: dict[str, tuple[bytes, bytes]] = {
        "lists": (b"]", b"a"),
        "tuples": (b"", b"\x85"),
        "dictionaries": (b"}N", b"s"),
    }
    before, after = steps[kind]
    with pytest.raises(UnreadableFileError, match="nested deeper"):
        loaded(before * depth + b"N" + after * depth, weights_only=False)


def test_a_list_that_was_put_deeper_afterwards_is_found() -> None:
    """A chain of lists, each of which was put into the one before when it was empty."""
    steps = [b"]q\0"]
    for i in range(200):
        steps.append(b"h" + bytes([i]) + b"]q" + bytes([i + 1]) + b"a0")
    with pytest.raises(UnreadableFileError, match="nested deeper"):
        loaded(b"".join(steps))


def test_compiled_code_writes_only_into_the_storage_of_what_was_read() -> None:
    x = loaded(tensor(number(1), numbers(2, 2), numbers(3, 1)))
    torch.compile(lambda x: x.add_(1))(x)
    assert x.storage().tolist() == [0, 1, 1, 0, 1, 1]
