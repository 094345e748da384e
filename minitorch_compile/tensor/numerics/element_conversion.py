"""Numbers and arrays as elements of another dtype: what may be lost on the way, and what is refused.

>>> from minitorch_compile.tensor import float32, uint8
>>> element_of(1, uint8), element_of(-1, uint8), element_of(3 + 0j, float32)
(1, 255, 3.0)
>>> element_of(3 + 1j, float32)
Traceback (most recent call last):
RuntimeError: value cannot be converted to type float32 without overflow: (3+1j)
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor.numerics.dtype import BOOL, COMPLEX, FLOATING, INTEGER, dtype, float8_e4m3fn
from minitorch_compile.tensor.numerics.numeric_limits import finfo, iinfo
from minitorch_compile.user_warnings import warn_user

CATEGORY = {int: INTEGER, float: FLOATING}
_FLOAT32 = np.dtype(np.float32)
FLOAT8_MAX = finfo(float8_e4m3fn).max


def element_of(value: Any, element: dtype) -> Any:
    """A number as one of that dtype: a fraction is dropped, and a negative number goes round an unsigned dtype.

    RuntimeError for one beyond its largest, for infinity or NaN in integers, and for an imaginary part in reals.
    """
    if (
        CATEGORY.get(type(value), COMPLEX + 1) <= element.category and 0 <= value <= 127
    ):  # in every dtype of the category
        return value
    if isinstance(value, SymInt) or element.is_complex:
        return value
    if element.category == BOOL:
        return bool(value)
    real = value
    if isinstance(value, (complex, np.complexfloating)):
        if value.imag != 0:
            raise _too_large(value, element)
        real = value.real
    if element.category != INTEGER:
        if math.isfinite(real) and abs(real) > finfo(element).max:
            raise _too_large(value, element)
        return real
    if not math.isfinite(real):
        raise _too_large(value, element)
    limits, whole = iinfo(element), int(real)
    least = limits.min if element.is_signed else -limits.max
    if not least <= whole <= limits.max:
        raise _too_large(value, element)
    return whole if whole >= limits.min else whole + limits.max + 1


def _too_large(value: Any, element: dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {element.name} without overflow: {value}")


def castable(array: np.ndarray, element: np.dtype) -> np.ndarray:
    """The array, without its imaginary part if the elements are to be real, of which a warning is given once; what is
    too large for float8_e4m3fn, which has no infinity, is its largest number."""
    if element == float8_e4m3fn.numpy:
        array = np.clip(castable(array, _FLOAT32).astype(_FLOAT32), -FLOAT8_MAX, FLOAT8_MAX)
    if array.dtype.kind != "c" or element.kind in "cb":
        return array
    _warn_of_discarding()
    return array.real


@cache
def _warn_of_discarding() -> None:
    warn_user("Casting complex values to real discards the imaginary part", UserWarning)
