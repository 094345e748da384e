"""Derivatives of Fourier transforms: linear maps, whose adjoint is the transform the other way round.

>>> from minitorch_compile.tensor import ops, tensor
>>> from minitorch_compile.autograd import grad
>>> x = tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> grad(ops.fft_rfft(x).real.sum(), x)
(tensor([2.0000, 0.5000, 0.5000]),)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.ops.fourier import OTHER_WAY

Ints = tuple[int, ...]


@derivative(ops._fft_c2c)
def _(grad: Tensor, out: Unused, x: Unused, dim: Ints, norm: str, forward: bool) -> Gradients:
    return ops._fft_c2c(grad, dim, OTHER_WAY[norm], not forward)


@derivative(ops._fft_r2c)
def _(grad: Tensor, out: Unused, x: Layout, dim: Ints, norm: str) -> Gradients:
    """The other half of the spectrum isn't there: its gradient is 0."""
    n, have = x.sizes[dim[-1]], grad.sizes[dim[-1]]
    missing = tuple(n - have if d == dim[-1] else size for d, size in enumerate(grad.sizes))
    whole = ops.cat([grad, ops.full(missing, 0, grad.dtype)], dim[-1])
    return ops.real(ops._fft_c2c(whole, dim, OTHER_WAY[norm], False))


@derivative(ops._fft_c2r)
def _(grad: Tensor, out: Unused, z: Unused, dim: Ints, norm: str, size: int) -> Gradients:
    """Each number counts for itself and its conjugate, apart from frequency 0 and, for an even size, the last."""
    spectrum = ops._fft_r2c(grad, dim, OTHER_WAY[norm])
    places = ops.arange(size // 2 + 1)
    once = ops.logical_or(places == 0, 2 * places == size)
    weights: Any = ops.where(once, 1.0, ops.full((size // 2 + 1,), 2.0, grad.dtype))
    return spectrum * weights.reshape([-1 if d == dim[-1] else 1 for d in range(len(grad.sizes))])
