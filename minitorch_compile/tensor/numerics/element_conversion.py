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

from minitorch_compile.symbolic import SymFloat, SymInt
from minitorch_compile.tensor.numerics.dtype import (
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGER,
    complex32,
    dtype,
    float8_e4m3fn,
    float8_e8m0fnu,
)
from minitorch_compile.tensor.numerics.numeric_limits import finfo, iinfo
from minitorch_compile.user_warnings import warn_user

CATEGORY = {int: INTEGER, float: FLOATING}
_FLOAT32 = np.dtype(np.float32)
FLOAT8_MAX = finfo(float8_e4m3fn).max
LEAST = {float8_e8m0fnu: 2.0**-127}  # what becomes of zero in a dtype that has none


def zero_of(element: dtype, zero: Any = 0) -> Any:
    """What zero is in a dtype."""
    return LEAST.get(element, zero)


def element_of(value: Any, element: dtype) -> Any:
    """A number as one of that dtype: a fraction is dropped, and a negative number goes round an unsigned dtype.

    RuntimeError for one beyond its largest, for infinity or NaN in integers, and for an imaginary part in reals.
    """
    if (
        CATEGORY.get(type(value), COMPLEX + 1) <= element.category and 0 <= value <= 127
    ):  # in every dtype of the category
        return value or zero_of(element, value)
    if isinstance(value, SymInt) or element.is_complex:
        return value
    if isinstance(value, SymFloat):
        if element.category == FLOATING and element not in LEAST and abs(value) <= finfo(element).max:
            return value
        value = float(value)
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
        return max(abs(real), LEAST[element]) if element in LEAST else real
    if not math.isfinite(real):
        raise _too_large(value, element)
    limits, whole = iinfo(element), int(real)
    least = limits.min if element.is_signed else -limits.max
    if not least <= whole <= limits.max:
        raise _too_large(value, element)
    return whole if whole >= limits.min else whole + limits.max + 1


def _too_large(value: Any, element: dtype) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {element.name} without overflow: {value}")


def in_range(array: np.ndarray, element: np.dtype) -> np.ndarray:
    """Real numbers as a dtype of one byte can hold them: what is too large for float8_e4m3fn, which has no infinity, is
    its largest number; float8_e8m0fnu has neither zero nor sign. For other dtypes the array itself."""
    if element == float8_e4m3fn.numpy:
        return np.clip(array.astype(_FLOAT32), -FLOAT8_MAX, FLOAT8_MAX)
    if element == float8_e8m0fnu.numpy:
        return np.maximum(np.abs(array.astype(_FLOAT32)), _FLOAT32.type(zero_of(float8_e8m0fnu)))
    return array


def castable(array: np.ndarray, element: np.dtype) -> np.ndarray:
    """The array in the range of the elements, without its imaginary part if they are to be real, of which a warning is
    given once."""
    if array.dtype == complex32.numpy:
        array = array.astype(np.complex64)  # which NumPy knows to be complex
    if array.dtype.kind != "c" or element.kind in "cb" or element == complex32.numpy:
        return in_range(array, element)
    _warn_of_discarding()
    return in_range(array.real, element)


@cache
def _warn_of_discarding() -> None:
    warn_user("Casting complex values to real discards the imaginary part", UserWarning)
