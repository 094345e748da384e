"""Window functions: weights that fade a stretch of a signal in and out.

Periodic windows (the default) are one period of a longer one: made for spectra. The others are symmetric.

>>> hann_window(4), hann_window(3, periodic=False)
(tensor([0.0000, 0.5000, 1.0000, 0.5000]), tensor([0., 1., 0.]))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.tensor_options import making_on, with_options
from minitorch_compile.tensor.numerics.dtype import dtype, float64, get_default_dtype
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.creation import arange, ones
from minitorch_compile.tensor.ops.pointwise import abs, cos, sqrt
from minitorch_compile.tensor.ops.special_functions import i0


def _window(
    length: int, periodic: bool, shape: Callable[[Any], Any], dtype: dtype | None, options: dict[str, Any]
) -> Any:
    """The values of `shape` at places from 0 to 1. RuntimeError for a negative length or an integer dtype."""
    element = dtype or get_default_dtype()
    if not element.is_floating_point:
        raise RuntimeError(f"window functions: expected a floating-point dtype, got {element}")
    if length < 0:
        raise RuntimeError(f"window functions: requires non-negative window_length, got window_length={length}")
    if length <= 1:
        return ones(length, dtype=element, **options)
    steps = length if periodic else length - 1
    with making_on(options.get("device")):
        values = to_copy(shape(arange(length, dtype=float64) / steps), element)
    return with_options(values, **options)


@composite()
def hann_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, **options: Any) -> Any:
    """0.5 - 0.5 cos(2 pi t)."""
    return hamming_window(window_length, periodic, 0.5, 0.5, dtype=dtype, **options)


@composite()
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: dtype | None = None,
    **options: Any,
) -> Any:
    """alpha - beta cos(2 pi t)."""
    return _window(window_length, periodic, lambda t: alpha - beta * cos(2 * math.pi * t), dtype, options)


@composite()
def blackman_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, **options: Any) -> Any:
    """0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t)."""

    def shape(t: Any) -> Any:
        return 0.42 - 0.5 * cos(2 * math.pi * t) + 0.08 * cos(4 * math.pi * t)

    return _window(window_length, periodic, shape, dtype, options)


@composite()
def bartlett_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None, **options: Any) -> Any:
    """A triangle: 1 - |2 t - 1|."""
    return _window(window_length, periodic, lambda t: 1 - abs(2 * t - 1), dtype, options)


@composite()
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: dtype | None = None,
    **options: Any,
) -> Any:
    """I0(beta sqrt(1 - (2 t - 1)^2)) / I0(beta), with the modified Bessel function I0."""

    def shape(t: Any) -> Any:
        inside = 4 * t * (1 - t)  # the same as 1 - (2 t - 1)^2, and never below 0
        return i0(beta * sqrt(inside)) / float(np.i0(beta))

    return _window(window_length, periodic, shape, dtype, options)
