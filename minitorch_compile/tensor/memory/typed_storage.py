"""PyTorch's two ways to look at a storage: as elements (TypedStorage) and as bytes (UntypedStorage).

>>> from minitorch_compile.tensor import arange
>>> x = arange(6).view(2, 3)[1]
>>> elements = TypedStorage(x.storage)
>>> len(elements), elements[4], UntypedStorage(x.storage).nbytes()
(6, 4, 48)
"""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from minitorch_compile.tensor.memory.conjugate_view import without_signs
from minitorch_compile.tensor.memory.device import CPU, META
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY, dtype


class UntypedStorage:
    """The bytes of a storage. Two of them are equal if they are of the same memory."""

    def __init__(self, storage: Storage) -> None:
        self._storage = without_signs(storage)

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, read when they are looked at. What is written goes to the file if it is `shared`,
        which is then made if it isn't there."""
        if nbytes == 0:
            return cls(Storage(np.empty(0, np.uint8)))
        if not shared:
            return cls(Storage(np.asarray(np.memmap(filename, np.uint8, "c", shape=nbytes))))
        mode: Literal["r+", "w+"] = "r+" if os.path.exists(filename) else "w+"
        return cls(Storage(np.asarray(np.memmap(filename, np.uint8, mode, shape=nbytes))))

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The bytes, for torch.asarray and NumPy."""
        return self._buffer().view(np.uint8).__array_interface__

    def __getitem__(self, index: int | slice) -> Any:
        """A byte, or a storage of some of the bytes in the same memory."""
        found = self._buffer().view(np.uint8)[index]
        return UntypedStorage(Storage(found)) if isinstance(index, slice) else int(found)

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return UntypedStorage(self._storage)

    def _buffer(self) -> np.ndarray:
        if self._storage.buffer is None:
            raise RuntimeError("storage: a tensor without data (on meta, or fake) has no memory to look at")
        return self._storage.buffer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._storage == self._storage

    def __hash__(self) -> int:
        return hash(self._storage)

    def __len__(self) -> int:
        return self.nbytes()

    @property
    def device(self) -> Device:
        block = self._storage.block
        return block.device if block is not None else META if self._storage.buffer is None else CPU

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return int(self._buffer().__array_interface__["data"][0])

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._storage.nbytes

    size = nbytes

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return self._buffer().view(np.uint8).tolist()


class TypedStorage(UntypedStorage):
    """The elements of a storage."""

    @property
    def dtype(self) -> dtype:
        return FROM_NUMPY[self._buffer().dtype]

    def __len__(self) -> int:
        return self._buffer().size

    size = __len__

    def __getitem__(self, index: Any) -> Any:
        return self._buffer()[index].tolist()

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._buffer().tolist()
