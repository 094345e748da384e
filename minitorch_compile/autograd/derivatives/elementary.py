"""Derivatives of the elementary functions beyond the first: angles, other bases, mixtures of three tensors.

>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.autograd import grad
>>> x = tensor([0.0, 1.0], requires_grad=True)
>>> grad(x.atan().sum(), x)
(tensor([1.0000, 0.5000]),)
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.autograd.derivative_table import ForOthers, Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops

LOG_2, LOG_10 = math.log(2), math.log(10)

# ---------------------------------------------------------------------------------------------------- angles


@derivative(ops.tan)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad * (1 + out * out)


@derivative(ops.asin)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.rsqrt(1 - x * x)


@derivative(ops.acos)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return -grad * ops.rsqrt(1 - x * x)


@derivative(ops.atan)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad / (x * x + 1)


@derivative(ops.sinh)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.cosh(x)


@derivative(ops.cosh)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.sinh(x)


@derivative(ops.asinh)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.rsqrt(x * x + 1)


@derivative(ops.acosh)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    if x.dtype.is_complex:  # each root on its own branch
        return grad * ops.rsqrt(x - 1) * ops.rsqrt(x + 1)
    return grad * ops.rsqrt((x - 1) * (x + 1))


@derivative(ops.atanh)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad / (1 - x * x)


@derivative(ops.hypot)
def _(grad: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Gradients:
    return lambda: sum_to(grad * (x / out), x), lambda: sum_to(grad * (y / out), y)


# ---------------------------------------------------------------------------------------------------- logarithms


@derivative(ops.exp2)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad * out * LOG_2


@derivative(ops.log2)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad / (x * LOG_2)


@derivative(ops.log10)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad / (x * LOG_10)


@derivative(ops.logaddexp)
def _(grad: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Gradients:
    """Each argument's share of the sum of exponentials."""
    return lambda: sum_to(grad / (1 + ops.exp(y - x)), x), lambda: sum_to(grad / (1 + ops.exp(x - y)), y)


@derivative(ops.logaddexp2)
def _(grad: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Gradients:
    return lambda: sum_to(grad / (1 + ops.exp2(y - x)), x), lambda: sum_to(grad / (1 + ops.exp2(x - y)), y)


@derivative(ops.xlogy)
def _(grad: Tensor, out: Unused, x: Tensor, y: Tensor) -> Gradients:
    def by_factor() -> Any:
        flat = ops.bitwise_and(_is_zero(x), _at_most(y, 0))
        return sum_to(ops.where(flat, 0.0, ops.xlogy(grad, y)), x)

    return by_factor, lambda: sum_to(grad * x / y, y)


@derivative(ops.special_xlog1py)
def _(grad: Tensor, out: Unused, x: Tensor, y: Tensor) -> Gradients:
    def by_factor() -> Any:
        flat = ops.bitwise_and(_is_zero(x), _at_most(y, -1))
        return sum_to(ops.where(flat, 0.0, ops.special_xlog1py(grad, y)), x)

    return by_factor, lambda: sum_to(grad * x / (y + 1), y)


def _is_zero(x: Tensor) -> Any:
    return ops.eq(x, 0)


def _at_most(y: Any, bound: float) -> Any:
    return ops.le(y, bound) if isinstance(y, Tensor) else y <= bound


@derivative(ops.logit)
def _(grad: Tensor, out: Unused, x: Tensor, eps: float | None) -> Gradients:
    """1 / (x (1 - x)) between the bounds. Outside, clamped numbers have no slope, and others no logarithm."""
    low, beyond = (0.0, math.nan) if eps is None else (eps, 0.0)
    inside = ops.logical_and(x >= low, x <= 1 - low)
    return ops.where(inside, grad / (x * (1 - x)), beyond)


# ---------------------------------------------------------------------------------------------------- parts of floats


@derivative(ops.copysign)
def _(grad: Tensor, out: Tensor, x: Tensor, y: Layout) -> Gradients:
    """The sign by which x was multiplied; 0 at 0, as PyTorch says."""
    same = ops.where(ops.eq(x, 0), 0.0, ops.where(ops.eq(ops.signbit(out), ops.signbit(x)), 1.0, -1.0))
    return lambda: sum_to(grad * same, x), lambda: sum_to(ops.zeros_like(grad), y)


@derivative(ops.frexp_parts)
def _(grad: Tensor, out: tuple[Unused, Tensor], x: Unused) -> Gradients:
    """The exponent is a staircase; the mantissa is x / 2 ** exponent."""
    by_mantissa, _ = grad
    return None if by_mantissa is None else by_mantissa / ops.exp2(ops.to_copy(out[1], by_mantissa.dtype))


# ---------------------------------------------------------------------------------------------------- of three tensors


@derivative(ops.lerp)
def _(grad: Tensor, out: Unused, x: ForOthers, end: ForOthers, weight: Tensor) -> Gradients:
    return (
        lambda: sum_to(grad * (1 - weight), x),
        lambda: sum_to(grad * weight, end),
        lambda: sum_to(grad * (end - x), weight),
    )


@derivative(ops.addcmul)
def _(grad: Tensor, out: Unused, x: Layout, a: ForOthers, b: ForOthers, value: float) -> Gradients:
    scaled = grad if value == 1 else grad * value
    return lambda: sum_to(grad, x), lambda: sum_to(scaled * b, a), lambda: sum_to(scaled * a, b)


@derivative(ops.addcdiv)
def _(grad: Tensor, out: Unused, x: Layout, a: ForOthers, b: Tensor, value: float) -> Gradients:
    scaled = grad if value == 1 else grad * value
    return lambda: sum_to(grad, x), lambda: sum_to(scaled / b, a), lambda: sum_to(-scaled * (a / b / b), b)


def _to_the_chosen(grad: Tensor, out: Unused, x: Tensor, y: Tensor, first_wins: Any) -> Gradients:
    chosen = ops.logical_or(first_wins(x, y), ops.isnan(y))
    return lambda: sum_to(ops.where(chosen, grad, 0.0), x), lambda: sum_to(ops.where(chosen, 0.0, grad), y)


@derivative(ops.fmax)
def _(grad: Tensor, out: Unused, x: Tensor, y: Tensor) -> Gradients:
    return _to_the_chosen(grad, out, x, y, ops.ge)


@derivative(ops.fmin)
def _(grad: Tensor, out: Unused, x: Tensor, y: Tensor) -> Gradients:
    return _to_the_chosen(grad, out, x, y, ops.le)
