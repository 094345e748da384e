"""Elementwise ops: each row is a formula on NumPy arrays.

>>> from minitorch_compile.tensor import tensor
>>> relu(tensor([-1.0, 2.0])), tensor([1, 2]) / 2
(tensor([0., 2.]), tensor([0.5000, 1.0000]))
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.cpu.branchless_where import select
from minitorch_compile.tensor.dispatch.declare import pointwise
from minitorch_compile.tensor.dispatch.op import Array, Scalar
from minitorch_compile.tensor.dispatch.pointwise_op import (
    ALWAYS_BOOL,
    BOOL_TO_LONG,
    INT_TO_FLOAT,
    PointwiseOp,
    common_dtype,
)
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics import error_function
from minitorch_compile.tensor.numerics.dtype import INTEGER, bool_, dtype
from minitorch_compile.tensor.ops import quotients
from minitorch_compile.tensor.tensor_base import TensorBase

SQRT_2_OVER_PI = 0.7978845608028654
SMALL = 4096  # elements

# ---------------------------------------------------------------------------------------------------- arithmetic


@pointwise()
def add(input: Array | Scalar, other: Array | Scalar, alpha: Scalar = 1) -> Array:
    """input + `alpha` * other: tensors that broadcast, or one a number. RuntimeError for an alpha that is a float where
    the tensors are integers.

    >>> torch.add(torch.tensor([1, 2]), 10), torch.ones(2).add(torch.tensor([1.0, 2.0]), alpha=2)
    (tensor([11, 12]), tensor([3., 5.]))
    """
    if type(alpha) is int and alpha == 1:
        return np.add(input, other)
    element = np.result_type(input, other)
    _check_alpha(element, alpha)
    if element == np.bool_:
        return np.logical_or(input, other) if alpha else np.logical_or(input, False)
    return np.add(input, other * element.type(alpha))


def _check_alpha(element: np.dtype, alpha: Scalar) -> None:
    if isinstance(alpha, bool) and element.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, complex) and element.kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if element.kind in "iub" and isinstance(alpha, float):
        raise RuntimeError(
            f"For integral input tensors, argument alpha must not be a floating point number, got {alpha}"
        )


class SubtractionOp(PointwiseOp):
    """sub: refuses bools, also beside floats."""

    def common_dtype(self, bound: Sequence[Any]) -> dtype:
        if any(isinstance(x, bool) or getattr(x, "dtype", None) is bool_ for x in bound[:2]):
            raise _no_subtraction()
        return super().common_dtype(bound)


@pointwise(family=SubtractionOp)
def sub(input: Array | Scalar, other: Array | Scalar, alpha: Scalar = 1) -> Array:
    """input - `alpha` * other: tensors that broadcast, or one a number. RuntimeError for bool tensors, as in PyTorch.

    >>> torch.sub(torch.tensor([5, 7]), torch.tensor([1, 2]), alpha=2)
    tensor([3, 3])
    """
    if isinstance(other, bool) or isinstance(input, bool) or np.result_type(input, other).kind == "b":
        raise _no_subtraction()
    if type(alpha) is int and alpha == 1:
        return np.subtract(input, other)
    element = np.result_type(input, other)
    _check_alpha(element, alpha)
    return np.subtract(input, other * element.type(alpha))


def _no_subtraction() -> RuntimeError:
    return RuntimeError("sub: subtraction with a bool tensor is not supported; use logical_xor, or ~ to invert a mask")


@pointwise()
def mul(input: Array | Scalar, other: Array | Scalar) -> Array:
    """input * other: tensors that broadcast, or one a number.

    >>> torch.mul(torch.tensor([1, 2]), 3), torch.ones(2, 1).mul(torch.tensor([1.0, 2.0]))
    (tensor([3, 6]), tensor([[1., 2.],
            [1., 2.]]))
    """
    return np.multiply(input, other)


class DivisionOp(PointwiseOp):
    """div: only the quotient that isn't rounded makes floats of integers."""

    def common_dtype(self, bound: Sequence[Any]) -> dtype:
        return super().common_dtype(bound) if bound[2] is None else common_dtype(bound[:2], self.name)


@pointwise(INT_TO_FLOAT, family=DivisionOp)
def div(input: Array | Scalar, other: Array | Scalar, rounding_mode: str | None = None) -> Array:
    """input / other: tensors that broadcast, or one a number; integers are divided as floats. `rounding_mode`: "floor"
    rounds the quotient down, "trunc" toward 0, and integers stay integers. RuntimeError for another mode, and for
    integers rounded that are divided by 0.

    >>> torch.div(torch.tensor([7, -7]), 2), torch.div(torch.tensor([7, -7]), 2, rounding_mode="floor")
    (tensor([ 3.5000, -3.5000]), tensor([ 3, -4]))
    """
    if rounding_mode is None:
        return np.divide(input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    quotients.check_division("div", input, other)
    return quotients.floored(input, other) if rounding_mode == "floor" else quotients.truncated(input, other)


@pointwise()
def floor_divide(input: Array | Scalar, other: Array | Scalar) -> Array:
    """The quotient rounded down."""
    quotients.check_division("floor_divide", input, other)
    return quotients.floored(input, other)


@pointwise()
def remainder(input: Array | Scalar, other: Array | Scalar) -> Array:
    """What floor_divide leaves: has the sign of the divisor, like Python's %."""
    quotients.check_division("remainder", input, other)
    return quotients.remainder(input, other)


@pointwise()
def fmod(input: Array, other: Array | Scalar) -> Array:
    """What truncating division leaves: has the sign of the dividend, like C's %."""
    quotients.check_division("fmod", input, other)
    return np.fmod(input, other)


class PowerOp(PointwiseOp):
    """pow: integers to a negative number's power are refused before that number is made an unsigned integer; powers of
    a number are row-major, however the exponents lie."""

    def _layouts(self, bound: Sequence[Any]) -> list[tuple[Sequence[int], Sequence[int]]]:
        if isinstance(bound[0], TensorBase):
            return super()._layouts(bound)
        return [(bound[1].sizes, contiguous_strides(bound[1].sizes))]

    def common_dtype(self, bound: Sequence[Any]) -> dtype:
        common = super().common_dtype(bound)
        if common.category == INTEGER and isinstance(bound[1], int) and bound[1] < 0:
            raise RuntimeError("pow: Integers to negative integer powers are not allowed.")
        return common


@pointwise(family=PowerOp)
def pow(input: Array | Scalar, exponent: Array | Scalar) -> Array:
    """`input` to the power of `exponent`: tensors that broadcast, or one a number. RuntimeError for integers to a
    negative number's power, and for bool tensors.

    Integers to the powers of a tensor are rounded toward 0 where those are negative.

    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2), 2 ** torch.arange(4)
    (tensor([1., 4., 9.]), tensor([1, 2, 4, 8]))
    """
    return quotients.power(input, exponent)


@pointwise()
def neg(input: Array) -> Array:
    """-input, element by element. RuntimeError for bool tensors.

    >>> torch.neg(torch.tensor([1, -2]))
    tensor([-1,  2])
    """
    if input.dtype == np.bool_:
        raise RuntimeError("neg: negation of a bool tensor is not supported; use ~ to invert a mask")
    return np.negative(input)


@pointwise()
def abs(input: Array) -> Array:
    """The magnitude of each element; of a complex number, as a float. NotImplementedError for bool tensors.

    >>> torch.abs(torch.tensor([-1.5, 2.0])), torch.tensor(3 + 4j).abs()
    (tensor([1.5000, 2.0000]), tensor(5.))
    """
    return np.abs(_no_bools("abs", input))


def _no_bools(name: str, input: Array) -> Array:
    if input.dtype == np.bool_:
        raise NotImplementedError(f'{name}: "{name}" is implemented for numbers, got a bool tensor; call .int() first')
    return input


@pointwise(inplace_function=False)
def sign(input: Array) -> Array:
    """-1, 0 or 1 for each element; 0 for NaN, as in PyTorch. A bool is its own sign.

    >>> torch.sign(torch.tensor([-2.5, 0.0, 3.0]))
    tensor([-1.,  0.,  1.])
    """
    if input.dtype.kind != "f":
        return input if input.dtype == np.bool_ else np.sign(input)
    return np.subtract(input > 0, input < 0, dtype=input.dtype)


@pointwise(inplace=False)
def maximum(input: Array, other: Array) -> Array:
    """The larger one; NaN if either is."""
    return np.maximum(input, other)


@pointwise(inplace=False)
def minimum(input: Array, other: Array) -> Array:
    """The smaller one; NaN if either is."""
    return np.minimum(input, other)


@pointwise(inplace_function=True)
def clamp(input: Array, min: Array | Scalar | None = None, max: Array | Scalar | None = None) -> Array:
    """The nearest value that is at least `min` and at most `max`: numbers, or tensors that broadcast; either may be
    left out. NaN stays NaN. RuntimeError if both are None.

    >>> torch.clamp(torch.tensor([-2.0, 0.5, 3.0]), min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
    if input.dtype == np.bool_:
        if not all(bound is None or isinstance(bound, np.ndarray) for bound in (min, max)):
            _no_bools("clamp", input)  # PyTorch takes tensors as bounds of bools, but not numbers
    elif input.size > SMALL:
        return np.clip(input, min, max)
    low = input if min is None else np.maximum(input, min)
    return low if max is None else np.minimum(low, max)


# ---------------------------------------------------------------------------------------------------- rounding


@pointwise()
def floor(input: Array) -> Array:
    """The largest integer not above, in the input's dtype. RuntimeError for bool tensors.

    >>> torch.floor(torch.tensor([1.7, -1.2]))
    tensor([ 1., -2.])
    """
    return np.floor(input) if input.dtype.kind == "f" else _no_bools("floor", input)


@pointwise()
def ceil(input: Array) -> Array:
    """The smallest integer not below. RuntimeError for bool tensors."""
    return np.ceil(input) if input.dtype.kind == "f" else _no_bools("ceil", input)


@pointwise()
def trunc(input: Array) -> Array:
    """The integer part. RuntimeError for bool tensors."""
    return np.trunc(input) if input.dtype.kind == "f" else _no_bools("trunc", input)


@pointwise()
def round(input: Array, decimals: int = 0) -> Array:
    """The nearest number of that many `decimals`; halves go to the even one. Negative decimals round to tens and
    hundreds. RuntimeError for bool tensors.

    >>> torch.round(torch.tensor([0.5, 1.5, 2.7])), torch.round(torch.tensor([1.2345]), decimals=2)
    (tensor([0., 2., 3.]), tensor([1.2300]))
    """
    if input.dtype.kind != "f":
        if decimals:
            raise NotImplementedError(f"round: decimals are for floating-point tensors, got {input.dtype}")
        return _no_bools("round", input)
    if decimals == 0:
        return np.rint(input)
    ten = input.dtype.type(10.0 ** builtins.abs(decimals))
    return np.rint(input * ten) / ten if decimals > 0 else np.rint(input / ten) * ten


# ---------------------------------------------------------------------------------------------------- functions


@pointwise(INT_TO_FLOAT)
def exp(input: Array) -> Array:
    """e to the power of each element. Integers give the default dtype.

    >>> torch.exp(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    return np.exp(input)


@pointwise(INT_TO_FLOAT)
def expm1(input: Array) -> Array:
    """exp(x) - 1, exact near 0. Integers give the default dtype.

    >>> torch.expm1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.7183])
    """
    return np.expm1(input)


@pointwise(INT_TO_FLOAT)
def log(input: Array) -> Array:
    """The natural logarithm; NaN below 0, -inf at 0. Integers give the default dtype.

    >>> torch.log(torch.tensor([1.0, 0.0, -1.0]))
    tensor([0., -inf, nan])
    """
    return np.log(input)


@pointwise(INT_TO_FLOAT)
def log1p(input: Array) -> Array:
    """log(1 + x), exact near 0. Integers give the default dtype.

    >>> torch.log1p(torch.tensor([0.0, 1e-6, 1.0]))
    tensor([0.0000e+00, 1.0000e-06, 6.9315e-01])
    """
    return np.log1p(input)


@pointwise(INT_TO_FLOAT)
def sqrt(input: Array) -> Array:
    """The square root; NaN below 0. Integers give the default dtype.

    >>> torch.sqrt(torch.tensor([4.0, 2.0, -1.0]))
    tensor([2.0000, 1.4142,    nan])
    """
    return np.sqrt(input)


def _widened(x: Array) -> Array:
    """float16 in float32, for formulas of several steps: their result is rounded once, as PyTorch's kernels do it."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


@pointwise(INT_TO_FLOAT)
def rsqrt(input: Array) -> Array:
    """1 / sqrt(x), element by element; inf at 0, NaN below. Integers give the default dtype.

    >>> torch.rsqrt(torch.tensor([4.0, 0.0]))
    tensor([0.5000,    inf])
    """
    return np.reciprocal(np.sqrt(_widened(input))).astype(input.dtype, copy=False)


@pointwise(INT_TO_FLOAT)
def reciprocal(input: Array) -> Array:
    """1 / x, element by element. Integers give the default dtype.

    >>> torch.reciprocal(torch.tensor([2.0, -4.0]))
    tensor([ 0.5000, -0.2500])
    """
    return np.reciprocal(input)


@pointwise(BOOL_TO_LONG)
def square(input: Array) -> Array:
    """x * x, element by element.

    >>> torch.square(torch.tensor([3, -2]))
    tensor([9, 4])
    """
    return np.multiply(input, input)


@pointwise(INT_TO_FLOAT)
def sin(input: Array) -> Array:
    """The sine of an angle in radians. Integers give the default dtype.

    >>> torch.sin(torch.tensor([0.0, 1.5708]))
    tensor([0., 1.])
    """
    return np.sin(input)


@pointwise(INT_TO_FLOAT)
def cos(input: Array) -> Array:
    """The cosine of an angle in radians. Integers give the default dtype.

    >>> torch.cos(torch.tensor([0.0, 3.1416]))
    tensor([ 1., -1.])
    """
    return np.cos(input)


@pointwise(INT_TO_FLOAT)
def tanh(input: Array) -> Array:
    """The hyperbolic tangent, between -1 and 1. Integers give the default dtype.

    >>> torch.tanh(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7616,  0.0000,  0.7616])
    """
    return np.tanh(input)


@pointwise(INT_TO_FLOAT)
def sigmoid(input: Array) -> Array:
    """1 / (1 + exp(-x)), element by element: between 0 and 1. Integers give the default dtype.

    >>> torch.sigmoid(torch.tensor([-100.0, 0.0, 2.0]))
    tensor([0.0000, 0.5000, 0.8808])
    """
    return np.reciprocal(1 + np.exp(-_widened(input))).astype(input.dtype, copy=False)


@pointwise(INT_TO_FLOAT)
def erf(input: Array) -> Array:
    """The error function, element by element. Integers give the default dtype.

    >>> torch.erf(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8427])
    """
    return error_function.erf(input)


@pointwise(INT_TO_FLOAT)
def atan2(input: Array, other: Array) -> Array:
    """The angle of the point (other, input), in (-pi, pi]."""
    return np.arctan2(input, other)


# ---------------------------------------------------------------------------------------------------- activations


@pointwise(inplace_function=False)
def relu(input: Array) -> Array:
    """max(x, 0), element by element; NaN stays NaN. RuntimeError for bool tensors.

    >>> torch.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    kind = input.dtype.kind
    if kind == "f" and input.size > SMALL:
        return np.clip(input, 0, np.inf)  # three times as fast as np.maximum, but it takes a microsecond to start
    if kind == "b":
        raise RuntimeError("relu: Boolean inputs not supported for relu; call .float() first")
    return np.maximum(input, 0)


@pointwise(torch=False, methods=False, functional=True)
def gelu(input: Array, approximate: str = "none") -> Array:
    """0.5 x (1 + erf(x / sqrt 2)); approximate="tanh" is the cubic-tanh form of Hendrycks & Gimpel (2016)."""
    _floats_only("gelu", input)
    if approximate == "tanh":
        return 0.5 * input * (1 + np.tanh(SQRT_2_OVER_PI * (input + 0.044715 * input * input * input)))
    if approximate != "none":
        raise RuntimeError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    return error_function.gelu(input)


@pointwise(torch=False, methods=False)
def gelu_slope(input: Array) -> Array:
    """The derivative of gelu: Phi(x) + x phi(x), with the normal distribution's integral and density."""
    _floats_only("gelu_slope", input)
    return error_function.gelu_slope(input)


@pointwise(torch=False, methods=False)
def silu(input: Array) -> Array:
    """x * sigmoid(x), of complex numbers, too."""
    _floats_only("silu", input.real)
    return input / (1 + np.exp(-input))


def _floats_only(name: str, input: Array) -> None:
    if input.dtype.kind != "f":
        raise NotImplementedError(f'{name}: "{name}" is implemented for floating-point tensors, got {input.dtype}')


# ------------------------------------------------------------------------------------------------- comparison and logic


@pointwise(ALWAYS_BOOL)
def eq(input: Array, other: Array | Scalar) -> Array:
    """Where the elements of `input` and `other` are equal, as a bool tensor; sizes broadcast, and either may be a
    number.

    >>> torch.eq(torch.tensor([1, 2]), 2), torch.tensor([1, 2]) == torch.tensor([1, 3])
    (tensor([False,  True]), tensor([ True, False]))
    """
    return np.equal(input, other)


@pointwise(ALWAYS_BOOL)
def ne(input: Array, other: Array | Scalar) -> Array:
    """Where different."""
    return np.not_equal(input, other)


@pointwise(ALWAYS_BOOL)
def lt(input: Array, other: Array | Scalar) -> Array:
    """Where `input` is less than `other`, as a bool tensor; sizes broadcast, and other may be a number.

    >>> torch.lt(torch.tensor([1, 3]), 2)
    tensor([ True, False])
    """
    return np.less(input, other)


@pointwise(ALWAYS_BOOL)
def le(input: Array, other: Array | Scalar) -> Array:
    """Where less or equal."""
    return np.less_equal(input, other)


@pointwise(ALWAYS_BOOL)
def gt(input: Array, other: Array | Scalar) -> Array:
    """Where `input` is greater than `other`, as a bool tensor; sizes broadcast, and other may be a number.

    >>> torch.gt(torch.tensor([1, 3]), 2), torch.tensor([1, 3]) > torch.tensor([0, 3])
    (tensor([False,  True]), tensor([ True, False]))
    """
    return np.greater(input, other)


@pointwise(ALWAYS_BOOL)
def ge(input: Array, other: Array | Scalar) -> Array:
    """Where `input` is greater than `other`, or equal, as a bool tensor; sizes broadcast, and other may be a number.

    >>> torch.ge(torch.tensor([1, 2, 3]), 2)
    tensor([False,  True,  True])
    """
    return np.greater_equal(input, other)


@pointwise(ALWAYS_BOOL, inplace=False)
def isnan(input: Array) -> Array:
    """Where not a number, as a bool tensor.

    >>> torch.isnan(torch.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """
    return np.isnan(input)


@pointwise(ALWAYS_BOOL)
def logical_and(input: Array, other: Array) -> Array:
    """Where both are not 0."""
    return np.logical_and(input, other)


@pointwise(ALWAYS_BOOL)
def logical_or(input: Array, other: Array) -> Array:
    """Where either is not 0."""
    return np.logical_or(input, other)


@pointwise(ALWAYS_BOOL)
def logical_xor(input: Array, other: Array) -> Array:
    """Where exactly one is not 0."""
    return np.logical_xor(input, other)


@pointwise(ALWAYS_BOOL, inplace_function=False)
def logical_not(input: Array) -> Array:
    """Where 0."""
    return np.logical_not(input)


@pointwise()
def bitwise_and(input: Array | Scalar, other: Array | Scalar) -> Array:
    """Bits set in both; logical for bool tensors. RuntimeError for floats."""
    return _integers_only("bitwise_and", input) & other


@pointwise()
def bitwise_or(input: Array | Scalar, other: Array | Scalar) -> Array:
    """Bits set in either; logical for bool tensors. RuntimeError for floats."""
    return _integers_only("bitwise_or", input) | other


@pointwise()
def bitwise_xor(input: Array | Scalar, other: Array | Scalar) -> Array:
    """Bits set in exactly one; logical for bool tensors. RuntimeError for floats."""
    return _integers_only("bitwise_xor", input) ^ other


@pointwise(inplace_function=False)
def bitwise_not(input: Array) -> Array:
    """Every bit turned over; logical not for bool tensors. RuntimeError for floats."""
    return ~_integers_only("bitwise_not", input)


def _integers_only(name: str, input: Any) -> Any:
    if np.asarray(input).dtype.kind == "f":
        raise NotImplementedError(
            f'{name}: "{name}" is implemented for integer and bool tensors, got {np.asarray(input).dtype}'
        )
    return input


@pointwise(condition=True, methods=False)
def where(condition: Array, input: Array | Scalar, other: Array | Scalar) -> Array:
    """`input` where the bool `condition` holds, else `other`; all three broadcast, and either may be a number. Called
    with the condition alone, the indices where it holds, as nonzero(as_tuple=True).

    >>> x = torch.tensor([-1.0, 2.0])
    >>> torch.where(x > 0, x, 0.0), torch.where(x > 0)
    (tensor([0., 2.]), (tensor([1]),))
    """
    return select(condition, input, other)


# What these formulas come to for tensors alone. Small ones go straight to it (`PointwiseOp.run_plain`).
ALONE: tuple[tuple[PointwiseOp, np.ufunc], ...] = (
    (add, np.add), (sub, np.subtract), (mul, np.multiply), (div, np.divide), (neg, np.negative),
    (maximum, np.maximum), (minimum, np.minimum),
    (exp, np.exp), (log, np.log), (sqrt, np.sqrt), (sin, np.sin), (cos, np.cos), (tanh, np.tanh),
)  # fmt: skip
for _op, _function in ALONE:
    _op.of_tensors = _function
