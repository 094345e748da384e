"""torch.finfo and torch.iinfo: what the numbers of a dtype can be.

>>> from minitorch_compile.tensor.numerics.dtype import float32, int8
>>> finfo(float32).eps, iinfo(int8).max
(1.1920928955078125e-07, 127)
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from minitorch_compile.tensor.numerics.dtype import (
    FLOAT8,
    FLOATING,
    FROM_TYPE,
    INTEGER,
    dtype,
    float8_e5m2fnuz,
    get_default_dtype,
)


def _dtype_of(value: Any) -> Any:
    """The dtype that a Python type stands for; other values as they are."""
    return FROM_TYPE[value] if isinstance(value, type) and value in FROM_TYPE else value


class finfo:
    """Limits of a floating-point dtype, or of the parts of a complex one: `type`, the default dtype unless given.
    TypeError for others.

    Attributes: bits, eps (1 + eps is the next number after 1), max, min, tiny and smallest_normal (the smallest
    positive number of full precision), resolution (10 to the power of minus the reliable decimal digits), dtype (a
    name).

    >>> torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max
    (1.1920928955078125e-07, 65504.0)
    """

    __module__ = "minitorch_compile"  # as PyTorch shows it

    def __init__(self, type: dtype | None = None) -> None:
        element = get_default_dtype() if type is None else _dtype_of(type)
        if not isinstance(element, dtype):
            raise TypeError(f"finfo(): argument 'type' (position 1) must be torch.dtype, not {type!r}")
        if element.category < FLOATING:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle {element}")
        limits: Any = ml_dtypes.finfo(element.numpy)
        self.dtype = str(limits.dtype)
        self.bits = int(limits.bits)
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        if element is float8_e5m2fnuz:
            self.eps = 0.125  # what PyTorch says; the next number after 1 is 1.25
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = 1.0 if element in FLOAT8 else 10.0 ** -int(limits.precision)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name):g}" for name in ("resolution", "min", "max", "eps"))
        return f"finfo({values}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


class iinfo:
    """Limits of an integer dtype: bits, min, max and dtype (a name). TypeError for others."""

    __module__ = "minitorch_compile"  # as PyTorch shows it

    def __init__(self, type: dtype) -> None:
        type = _dtype_of(type)
        if not isinstance(type, dtype) or type.category != INTEGER:
            raise TypeError(f"torch.iinfo() requires an integer input type, got {type!r}. Use torch.finfo for floats")
        limits: Any = np.iinfo(type.numpy.type)
        self.dtype = type.name
        self.bits, self.min, self.max = int(limits.bits), int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)
