"""Prims that make complex numbers and take them apart, and Fourier transforms.

Arithmetic on complex numbers is that of `pointwise`, which takes them too. No kernel is generated from either: what is
complex runs between compiled stretches of a graph.

>>> from minitorch_compile.tensor import tensor
>>> z = complex(tensor([3.0, 0.0]), tensor([4.0, 1.0]))
>>> z, imag(z), fft_r2c(tensor([1.0, 0.0, 0.0, 0.0]), (0,), "backward")
(tensor([3.+4.j, 0.+1.j]), tensor([4., 1.]), tensor([1.+0.j, 1.+0.j, 1.+0.j]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.prims.prim import (
    check_ints,
    check_like,
    check_tensor,
    describe,
    prim,
    refuse,
)
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.numerics.dtype import COMPLEX, FLOATING, float16, float32, float64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


def _complex_rule(name: str, real: Any, imag: Any) -> TensorBase:
    check_tensor(name, "real", real, (FLOATING,))
    if real.dtype not in (float16, float32, float64):
        raise refuse(name, "real", "of float16, float32 or float64", describe(real))
    check_like(name, "imag", imag, "real", real)
    return empty_fake(real.sizes, None, real.dtype.to_complex())


@prim("complex", _complex_rule, dtypes="float16, float32, float64 -> complex", sizes="those of the parts")
def complex(real: Array, imag: Array) -> Array:
    """real + i imag: complex64 of two float32, complex128 of two float64, complex32 of two float16 tensors."""
    return ops.complex.kernel(real, imag)


def _part_rule(name: str, x: Any) -> TensorBase:
    check_tensor(name, "x", x, (COMPLEX,))
    return empty_fake(x.sizes, None, x.dtype.to_real())


@prim("complex", _part_rule, dtypes="complex -> floats", sizes="those of x")
def real(x: Array) -> Array:
    """The real parts."""
    return np.ascontiguousarray(x.real).reshape(x.shape)


@prim("complex", _part_rule, dtypes="complex -> floats", sizes="those of x")
def imag(x: Array) -> Array:
    """The imaginary parts."""
    return np.ascontiguousarray(x.imag).reshape(x.shape)


# ------------------------------------------------------------------------------------------ Fourier transforms

NORMS = ("forward", "backward", "ortho")


def _check_transform(name: str, x: Any, dims: Any, norm: Any, category: int) -> None:
    """The dimensions are given in the order of the transforms: the last is the one that is halved."""
    check_tensor(name, "x", x, (category,))
    check_ints(name, "dims", dims, len(dims))
    if not dims or len(set(dims)) != len(dims) or max(dims) >= len(x.sizes):
        raise refuse(name, "dims", f"a tuple of different dimensions of x, {describe(x)}", dims)
    if any(x.sizes[d] == 0 for d in dims):
        raise refuse(name, "dims", f"dimensions of non-zero size of x, {describe(x)}", dims)
    if norm not in NORMS:
        raise refuse(name, "norm", f"one of {', '.join(NORMS)}", repr(norm))


def _c2c_rule(name: str, x: Any, dims: Ints, norm: str, forward: Any) -> TensorBase:
    _check_transform(name, x, dims, norm, COMPLEX)
    return empty_fake(x.sizes, None, x.dtype)


@prim("fourier", _c2c_rule, dtypes="complex", sizes="those of x")
def fft_c2c(x: Array, dims: Ints, norm: str, forward: bool) -> Array:
    """The Fourier transform of complex numbers over `dims`, or its inverse. `norm` says which of the two divides by the
    number of elements."""
    return ops._fft_c2c.kernel(x, dims, norm, forward)


def _r2c_rule(name: str, x: Any, dims: Ints, norm: str) -> TensorBase:
    _check_transform(name, x, dims, norm, FLOATING)
    last = dims[-1]
    return empty_fake([n // 2 + 1 if d == last else n for d, n in enumerate(x.sizes)], None, x.dtype.to_complex())


@prim("fourier", _r2c_rule, dtypes="floats -> complex", sizes="those of x, but n // 2 + 1 along the last of dims")
def fft_r2c(x: Array, dims: Ints, norm: str) -> Array:
    """The transform of real numbers over `dims`: the n // 2 + 1 numbers along the last that say all."""
    return ops._fft_r2c.kernel(x, dims, norm)


def _c2r_rule(name: str, x: Any, dims: Ints, norm: str, size: int) -> TensorBase:
    _check_transform(name, x, dims, norm, COMPLEX)
    check_ints(name, "(size,)", (size,), 1, least=1)
    return empty_fake([size if d == dims[-1] else n for d, n in enumerate(x.sizes)], None, x.dtype.to_real())


@prim("fourier", _c2r_rule, dtypes="complex -> floats", sizes="those of x, but `size` along the last of dims")
def fft_c2r(x: Array, dims: Ints, norm: str, size: int) -> Array:
    """Back from half a spectrum to real numbers, `size` of them along the last of `dims`."""
    return ops._fft_c2r.kernel(x, dims, norm, size)
