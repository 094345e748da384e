"""Derivatives of elementwise ops: the chain rule, and a sum over whatever was broadcast.

>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.autograd import grad
>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> grad((x**3).sum(), x)
(tensor([ 3., 12.]),)
"""

from __future__ import annotations

import cmath
import math
from typing import Any

from minitorch_compile.autograd.derivative_table import ForOthers, Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.error_function import ONE_OVER_SQRT_2PI
from minitorch_compile.tensor.ops.pointwise import SQRT_2_OVER_PI

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)

# ---------------------------------------------------------------------------------------------------- arithmetic


@derivative(ops.add)
def _(grad: Tensor, out: Unused, x: Layout, y: Layout, alpha: float) -> Gradients:
    return lambda: sum_to(grad, x), lambda: sum_to(grad if alpha == 1 else grad * alpha, y)


@derivative(ops.sub)
def _(grad: Tensor, out: Unused, x: Layout, y: Layout, alpha: float) -> Gradients:
    return lambda: sum_to(grad, x), lambda: sum_to(-grad if alpha == 1 else grad * -alpha, y)


@derivative(ops.mul)
def _(grad: Tensor, out: Unused, x: ForOthers, y: ForOthers) -> Gradients:
    return lambda: sum_to(grad * y, x), lambda: sum_to(grad * x, y)


@derivative(ops.div)
def _(grad: Tensor, out: Unused, x: ForOthers, y: Tensor, rounding_mode: str | None) -> Gradients:
    if rounding_mode is not None:  # a staircase
        return lambda: sum_to(ops.zeros_like(grad), x), lambda: sum_to(ops.zeros_like(grad), y)
    return lambda: sum_to(grad / y, x), lambda: sum_to(-grad * (x / y / y), y)


@derivative(ops.remainder)
def _(grad: Tensor, out: Unused, x: ForOthers, y: Tensor) -> Gradients:
    return lambda: sum_to(grad, x), lambda: sum_to(-grad * ops.floor(ops.div(x, y)), y)


@derivative(ops.fmod)
def _(grad: Tensor, out: Unused, x: ForOthers, y: Tensor) -> Gradients:
    return lambda: sum_to(grad, x), lambda: sum_to(-grad * ops.trunc(ops.div(x, y)), y)


@derivative(ops.pow)
def _(grad: Tensor, out: Unused, x: Tensor, exponent: Tensor) -> Gradients:
    return lambda: sum_to(_power_by_base(grad, x, exponent), x), lambda: sum_to(
        _power_by_exponent(grad, x, exponent), exponent
    )


def _power_by_base(grad: Tensor, x: Tensor, exponent: Any) -> Any:
    """grad * n x^(n-1), and 0 for n = 0 even where x^(-1) is infinite."""
    if not isinstance(exponent, Tensor):
        return ops.zeros_like(grad) if exponent == 0 else grad * (exponent * x ** (exponent - 1))
    return ops.where(exponent == 0, 0.0, grad * (exponent * x ** (exponent - 1)))


def _power_by_exponent(grad: Tensor, x: Any, exponent: Tensor) -> Any:
    """grad * x^n log(x), and 0 at x = 0 for n >= 0, where the power stays 0."""
    if isinstance(x, Tensor):
        if grad.dtype.is_complex and not x.dtype.is_complex:
            x = ops.to_copy(x, grad.dtype)  # where a negative number has a logarithm
        flat = ops.logical_and(x == 0, ops.real(exponent) >= 0)
        return ops.where(flat, 0.0, grad * (x**exponent * ops.log(ops.where(flat, 1.0, x))))
    if isinstance(x, complex):
        return grad * (x**exponent * cmath.log(x))
    if x > 0:
        return grad * (x**exponent * math.log(x))
    slope = math.nan if x < 0 else -math.inf
    return ops.where(exponent >= 0, 0.0, grad * slope) if x == 0 else grad * slope


@derivative(ops.neg)
def _(grad: Tensor, out: Unused, x: Unused) -> Gradients:
    return -grad


@derivative(ops.abs)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.sgn(x)


@derivative(ops.maximum)
def _(grad: Tensor, out: Unused, x: Tensor, y: Tensor) -> Gradients:
    return lambda: sum_to(_to_the_winner(grad, x, y), x), lambda: sum_to(_to_the_winner(grad, y, x), y)


@derivative(ops.minimum)
def _(grad: Tensor, out: Unused, x: Tensor, y: Tensor) -> Gradients:
    return lambda: sum_to(_to_the_winner(grad, y, x, first=False), x), lambda: sum_to(
        _to_the_winner(grad, x, y, first=False), y
    )


def _to_the_winner(grad: Tensor, larger: Any, smaller: Any, first: bool = True) -> Any:
    """The gradient where `larger` really is, half of it where both are equal, else 0."""
    wins = ops.gt(larger, smaller) if isinstance(larger, Tensor) else ops.lt(smaller, larger)
    tie = ops.eq(larger, smaller) if isinstance(larger, Tensor) else ops.eq(smaller, larger)
    return ops.where(tie, grad / 2, ops.where(wins, grad, 0.0))


@derivative(ops.clamp)
def _(grad: Tensor, out: Unused, x: Tensor, low: Tensor, high: Tensor) -> Gradients:
    def by_input() -> Any:
        inside = x >= low if high is None else x <= high if low is None else ops.logical_and(x >= low, x <= high)
        return sum_to(ops.where(inside, grad, 0.0), x)

    def by_low() -> Any:
        at_low = x < low if high is None else ops.logical_and(x < low, ops.lt(low, high))
        return sum_to(ops.where(at_low, grad, 0.0), low)

    def by_high() -> Any:
        at_high = (
            x > high
            if low is None
            else ops.logical_or(x > high, ops.gt(low, high) if isinstance(low, Tensor) else ops.lt(high, low))
        )
        return sum_to(ops.where(at_high, grad, 0.0), high)

    return by_input, by_low, by_high


def _flat(grad: Tensor, out: Unused, x: Unused) -> Gradients:
    """A staircase: flat wherever it has a derivative."""
    return ops.zeros_like(grad)


for staircase in (ops.sign, ops.floor, ops.ceil, ops.trunc):
    derivative(staircase)(_flat)


@derivative(ops.round)
def _(grad: Tensor, out: Unused, x: Unused, decimals: int) -> Gradients:
    return ops.zeros_like(grad)


# ---------------------------------------------------------------------------------------------------- functions


@derivative(ops.exp)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad * out


@derivative(ops.expm1)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad * (out + 1)


@derivative(ops.log)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad / x


@derivative(ops.log1p)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad / (x + 1)


@derivative(ops.sqrt)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad / (2 * out)


@derivative(ops.rsqrt)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return -0.5 * grad * (out * out * out)


@derivative(ops.reciprocal)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return -grad * (out * out)


@derivative(ops.square)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * (2 * x)


@derivative(ops.sin)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.cos(x)


@derivative(ops.cos)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return -grad * ops.sin(x)


@derivative(ops.tanh)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad * (1 - out * out)


@derivative(ops.sigmoid)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad * (out * (1 - out))


@derivative(ops.erf)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * (TWO_OVER_SQRT_PI * ops.exp(-(x * x)))


@derivative(ops.atan2)
def _(grad: Tensor, out: Unused, y: Tensor, x: Tensor) -> Gradients:
    square = x * x + y * y
    scaled = grad / ops.where(square == 0, 1.0, square)  # at the origin 0, as PyTorch says
    return lambda: sum_to(scaled * x, y), lambda: sum_to(-scaled * y, x)


# ---------------------------------------------------------------------------------------------------- activations


@derivative(ops.relu)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return ops.where(out <= 0, 0.0, grad)


@derivative(ops.gelu)
def _(grad: Tensor, out: Unused, x: Tensor, approximate: str) -> Gradients:
    return grad * (_tanh_gelu_slope(x) if approximate == "tanh" else ops.gelu_slope(x))


@derivative(ops.gelu_slope)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    """Of Phi(x) + x phi(x): phi'(x) is -x phi(x)."""
    return grad * (2 - x * x) * ops.exp(-0.5 * x * x) * ONE_OVER_SQRT_2PI


def _tanh_gelu_slope(x: Tensor) -> Any:
    t = ops.tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (SQRT_2_OVER_PI * (1 + 3 * 0.044715 * x * x))


@derivative(ops.silu)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    s = ops.sigmoid(x)
    return grad * (s * (1 + x * (1 - s)))


# ------------------------------------------------------------------------------------------------- choosing and copying


@derivative(ops.where)
def _(grad: Tensor, out: Unused, condition: Tensor, x: Layout, y: Layout) -> Gradients:
    return None, lambda: sum_to(ops.where(condition, grad, 0.0), x), lambda: sum_to(ops.where(condition, 0.0, grad), y)
