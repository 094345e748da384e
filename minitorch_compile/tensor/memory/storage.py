"""The memory that tensors look at: a flat run of elements, shared by every view of it.

>>> import numpy as np
>>> s = Storage(np.arange(4.0))
>>> len(s), s.version
(4, 0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

INFERENCE = -(1 << 62)  # the version of an inference tensor: any number of in-place writes leaves it negative


class Storage:
    """A one-dimensional typed NumPy buffer and a version that counts in-place writes.

    `buffer` is None for fake tensors, which have sizes and strides but no data, and for memory of a device, which is a
    `block` (`device_storage.py`). The version lets autograd notice that a value it saved was overwritten (PyTorch's
    VariableVersion). It is negative in tensors made in inference mode, which have no version.
    """

    __slots__ = ("__weakref__", "buffer", "made_in", "version")
    flips = conj = neg = False  # whether its numbers are read with other signs than they have in memory
    block: Any = None

    def __init__(self, buffer: np.ndarray | None) -> None:
        self.buffer = buffer
        self.version = 0

    def __len__(self) -> int:
        return 0 if self.buffer is None else self.buffer.size

    def __call__(self) -> Any:
        """PyTorch's spelling: `x.storage()` looks at the elements."""
        from minitorch_compile.tensor.memory.typed_storage import TypedStorage

        return TypedStorage(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Storage:
        copy = memo[id(self)] = Storage(None if self.buffer is None else np.array(self.buffer))
        return copy

    def __repr__(self) -> str:
        content = "no data" if self.buffer is None else f"{self.buffer.size} x {self.buffer.dtype}"
        return f"Storage({content}, version={self.version})"

    @property
    def is_inference(self) -> bool:
        """Whether it was made in inference mode, which keeps it out of differentiation."""
        return self.version < 0

    @property
    def nbytes(self) -> int:
        return 0 if self.buffer is None else self.buffer.nbytes

    @property
    def memory(self) -> Storage:
        """The storage that owns the memory: this one."""
        return self


class BorrowedStorage(Storage):
    """The memory of another storage, seen in another way. It is equal to every storage with the same memory.

    >>> s = Storage(np.arange(4.0))
    >>> DataStorage(s) == s, DataStorage(s) in {s}
    (True, True)
    """

    __slots__ = ("of",)
    of: Storage
    block = property(lambda self: self.of.block)
    __deepcopy__ = None  # type: ignore[assignment]  # it is copied as it is pickled: as borrowed from a copy

    @property
    def memory(self) -> Storage:
        return self.of.memory

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Storage) and other.memory is self.memory

    def __hash__(self) -> int:
        return hash(self.memory)


class DataStorage(BorrowedStorage):
    """The storage of `x.data`: writes to it are seen by x, but not by the version of x, so autograd does not complain.

    >>> s = Storage(np.arange(4.0))
    >>> data = DataStorage(s)
    >>> data.version += 1
    >>> data.buffer is s.buffer, data.version, s.version
    (True, 1, 0)
    """

    __slots__ = ("version",)

    def __init__(self, of: Storage, version: int = 0) -> None:
        self.of = of.of if isinstance(of, DataStorage) else of
        self.version = version

    def __reduce__(self) -> tuple[Any, ...]:
        return DataStorage, (self.of, self.version)

    @property
    def buffer(self) -> np.ndarray | None:
        return self.of.buffer

    @buffer.setter
    def buffer(self, value: np.ndarray | None) -> None:
        self.of.buffer = value
