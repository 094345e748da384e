"""The safetensors format: eight bytes with the length of the header, the header in JSON, the bytes of the tensors.

The header tells each tensor's dtype, sizes and place; `__metadata__` maps strings to strings. Nothing in it can be
executed, and a tensor is found without reading the others.

>>> import io
>>> file = io.BytesIO()
>>> write(file, {"a": np.arange(3.0)}, {"made": "by hand"})
>>> _ = file.seek(0)
>>> read(file)
({'a': array([0., 1., 2.])}, {'made': 'by hand'})

Source: the format's description at its home, the safetensors project.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, BinaryIO

import numpy as np

from minitorch_compile.tensor.dtype import FROM_NUMPY

# safetensors' names for the dtypes, in the order in which their tensors are written: wide ones first keeps all aligned.
_CODES = {
    "complex128": "C128",
    "complex64": "C64",
    "float64": "F64",
    "int64": "I64",
    "float32": "F32",
    "int32": "I32",
    "bfloat16": "BF16",
    "float16": "F16",
    "int16": "I16",
    "uint8": "U8",
    "int8": "I8",
    "bool": "BOOL",
}
_CODE_OF = {d.numpy: _CODES[d.name] for d in FROM_NUMPY.values() if d.name in _CODES}
_DTYPE_OF = {code: element for element, code in _CODE_OF.items()}
_ORDER = list(_CODES.values())
HEADER_LIMIT = 100_000_000  # bytes; the reference implementation refuses longer ones, too


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
    file.write(len(text).to_bytes(8, "little") + text)
    for name in names:
        array = np.ascontiguousarray(arrays[name])
        file.write(array.reshape(-1).view(np.uint8).data)


def _code(name: str, array: np.ndarray) -> str:
    if array.dtype not in _CODE_OF:
        raise TypeError(f"save: {name!r} has dtype {array.dtype}, which safetensors has no name for")
    return _CODE_OF[array.dtype]


def read(file: BinaryIO, mapped: bool = False) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays by name, and the metadata. ValueError for a file that is damaged or not in this format.

    `mapped`: the bytes are read from the disk when an array is first looked at; writing doesn't reach the file.
    """
    header = _read_header(file)
    metadata = header.pop("__metadata__", {})
    data = _mapped(file) if mapped else np.frombuffer(bytearray(file.read()), np.uint8)  # writable, as tensors are
    return {name: _array(name, row, data) for name, row in header.items()}, metadata


def _mapped(file: BinaryIO) -> np.ndarray:
    """The rest of the file, as memory that the operating system fills when it is read."""
    start = file.tell()
    file.seek(0, os.SEEK_END)
    size = file.tell() - start
    return np.memmap(file, np.uint8, "c", start, (size,)) if size else np.empty(0, np.uint8)


def _read_header(file: BinaryIO) -> dict[str, Any]:
    length = int.from_bytes(file.read(8), "little")
    if not 2 <= length <= HEADER_LIMIT:
        raise ValueError(f"load: not a safetensors file: it gives {length} bytes as the length of its header")
    try:
        header = json.loads(file.read(length))
    except ValueError as error:
        raise ValueError(f"load: not a safetensors file: its header is not JSON ({error})") from None
    if not isinstance(header, dict):
        raise ValueError("load: not a safetensors file: its header is not an object")
    return header


def _array(name: str, row: dict[str, Any], data: np.ndarray) -> np.ndarray:
    """One tensor, after everything that the header says about it was checked against the file."""
    start, end = row["data_offsets"]
    if row["dtype"] not in _DTYPE_OF:
        raise ValueError(f"load: tensor {name!r} has dtype {row['dtype']}; known are {', '.join(_DTYPE_OF)}")
    element = _DTYPE_OF[row["dtype"]]
    wanted = math.prod(row["shape"]) * element.itemsize
    if not 0 <= start <= end <= data.size or end - start != wanted:
        raise ValueError(
            f"load: tensor {name!r} of sizes {row['shape']} takes {wanted} bytes, but lies at bytes {start} to {end} of"
            f" {data.size}; the file is damaged"
        )
    piece = data[start:end]
    aligned = piece if piece.ctypes.data % element.itemsize == 0 else piece.copy()
    return aligned.view(element).reshape(row["shape"])
