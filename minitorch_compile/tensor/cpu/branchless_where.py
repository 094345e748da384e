"""np.where without a branch for each element: several times as fast on large arrays, whose conditions no processor can
guess.

The choice is made on bits: (a ^ b) & mask ^ b is a where the mask is all ones, and b where it is all zeros. So it is
exact, also for NaN, infinities and the sign of 0.

>>> import numpy as np
>>> select(np.array([True, False]), np.array([1.0, 2.0]), np.float64(7.0))
array([1., 7.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray

WORTH_IT = 16384  # below so many elements np.where is as fast, for the processor learns the conditions
BITS: dict[int, np.dtype[Any]] = {2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def select(condition: Array, a: Any, b: Any) -> Array:
    """`a` where the bool `condition` holds, else `b`: arrays or NumPy scalars, which broadcast."""
    element = getattr(b, "dtype", None)
    large = condition.size >= WORTH_IT and condition.dtype == np.bool_
    if not large or element is None or element != getattr(a, "dtype", None) or element.itemsize not in BITS:
        return np.where(condition, a, b)
    bits = BITS[element.itemsize]
    mask = condition.astype(bits)
    if np.ndim(a) == 0 and not np.asarray(a).view(bits):  # zeros where it holds
        mask -= 1
        return (mask & _bits_of(b, bits)).view(element)
    np.negative(mask, out=mask)
    if np.ndim(b) == 0 and not np.asarray(b).view(bits):
        return (mask & _bits_of(a, bits)).view(element)
    other = _bits_of(b, bits)
    return (((_bits_of(a, bits) ^ other) & mask) ^ other).view(element)


def _bits_of(x: Any, bits: np.dtype[Any]) -> Array:
    return np.asarray(x).view(bits)
