"""Safetensors files that lie about themselves, in the format's own words and in the structure that save() adds."""

import io
import json
import tracemalloc
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.serialization import UnreadableFileError, load

STRUCTURE = "minitorch_compile.structure"


def file_of(header: Any, data: bytes = bytes(8)) -> io.BytesIO:
    """A file with that header, given as JSON or as text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return io.BytesIO(len(text).to_bytes(8, "little") + text + data)


def row(start: Any = 0, end: Any = 8, shape: Any = (2,), dtype: Any = "F32", **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end], **more}


def test_the_file_that_is_changed_is_right() -> None:
    assert load(file_of({"x": row()}))["x"].tolist() == [0, 0]
    assert load(file_of({"x": row(0, 4, [1]), "y": row(4, 8, [])}))["y"].item() == 0
    assert load(file_of({"x": row(), "none": row(8, 8, [0, 5])}))["none"].shape == (0, 5)


HOSTILE: dict[str, Any] = {
    "an overlap": {"x": row(), "y": row(4, 8, [1])},
    "the same bytes": {"x": row(), "y": row()},
    "a hole": {"x": row(0, 4, [1])},
    "a hole before": {"x": row(4, 8, [1])},
    "a hole between": {"x": row(0, 2, [1], "F16"), "y": row(4, 8, [1])},
    "more than there is": {"x": row(0, 16, [4])},
    "a wrong size": {"x": row(shape=[3])},
    "a name twice": b'{"x": %s, "x": %s}' % ((json.dumps(row()).encode(),) * 2),
    "a dtype twice": b'{"x":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]}}',
    "a negative offset": {"x": row(-8, 0)},
    "turned offsets": {"x": row(8, 0)},
    "three offsets": {"x": {**row(), "data_offsets": [0, 4, 8]}},
    "offsets that are floats": {"x": row(0.0, 8.0)},
    "offsets that are strings": {"x": row("0", "8")},
    "an offset that is true": {"x": row(0, True, [1], "BOOL")},
    "no offsets": {"x": {"dtype": "F32", "shape": [2]}},
    "a negative size": {"x": row(shape=[-2])},
    "negative sizes whose product fits": {"x": row(shape=[-1, -2])},
    "a size that is true": {"x": row(0, 8, [True, 2])},
    "a size that is a float": {"x": row(shape=[2.0])},
    "a size that is NaN": {"x": row(shape=[float("nan")])},
    "a size that is Infinity": {"x": row(shape=[float("inf")])},
    "a huge size": {"x": row(shape=[2**64, 2])},
    "a size whose product wraps around": {"x": row(shape=[2**63, 2**63, 2])},
    "such sizes, and nothing": {"x": row(0, 0, [2**62, 2**62, 0]), "y": row()},
    "65 dimensions": {"x": row(shape=[1] * 64 + [2])},
    "a number of 5000 digits": b'{"x":{"dtype":"F32","shape":[%s],"data_offsets":[0,8]}}' % (b"9" * 5000),
    "sizes that are a string": {"x": row(shape="2")},
    "sizes that are an object": {"x": row(shape={"2": 1})},
    "a dtype that is not known": {"x": row(dtype="F33")},
    "a dtype that is known, but not here": {"x": row(0, 8, [16], "F4")},
    "a dtype of NumPy's alone": {"x": row(0, 8, [2], "<U1")},
    "a dtype that is a list": {"x": row(dtype=["F32"])},
    "something more": {"x": row(more=1)},
    "a tensor that is a list": {"x": [0, 8]},
    "a tensor that is null": {"x": None},
    "a list": [1, 2],
    "a string": b'{"x"}',
    "no brace": b" " + json.dumps({"x": row()}).encode(),
    "bytes that are not UTF-8": b'{"\xff":' + json.dumps(row()).encode() + b"}",
    "UTF-16": json.dumps({"x": row()}).encode("utf-16"),
    "metadata that is a list": {"__metadata__": ["a"], "x": row()},
    "metadata of numbers": {"__metadata__": {"a": 1}, "x": row()},
    "deep nesting": b'{"a":' * 100_000,
    "deep lists": b'{"a":' + b"[" * 100_000,
    "something behind the header": json.dumps({"x": row()}).encode() + b"x",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_it_is_refused(case: str) -> None:
    with pytest.raises(UnreadableFileError, match=r"^load: "):
        load(file_of(HOSTILE[case]))


@pytest.mark.parametrize("length", [0, 1, 2, 7, 60, 10**8, 2**31, 2**63, 2**64 - 1])
def test_a_length_of_the_header_that_lies_is_refused(length: int) -> None:
    data = file_of({"x": row()}).getvalue()
    with pytest.raises(UnreadableFileError):
        load(io.BytesIO(length.to_bytes(8, "little") + data[8:]))


def test_a_byte_that_is_no_bool_is_refused() -> None:
    with pytest.raises(UnreadableFileError, match="neither 0 nor 1"):
        load(file_of({"x": row(0, 2, [2], "BOOL")}, b"\1\2"))


def structured(node: Any, data: bytes = bytes(8)) -> io.BytesIO:
    """A file as save() writes it, with that structure, and an entry x of two floats."""
    text = node if isinstance(node, str) else json.dumps(node)
    return file_of({"__metadata__": {STRUCTURE: text}, "x": row()}, data)


def view(offset: Any, sizes: Any, strides: Any, dtype: Any = "float32") -> dict[str, Any]:
    return {"tensor": "x", "view": [dtype, offset, sizes, strides]}


def test_the_structure_that_is_changed_is_right() -> None:
    assert load(structured(view(1, [1], [1]))).storage_offset() == 1
    assert load(structured(view(0, [1], [1], "int64"))).tolist() == [0]


STRUCTURES: dict[str, Any] = {
    "outside": view(1, [2], [1]),
    "far outside": view(0, [2], [2**62]),
    "before": view(-1, [1], [1]),
    "behind, in another dtype": view(1, [1], [1], "int64"),
    "of floats": view(0, [1.0], [1]),
    "of true": view(0, [True], [1]),
    "of a dtype that is none": view(0, [1], [1], "float33"),
    "of too few parts": {"tensor": "x", "view": [0, [1]]},
    "strides that overlap": {"tensor": "x", "strides": [0]},
    "strides that are too many": {"tensor": "x", "strides": [1, 1]},
    "strides that reach outside": {"tensor": "x", "strides": [2]},
    "a tensor that is not there": {"tensor": "y"},
    "a tensor without a name": {"tensor": ["x"]},
    "what comes again and never came": {"again": 0},
    "a number twice": {"list": [{"list": [], "as": 0}, {"list": [], "as": 0}]},
    "a number that is none": {"list": [{"list": [], "as": []}]},
    "a kind that is not known": {"function": "os.system"},
    "two things": [1, 2],
    "nothing at all": {},
    "requires_grad of integers": {**view(0, [1], [1], "int32"), "requires_grad": True},
    "a parameter that is a number": {"tensor": "x", "parameter": 1},
    "an attribute of the tensor's own": {"tensor": "x", "attributes": [["sizes", {"tuple": [100]}]]},
    "an attribute of an OrderedDict's own": {"OrderedDict": [], "attributes": [["items", 1]]},
    "an attribute without a value": {"OrderedDict": [], "attributes": [["x"]]},
    "a class of an object": {"dataclass": "minitorch_compile.config:x", "attributes": []},
    "an attribute that is a class": {
        "dataclass": "tests.serialization.test_kinds_of_values:Config",
        "attributes": [["__class__", 1]],
    },
    "a key that is a list": {"dict": [[{"list": []}, 1]]},
    "a key alone": {"dict": [[1]]},
    "items that are no list": {"list": 3},
    "items that are a string": {"tuple": "ab"},
    "a factory that is code": {"defaultdict": [], "of": "eval"},
    "a range of floats": {"range": [0.5, 1, 1]},
    "a range without end": {"range": [0, 1, 0]},
    "bytes that are no base64": {"bytes": "?"},
    "a date that is none": {"date": [2024, 13, 1]},
    "a time zone that is a path": {"ZoneInfo": "../../etc/passwd"},
    "a fraction of long numbers": {"Fraction": ["0x1" + "0" * 100_000, "0x3"]},
    "a fraction by 0": {"Fraction": ["0x1", "0x0"]},
    "an array of objects": {"ndarray": "x", "dtype": "|O", "shape": [1]},
    "an array of more than there is": {"ndarray": "x", "dtype": "<f8", "shape": [10]},
    "a number of too many bytes": {"scalar": ["<f4", "AAAAAAAA"]},
    "a number that is an object": {"scalar": ["|O", "AAAAAAAAAAA="]},
    "a meta tensor of negative size": {"meta": ["float32", [-1], [1]]},
    "no JSON": "{",
    "a name twice": '{"list": [], "list": []}',
    "a huge number": '{"list": [' + "9" * 5000 + "]}",
}


@pytest.mark.parametrize("case", STRUCTURES)
def test_a_structure_that_lies_is_refused(case: str) -> None:
    with pytest.raises(UnreadableFileError, match=r"^load: "):
        load(structured(STRUCTURES[case]))


def test_files_of_earlier_versions_are_read() -> None:
    """Before strides and sharing were kept."""
    pairs = [["w", {"tensor": "x", "parameter": True}], ["tied", {"tensor": "x", "requires_grad": True}]]
    pairs += [["n", {"number": 1.5}], ["s", {"set": [1]}], ["z", {"complex": [1, 2]}], [3, {"tuple": [{"Size": [1]}]}]]
    pairs += [["d", {"dtype": "float16"}], ["o", {"OrderedDict": [["a", {"device": "cpu"}]]}]]
    value = load(structured({"dict": pairs}))
    assert (value["n"], value["s"], value["z"], value[3]) == (1.5, {1}, 1 + 2j, (torch.Size([1]),))
    assert (value["d"], value["o"]) == (torch.float16, {"a": torch.device("cpu")})
    assert isinstance(value["w"], torch.nn.Parameter)
    assert value["w"].storage() == value["tied"].storage()


@pytest.mark.parametrize("depth", [150, 5000])
def test_a_structure_that_is_too_deep_is_refused(depth: int) -> None:
    with pytest.raises(UnreadableFileError):
        load(structured('{"list":[' * depth + "]}" * depth))


BOMBS = {
    "lists": b'{"a":[' + b"[]," * 4_000_000 + b"1]}",
    "objects": b'{"a":[' + b"{}," * 4_000_000 + b"1]}",
    "numbers": b'{"a":[' + b"999," * 3_000_000 + b"1]}",
    "strings": b'{"a":[' + b'"ab",' * 2_000_000 + b"1]}",
    "tensors": b"{"
    + b",".join(b'"%d":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}' % i for i in range(100_000))
    + b"}",
}


@pytest.mark.parametrize("case", BOMBS)
def test_little_bytes_do_not_become_much_memory(case: str) -> None:
    file = file_of(BOMBS[case], b"")
    size = len(file.getvalue())
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableFileError):
            load(file)
        assert tracemalloc.get_traced_memory()[1] < size + (64 << 20)
    finally:
        tracemalloc.stop()


def test_a_large_tensor_takes_its_own_memory_alone() -> None:
    file = io.BytesIO()
    torch.save(torch.zeros(40_000_000), file)
    file.seek(0)
    tracemalloc.start()
    try:
        load(file)
        assert tracemalloc.get_traced_memory()[1] < 160_000_000 + (8 << 20)
    finally:
        tracemalloc.stop()
