"""Functions of NVIDIA's libdevice that kernels call as `numba.cuda.libdevice` has them: on the bits of numbers, and
special ones, which SciPy computes here.

>>> float_as_int(np.float32(1.0)), half2float(np.int16(0x3C00)), float2half_rn(np.float32(1.0))
(np.int32(1065353216), np.float32(1.0), np.int16(15360))
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from minitorch_compile.cuda_simulator.arithmetic import Value


def vanishing(function: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """A Bessel function that is 0 at infinity, as the device's is; SciPy's is NaN."""
    return lambda x: np.where(np.isinf(x), 0.0, function(x))[()]


LIBDEVICE: dict[str, Callable[..., Value]] = {
    "erfcx": special.erfcx, "erfinv": special.erfinv, "normcdfinv": special.ndtri,
    "nextafter": np.nextafter, "nextafterf": np.nextafter,
    "j0": vanishing(special.j0), "j1": vanishing(special.j1), "y0": vanishing(special.y0), "y1": vanishing(special.y1),
}  # fmt: skip


def of_libdevice(function: Callable[..., Value]) -> Callable[..., Value]:
    LIBDEVICE[function.__name__] = function
    return function


def seen_as(value: Value, before: str, after: str) -> Value:
    """The bits of a value of one type as a value of another."""
    return np.asarray(value).astype(before).view(after)[()]


@of_libdevice
def float_as_int(x: Value) -> Value:
    return seen_as(x, "float32", "int32")


@of_libdevice
def int_as_float(x: Value) -> Value:
    return seen_as(x, "int32", "float32")


@of_libdevice
def double_as_longlong(x: Value) -> Value:
    return seen_as(x, "float64", "int64")


@of_libdevice
def longlong_as_double(x: Value) -> Value:
    return seen_as(x, "int64", "float64")


@of_libdevice
def half2float(bits: Value) -> Value:
    """The float16 of these bits as a float32."""
    return seen_as(bits, "int16", "float16").astype(np.float32)


@of_libdevice
def float2half_rn(x: Value) -> Value:
    """The bits of the nearest float16, the even one of two."""
    return seen_as(x, "float16", "int16")
