"""save() and load() with PyTorch's signatures, over files or what behaves like one.

>>> import io
>>> from minitorch_compile import tensor
>>> file = io.BytesIO()
>>> save([tensor([1, 2]), "two"], file)
>>> _ = file.seek(0)
>>> load(file)
[tensor([1, 2]), 'two']
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from minitorch_compile.serialization import safetensors_file, torch_file
from minitorch_compile.serialization.structure import put_together, take_apart
from minitorch_compile.tensor import device
from minitorch_compile.tensor.tensor_base import wrap

STRUCTURE = "minitorch_compile.structure"  # the key in safetensors' metadata
FileLike = str | os.PathLike[str] | BinaryIO


def save(obj: Any, f: FileLike, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Writes tensors, numbers, strings and containers of them as one safetensors file.

    `pickle_module` and `pickle_protocol` are accepted as PyTorch's callers may give them: nothing is pickled. TypeError
    for a module or any other object: save its state_dict().
    """
    structure, tensors = take_apart(obj)
    with _opened(f, "wb") as file:
        arrays = {name: value.detach().array for name, value in tensors.items()}
        safetensors_file.write(file, arrays, {STRUCTURE: structure})


def load(
    f: FileLike,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
) -> Any:
    """Reads what save() wrote, any safetensors file (as a dictionary), or what torch.save wrote.

    No code in a file is ever run, so `weights_only=False` reads no more than True does. `map_location` may say "cpu" in
    any of PyTorch's ways. `mmap=True` maps a safetensors file into memory, to be read where it is looked at; what is
    written to such tensors stays out of the file.

    pickle.UnpicklingError for a pickle that calls for other than tensors and containers, ValueError or RuntimeError for
    a file that is none of these.
    """
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if pickle_module is not None:
        raise RuntimeError("load: pickle_module can't be chosen: files are never unpickled freely")
    result: Any
    with _opened(f, "rb") as file:
        start = file.read(4)
        file.seek(-len(start), os.SEEK_CUR)
        if start == b"PK\x03\x04":
            result = torch_file.read_zip(file)
        elif start[:1] == b"\x80":  # the first byte of every pickle
            result = torch_file.read_legacy(file)
        else:
            result = _from_safetensors(file, bool(mmap))
    return _moved(result, map_location)


def _from_safetensors(file: BinaryIO, mapped: bool) -> Any:
    arrays, metadata = safetensors_file.read(file, mapped)
    tensors = {name: wrap(array) for name, array in arrays.items()}
    return put_together(metadata[STRUCTURE], tensors) if STRUCTURE in metadata else tensors


def _moved(result: Any, map_location: Any) -> Any:
    """Where `map_location` wants the tensors. They are in main memory; RuntimeError if it names a GPU."""
    wanted = [] if callable(map_location) or map_location is None else [map_location]
    if isinstance(map_location, dict):
        wanted = list(map_location.values())
    for where in wanted:
        if device(where).type != "cpu":
            raise RuntimeError(f"load: there are no tensors on {where} here; use map_location='cpu'")
    return result


@contextmanager
def _opened(f: FileLike, mode: str) -> Iterator[Any]:
    """The file of that name, or the file itself."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as file:
            yield file
    else:
        needed = "write" if mode == "wb" else "read"
        if not hasattr(f, needed):
            raise AttributeError(f"expected 'f' to be string, path, or a file-like object with a '{needed}' attribute")
        yield f
