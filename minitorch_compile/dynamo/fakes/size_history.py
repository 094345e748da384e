"""Automatic dynamic shapes: what was different when a function was compiled again is unknown from then on.

A `SizeHistory` belongs to a code object. It keeps the sizes of each input as they were at the last compilation; a
dimension that has another size at the next one is remembered as changing.

>>> from minitorch_compile.tensor import ones
>>> history = SizeHistory()
>>> history.changing("x", ones(4, 3)), history.changing("x", ones(6, 3)), history.changing("x", ones(8, 3))
((False, False), (True, False), (True, False))
>>> history.number_changed("n", 5), history.number_changed("n", 5), history.number_changed("n", 7)
(False, False, True)
>>> history.changing("x", ones(3)), history.changing("x", ones(3, 2, 1))      # another number of dimensions: all change
((True,), (True, True, True))

Source: torch/_dynamo/pgo.py, `FrameStateSizeEntry`.
"""

from __future__ import annotations

from minitorch_compile.tensor.tensor_base import TensorBase

CHANGING = None
Seen = tuple[float | None, ...]
ALL: Seen = (CHANGING,) * 64  # more dimensions than a tensor has


class SizeHistory:
    """By the path on which a value is read, the numbers seen, or `CHANGING`."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}

    def changing(self, path: str, tensor: TensorBase) -> tuple[bool, ...]:
        """For each dimension, whether its size has changed between compilations; the sizes are noted."""
        return self._noted(path, tuple(tensor.sizes))

    def changing_strides(self, path: str, tensor: TensorBase) -> tuple[bool, ...]:
        """The same for strides."""
        return self._noted(f"{path}.strides", tuple(tensor.strides))

    def number_changed(self, path: str, value: float) -> bool:
        """The same for a number; it is noted when a program is compiled for this number only."""
        return self._noted(path, (value,))[0]

    def is_changing_number(self, path: str, value: float) -> bool:
        """Whether the number is not what it was; nothing is noted."""
        return self._merged(path, (value,))[0] is CHANGING

    def _noted(self, path: str, now: Seen) -> tuple[bool, ...]:
        merged = self._seen[path] = self._merged(path, now)
        return tuple(size is CHANGING for size, _ in zip(merged, now))

    def _merged(self, path: str, now: Seen) -> Seen:
        before = self._seen.get(path, now)
        if before is not ALL and len(before) != len(now):
            return ALL  # another number of dimensions
        return ALL if before is ALL else tuple(a if a == b else CHANGING for a, b in zip(before, now))
