"""The safetensors format: eight bytes with the length of the header, the header in JSON, the bytes of the tensors.

The header tells each tensor's dtype, sizes and place; `__metadata__` maps strings to strings. Nothing in it can be
executed, and a tensor is found without reading the others. Its tensors lie side by side: they neither overlap nor
leave bytes that are nobody's.

>>> import io
>>> file = io.BytesIO()
>>> write(file, {"a": np.arange(3.0)}, {"made": "by hand"})
>>> _ = file.seek(0)
>>> read(FileBytes(file), MemoryBudget(100))
({'a': array([0., 1., 2.])}, {'made': 'by hand'})

Source: the format's description at its home, the safetensors project.
"""

from __future__ import annotations

import json
import math
from typing import Any, BinaryIO

import numpy as np

from minitorch_compile.serialization.checked_tensor import check_layout, counts, shortened
from minitorch_compile.serialization.file_bytes import FileBytes
from minitorch_compile.serialization.json_text import estimated_memory, parse
from minitorch_compile.serialization.memory_budget import TENSOR, MemoryBudget
from minitorch_compile.serialization.unreadable_file import refuse
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY

# safetensors' names for the dtypes, in the order in which their tensors are written: wide ones first keeps all aligned.
_CODES = {
    "complex128": "C128",
    "complex64": "C64",
    "float64": "F64",
    "int64": "I64",
    "uint64": "U64",
    "float32": "F32",
    "complex32": "C32",
    "int32": "I32",
    "uint32": "U32",
    "bfloat16": "BF16",
    "float16": "F16",
    "int16": "I16",
    "uint16": "U16",
    "float8_e8m0fnu": "F8_E8M0",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2": "F8_E5M2",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "uint8": "U8",
    "int8": "I8",
    "bool": "BOOL",
}
CODE_OF = {d.numpy: _CODES[d.name] for d in FROM_NUMPY.values() if d.name in _CODES}
_DTYPE_OF = {code: element for element, code in CODE_OF.items()}
_ORDER = list(_CODES.values())
HEADER_LIMIT = 100_000_000  # bytes; the reference implementation refuses longer ones, too
ROW = {"dtype", "shape", "data_offsets"}


def write(file: BinaryIO, arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    """Writes the arrays by name. TypeError for a dtype that the format has no name for."""
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    names = sorted(arrays, key=lambda name: (_ORDER.index(_code(name, arrays[name])), name))
    end = 0
    for name in names:
        array = arrays[name]
        start, end = end, end + array.nbytes
        header[name] = {"dtype": _code(name, array), "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > HEADER_LIMIT:
        raise ValueError(
            f"save: what is saved besides tensors takes {len(text):,} bytes, more than the {HEADER_LIMIT:,} that the"
            " format allows; make arrays or tensors of long lists"
        )
    file.write(len(text).to_bytes(8, "little") + text)
    for name in names:
        array = np.ascontiguousarray(arrays[name])
        file.write(array.reshape(-1).view(np.uint8).data)


def _code(name: str, array: np.ndarray) -> str:
    if array.dtype not in CODE_OF:
        raise TypeError(f"save: {name!r} has dtype {array.dtype}, which safetensors has no name for")
    return CODE_OF[array.dtype]


def is_safetensors(start: bytes) -> bool:
    """Whether a file that starts so may be in this format: a length that headers have, and the header's brace."""
    return start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= HEADER_LIMIT


def read(content: FileBytes, budget: MemoryBudget) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays by name, and the metadata. UnreadableFileError for a file that is damaged or not in this format."""
    header, data_start = _read_header(content, budget)
    metadata = header.pop("__metadata__", {})
    if type(metadata) is not dict or not all(type(text) is str for text in metadata.values()):
        raise refuse("the header's __metadata__ does not map strings to strings")
    budget.spend(
        -sum(map(estimated_memory, metadata.values()))
    )  # brackets within them were counted as if they were outside
    rows = {name: _checked_row(name, row) for name, row in header.items()}
    end = 0
    for name, (start, stop, _, _) in sorted(rows.items(), key=lambda item: item[1][:2]):
        if start != end:
            raise refuse(f"the bytes of tensor {name[:100]!r} start at {start}, those before end at {end}: damaged")
        end = stop
    if data_start + end != content.size:
        raise refuse(f"the tensors take {end} bytes, but {content.size - data_start} are there; the file is damaged")
    budget.spend(TENSOR * len(rows))
    return {name: _array(content, data_start, *row) for name, row in rows.items()}, metadata


def _array(content: FileBytes, data_start: int, start: int, stop: int, element: np.dtype, shape: Any) -> np.ndarray:
    return content.array(data_start + start, stop - start, element).reshape(shape)


def _read_header(content: FileBytes, budget: MemoryBudget) -> tuple[dict[str, Any], int]:
    """The header, and where the data start."""
    length = int.from_bytes(content.read(0, min(8, content.size)), "little")
    if not 2 <= length <= min(HEADER_LIMIT, content.size - 8):
        raise refuse(f"not a safetensors file: it gives {length} bytes as the length of its header")
    raw = content.read(8, length)
    budget.spend(length)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise refuse(f"not a safetensors file: its header is not JSON (no UTF-8: {error.reason})") from None
    header = parse(text, budget, "header")
    if type(header) is not dict:
        raise refuse("not a safetensors file: its header is not an object")
    return header, 8 + length


def _checked_row(name: str, row: Any) -> tuple[int, int, np.dtype, tuple[int, ...]]:
    """Where a tensor's bytes are, its dtype and sizes, after everything that the header says about it was checked."""
    if type(row) is not dict or row.keys() != ROW:
        raise refuse(f"tensor {name[:100]!r} must have dtype, shape and data_offsets, and nothing else")
    if type(row["dtype"]) is not str or row["dtype"] not in _DTYPE_OF:
        raise refuse(f"tensor {name[:100]!r} has dtype {shortened([row['dtype']])}; known are {', '.join(_DTYPE_OF)}")
    element = _DTYPE_OF[row["dtype"]]
    shape, offsets = counts("sizes", row["shape"]), counts("data_offsets", row["data_offsets"])
    check_layout(shape, (0,) * len(shape), element.itemsize)
    wanted = math.prod(shape) * element.itemsize
    if len(offsets) != 2 or offsets[1] - offsets[0] != wanted:
        raise refuse(
            f"tensor {name[:100]!r} of sizes {shortened(shape)} takes {wanted} bytes, but lies at bytes"
            f" {shortened(offsets)}; the file is damaged"
        )
    return offsets[0], offsets[1], element, shape
