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
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from minitorch_compile.nn.module import Module
from minitorch_compile.pytree import tree_map
from minitorch_compile.serialization import config, safetensors_file, stored_zip, torch_file
from minitorch_compile.serialization.file_bytes import FileBytes
from minitorch_compile.serialization.memory_budget import MemoryBudget
from minitorch_compile.serialization.put_together import put_together
from minitorch_compile.serialization.skipped_data import skips_data
from minitorch_compile.serialization.take_apart import take_apart
from minitorch_compile.serialization.unreadable_file import refuse
from minitorch_compile.serialization.whole_file import written_whole
from minitorch_compile.tensor import Tensor, device
from minitorch_compile.tensor.dispatch.accelerators import accelerators
from minitorch_compile.tensor.tensor_base import wrap

STRUCTURE = "minitorch_compile.structure"  # the key in safetensors' metadata
FileLike = str | os.PathLike[str] | BinaryIO
MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None


def save(
    obj: Any,
    f: FileLike,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Writes an object, `obj`, of tensors, arrays, numbers, strings and containers of them as one safetensors file,
    `f`: a path, or a file that is open for writing bytes.

    Memory that tensors share is written once, and shared again when it is loaded; what none of them looks at is not
    written. The options (`pickle_module`, `pickle_protocol`, `_use_new_zipfile_serialization`,
    `_disable_byteorder_record`) are accepted as PyTorch's callers may give them: nothing is pickled.

    A module is written as the name of its class and its attributes; who loads it must allow the class
    (`whole_modules.py`). TypeError for a function or another object that isn't data, saying where in `obj` it is;
    nothing has been written then. A file appears under its name when it is whole, so that a save which fails leaves the
    older one.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2), "epoch": 3}, file)
    >>> torch.load(io.BytesIO(file.getvalue()))
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    structure, entries = take_apart(obj)
    if skips_data():
        entries = {name: np.zeros(array.shape, array.dtype) for name, array in entries.items()}
    if isinstance(f, (str, os.PathLike)):
        with written_whole(f) as file:
            safetensors_file.write(file, entries, {STRUCTURE: structure})
        return
    if not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    safetensors_file.write(f, entries, {STRUCTURE: structure})


def load(
    f: FileLike,
    map_location: MAP_LOCATION = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Reads what save() wrote, any safetensors file (as a dictionary), or what torch.save wrote; `f` is a path, or a
    file that is open for reading bytes.

    No code in a file is ever run, whatever `weights_only` says; False, "I trust this file", allows whole modules of
    classes that are imported, and lifts the bound on the memory that names, numbers and containers may take: 64 MB more
    than the file has bytes. `map_location` may say "cpu" in any of PyTorch's ways, or name a GPU, where the tensors are
    then. `mmap=True` maps the file into memory, to be read where it is looked at; what is written to such tensors stays
    out of the file unless `set_default_mmap_options` says otherwise. `pickle_module` and `pickle_load_args` are
    accepted as PyTorch's callers may give them.

    UnreadableFileError, which is an UnpicklingError, a RuntimeError and a ValueError at once, for a file that is
    damaged, of none of these kinds, or calls for other than tensors and containers.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save([torch.arange(3)], file)
    >>> torch.load(io.BytesIO(file.getvalue()))
    [tensor([0, 1, 2])]
    """
    mmap = config.load.mmap if mmap is None else mmap
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if pickle_module is not None or pickle_load_args:
        raise RuntimeError("load: pickle_module and its options can't be chosen: files are never unpickled freely")
    _check_location(map_location)
    shared = bool(mmap) and config.maps_shared()
    with _opened(f, "r+b" if shared else "rb") as file:
        content = FileBytes(file, bool(mmap), shared)
        trusted = weights_only is False
        found = _read(content, MemoryBudget(None if trusted else content.size), trusted)
    return _moved(found, map_location)


def _read(content: FileBytes, budget: MemoryBudget, trusted: bool) -> Any:
    """What the file holds, by the format that it begins with."""
    start = content.read(0, min(content.size, 32))
    if safetensors_file.is_safetensors(start):
        return _from_safetensors(content, budget, trusted)
    if start[:4] == stored_zip.LOCAL:
        return torch_file.read_zip(content, budget)
    if torch_file.is_legacy(start):
        return torch_file.read_legacy(content, budget)
    kind = next((kind for mark, kind in OTHER_KINDS.items() if start.startswith(mark)), "none that load() knows")
    raise refuse(f"not a safetensors file, nor one of torch.save: it is {kind if start else 'empty'}")


# What else people have, by how it begins.
OTHER_KINDS = {
    b"\x80": "a pickle, or part of one, which torch.save did not write",
    b"\x93NUMPY": "a NumPy array; read it with numpy.load",
    b"PK": "a zip file without members, or part of one",
    b"\x1f\x8b": "compressed with gzip; unpack it",
    b"GGUF": "a GGUF file",
    b"version https://git-lfs": "a pointer to a file that git-lfs did not fetch",
    b"\x89HDF": "an HDF5 file",
    b"<": "a text such as a web page",
    b"protocol": "a tar file of PyTorch's before 0.1.10; save it anew with PyTorch",
}


def _from_safetensors(content: FileBytes, budget: MemoryBudget, trusted: bool) -> Any:
    arrays, metadata = safetensors_file.read(content, budget)
    if STRUCTURE in metadata:
        return put_together(metadata[STRUCTURE], arrays, budget, trusted)
    return {name: wrap(array) for name, array in arrays.items()}


def _check_location(map_location: Any) -> None:
    """RuntimeError if the tensors are wanted on a device that isn't there."""
    wanted = [] if callable(map_location) or map_location is None else [map_location]
    if isinstance(map_location, dict):
        wanted = list(map_location.values())
    for where in wanted:
        kind = device(where).type
        if kind != "cpu" and not (kind in accelerators and accelerators[kind].is_available()):
            raise RuntimeError(f"load: there are no tensors on {where} here; use map_location='cpu'")


def _moved(found: Any, map_location: Any) -> Any:
    """What was read, with its tensors on the one device that they are wanted on. Files say nothing of devices."""
    if not isinstance(map_location, (str, device)) or device(map_location).type == "cpu":
        return found
    return tree_map(lambda x: x.to(map_location) if isinstance(x, (Tensor, Module)) else x, found)


@contextmanager
def _opened(f: FileLike, mode: str = "rb") -> Iterator[Any]:
    """The file of that name, or the file itself, if one can go about in it and read bytes."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as file:
            yield file
        return
    for needed in ("read", "seek", "tell"):
        if not hasattr(f, needed):
            raise AttributeError(
                f"expected 'f' to be string, path, or a file-like object with a '{needed}' attribute. You can only load"
                " from a file that is seekable: read its bytes into an io.BytesIO, and load that"
            )
    if not isinstance(f.read(0), bytes):
        raise TypeError("load: f gives text, and bytes are needed; open the file in the mode 'rb'")
    yield f
