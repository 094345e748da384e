"""Memory for a result, used again when nobody holds what was in it: `mode="reduce-overhead"`.

PyTorch's mode of this name writes the results of each call over those of the call before, and a program that still
needs them must copy them in time. Here nothing is ever overwritten that can still be reached: before memory is used
again, its references are counted. A result that is alive, itself, as a view, as an array or saved for a backward pass,
keeps its memory, and the next call gets new one.

>>> memory = ResultMemory(3, np.float32)
>>> def call():
...     array = memory.take()
...     memory.keep(array)
...     return array
>>> place = lambda array: array.ctypes.data
>>> place(call()) == place(call())
True
>>> first = call()
>>> place(call()) == place(first)
False
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def _pop_counted(kept: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """The last array of a list, taken out, and how many references there are to it now."""
    array = kept.pop()
    return array, sys.getrefcount(array)


_, ALONE = _pop_counted([np.empty(1)])  # what is counted if nobody else has the array; versions of CPython differ


class ResultMemory:
    """An array of so many elements. Calls that run at the same time never get the same one."""

    def __init__(self, length: int, element: Any) -> None:
        self.length, self.element = length, element
        self.kept: list[np.ndarray] = []

    def take(self) -> np.ndarray:
        """An array that nobody else can reach; its elements are whatever was there."""
        try:
            array, count = _pop_counted(self.kept)
        except IndexError:  # the first call, or another thread is between take() and keep()
            return np.empty(self.length, self.element)
        return array if count == ALONE else np.empty(self.length, self.element)

    def keep(self, array: np.ndarray) -> None:
        """Remembers an array for later calls, whoever holds it now."""
        self.kept[:] = [array]
