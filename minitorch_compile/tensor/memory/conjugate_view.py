"""Conjugates and negatives that are computed when they are read: the same memory, seen with other signs.

`z.conj()` moves no data. It is a view, whose storage says that the imaginary parts are read and written with the other
sign. Its own imaginary parts are real numbers of which all signs are the other ones.

>>> from minitorch_compile.tensor import tensor
>>> z = tensor([1 + 2j, 3 - 4j])
>>> z.conj(), z.conj().is_conj(), z.conj().imag, z.conj().imag.is_neg()
(tensor([1.-2.j, 3.+4.j]), True, tensor([-2.,  4.]), True)
>>> _ = z.conj().add_(1j)
>>> z, z.conj().conj().is_conj(), z.conj().resolve_conj().is_conj()
(tensor([1.+1.j, 3.-5.j]), False, False)

So every view of such a view is one, too, and no operation need know of it: what reads a tensor's `array` gets the
flipped numbers, and `TensorBase.store` writes them.

Source: the conjugate and negative bits of PyTorch's dispatcher.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.memory.storage import BorrowedStorage, Storage


class FlippedStorage(BorrowedStorage):
    """The memory and the version of another storage; `conj`: of its conjugates, `neg`: of its negatives."""

    __slots__ = ("conj", "neg")
    conj: bool
    neg: bool
    flips = True

    def __init__(self, of: Storage, conj: bool, neg: bool) -> None:
        self.of = of
        self.conj = conj
        self.neg = neg

    def __reduce__(self) -> tuple[Any, ...]:
        return FlippedStorage, (self.of, self.conj, self.neg)

    @property
    def buffer(self) -> np.ndarray | None:  # type: ignore[override]
        """A copy of the memory with its signs flipped, which can't be written to: that would be lost."""
        if self.of.buffer is None:
            return None
        copy = self.flipped(self.of.buffer)
        copy.flags.writeable = False
        return copy

    @property
    def version(self) -> int:
        return self.of.version

    @version.setter
    def version(self, value: int) -> None:
        self.of.version = value

    def flipped(self, array: np.ndarray) -> np.ndarray:
        """What is read for these numbers in memory, and what is written there to read them."""
        array = np.conjugate(array) if self.conj else array
        return np.negative(array) if self.neg else array


def with_signs(storage: Storage, conj: bool, neg: bool) -> Storage:
    """A storage as it is, or the same memory seen with flipped signs."""
    return FlippedStorage(storage, conj, neg) if conj or neg else storage


def without_signs(storage: Storage) -> Storage:
    """The storage below the flipped signs; itself if there are none."""
    return storage.of if isinstance(storage, FlippedStorage) else storage
