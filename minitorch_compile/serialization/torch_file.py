"""Reading what torch.save wrote: a zip file with one pickle, `data.pkl`, and the bytes of each storage beside it.

Files from before PyTorch 1.6 are pickles one after the other, followed by the storages. In both, the main pickle refers
to storages by key, which `persistent_load` looks up, and to functions by name, which `allowed_names` looks up.

Source: torch/serialization.py, for the layout.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from minitorch_compile.serialization.allowed_names import StoredDtype, find
from minitorch_compile.tensor.dtype import dtype, uint8
from minitorch_compile.tensor.storage import Storage

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C


class ReadStorage(Storage):
    """A storage from a file, whose dtype is known."""

    __slots__ = ("dtype",)

    def __init__(self, buffer: np.ndarray, element: dtype) -> None:
        super().__init__(buffer)
        self.dtype = element


class AllowListUnpickler(pickle.Unpickler):
    """Follows only the names of allowed_names.py. `storage(dtype, key, numel)` gives the storages."""

    def __init__(self, file: BinaryIO, storage: Callable[[dtype, str, int], ReadStorage]) -> None:
        super().__init__(file, encoding="utf-8")
        self.storage = storage

    def find_class(self, module: str, name: str) -> Any:
        return find(module, name)

    def persistent_load(self, reference: Any) -> ReadStorage:
        kind, stored, key, _location, numel, *rest = reference
        if kind != "storage" or not isinstance(stored, StoredDtype):
            raise pickle.UnpicklingError(f"load: the file refers to {reference!r}, which is no storage")
        if rest and rest[0] is not None:
            raise NotImplementedError(
                "load: the file is of a kind, before PyTorch 0.4, that is not read; save it anew with PyTorch"
            )
        return self.storage(stored.dtype or uint8, str(key), numel)


def read_zip(file: BinaryIO) -> Any:
    """What torch.save wrote, from PyTorch 1.6 on. RuntimeError for a TorchScript archive or a damaged file."""
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        pickles = [name for name in names if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise RuntimeError("load: this zip file was not written by torch.save: it has no data.pkl")
        folder = pickles[0].removesuffix("data.pkl")
        if f"{folder}constants.pkl" in names:
            raise RuntimeError("load: this is a TorchScript archive, which is a program; save a state_dict instead")
        big_endian = f"{folder}byteorder" in names and archive.read(f"{folder}byteorder") == b"big"
        storages: dict[str, ReadStorage] = {}

        def storage(element: dtype, key: str, numel: int) -> ReadStorage:
            if key not in storages:
                data = archive.read(f"{folder}data/{key}")
                storages[key] = ReadStorage(_elements(data, element, numel, big_endian), element)
            return storages[key]

        return AllowListUnpickler(io.BytesIO(archive.read(pickles[0])), storage).load()


def _elements(data: bytes, element: dtype, numel: int, big_endian: bool = False) -> np.ndarray:
    if len(data) < numel * element.itemsize:
        raise RuntimeError(f"load: a storage of {numel} x {element} has only {len(data)} bytes; the file is damaged")
    array = np.frombuffer(bytearray(data), element.numpy, numel)
    return array.byteswap() if big_endian else array


def read_legacy(file: BinaryIO) -> Any:
    """What torch.save wrote before PyTorch 1.6: magic number, version, system, the object, keys, storages."""

    def no_storage(element: dtype, key: str, numel: int) -> ReadStorage:
        raise pickle.UnpicklingError("load: a storage where none can be; the file is damaged")

    if AllowListUnpickler(file, no_storage).load() != LEGACY_MAGIC:
        raise RuntimeError("load: this file was not written by save() nor by torch.save")
    for _ in ("protocol version", "system"):
        AllowListUnpickler(file, no_storage).load()
    storages: dict[str, ReadStorage] = {}

    def storage(element: dtype, key: str, numel: int) -> ReadStorage:
        return storages.setdefault(key, ReadStorage(np.empty(numel, element.numpy), element))

    result = AllowListUnpickler(file, storage).load()
    for key in AllowListUnpickler(file, no_storage).load():
        content = storages[key].buffer
        assert content is not None
        count = int.from_bytes(file.read(8), "little")
        content[...] = _elements(file.read(count * content.itemsize), storages[key].dtype, count)[: content.size]
    return result
