"""Files from before PyTorch 1.6 that lie: several pickles, one after the other, and the storages behind them."""

import io
import pickle

import pytest

from minitorch_compile.serialization import UnreadableFileError, load

from .hostile import number, numbers, storage, tensor, text

MAGIC, PROTOCOL, SYSTEM = 0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}
WHOLE = tensor(number(0), numbers(2, 3), numbers(3, 1))
BYTES = (6).to_bytes(8, "little") + bytes(24)


def legacy(
    pickled: bytes = WHOLE,
    keys: bytes = b"](" + text("0") + b"e",
    data: bytes = BYTES,
    magic: int = MAGIC,
    protocol: int = PROTOCOL,
    protocol_of_pickles: int = 2,
) -> bytes:
    """A file as torch.save wrote it."""
    start = [pickle.dumps(value, protocol_of_pickles) for value in (magic, protocol, SYSTEM)]
    return b"".join([*start, b"\x80\x02" + pickled + b".", b"\x80\x02" + keys + b".", data])


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_the_file_that_is_changed_is_right(protocol: int) -> None:
    assert load(io.BytesIO(legacy(protocol_of_pickles=protocol))).shape == (2, 3)


HOSTILE = {
    "another number at the start": legacy(magic=MAGIC + 1),
    "another protocol": legacy(protocol=1002),
    "no storages": legacy(data=b""),
    "half a storage": legacy(data=BYTES[:-1]),
    "a storage that says it is longer": legacy(data=(7).to_bytes(8, "little") + bytes(28)),
    "a storage that says it is shorter": legacy(data=(5).to_bytes(8, "little") + bytes(24)),
    "a storage that says it is huge": legacy(data=b"\xff" * 8 + bytes(24)),
    "a storage of more than the file": legacy(tensor(number(0), numbers(1), numbers(1), storage(elements=2**40))),
    "many storages of all the file": legacy(
        b"](" + b"".join(storage(key=str(i), elements=40) for i in range(5000)) + b"e", keys=b"]"
    ),
    "a key that is not listed": legacy(keys=b"]"),
    "a key that is listed twice": legacy(keys=b"](" + text("0") * 2 + b"e"),
    "a key that nothing refers to": legacy(keys=b"](" + text("0") + text("1") + b"e"),
    "keys that are numbers": legacy(keys=b"](" + number(0) + b"e"),
    "keys that are no list": legacy(keys=text("0")),
    "keys that are a storage": legacy(keys=storage()),
    "a tensor outside its storage": legacy(tensor(number(1), numbers(2, 3), numbers(3, 1))),
    "a byte that is no bool": legacy(
        tensor(number(0), numbers(6), numbers(1), storage("torch.BoolStorage")),
        data=(6).to_bytes(8, "little") + b"\2" * 6,
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_it_is_refused(case: str) -> None:
    with pytest.raises(UnreadableFileError):
        load(io.BytesIO(HOSTILE[case]))
