"""What floats are made of: sign, exponent, fraction, and the values that aren't numbers.

>>> from minitorch_compile.tensor import tensor
>>> isfinite(tensor([1.0, float("inf"), float("nan")])), frac(tensor([1.25, -1.25]))
(tensor([ True, False, False]), tensor([ 0.2500, -0.2500]))
>>> mantissa, exponent = frexp(tensor(6.0))
>>> mantissa, exponent
(tensor(0.7500), tensor(3, dtype=torch.int32))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.declare import alias, composite, kernel_op, pointwise
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.dispatch.pointwise_op import ALWAYS_BOOL, INT_TO_FLOAT
from minitorch_compile.tensor.memory.elementwise_strides import elementwise_strides
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, complex32, complex64, get_default_dtype, int32
from minitorch_compile.tensor.numerics.numeric_limits import finfo
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.complex_numbers import complex
from minitorch_compile.tensor.ops.pointwise import abs, div, eq, gt, isnan, mul, pow, sign, sub, trunc, where
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

# ------------------------------------------------------------------------------------------ what kind of number


@pointwise(ALWAYS_BOOL, inplace=False)
def isinf(input: Array) -> Array:
    """Where infinite, of either sign, as a bool tensor.

    >>> torch.isinf(torch.tensor([1.0, float("-inf")]))
    tensor([False,  True])
    """
    return np.isinf(input)


@pointwise(ALWAYS_BOOL, inplace=False)
def isfinite(input: Array) -> Array:
    """Where neither infinite nor NaN, as a bool tensor.

    >>> torch.isfinite(torch.tensor([1.0, float("inf"), float("nan")]))
    tensor([ True, False, False])
    """
    return np.isfinite(input)


@composite(methods=True)
def isposinf(input: Tensor) -> Any:
    """Where +inf. NotImplementedError for complex numbers."""
    complex_support.refuse_complex("isposinf", input.dtype)
    return eq(input, float("inf"))


@composite(methods=True)
def isneginf(input: Tensor) -> Any:
    """Where -inf. NotImplementedError for complex numbers."""
    complex_support.refuse_complex("isneginf", input.dtype)
    return eq(input, -float("inf"))


@pointwise(ALWAYS_BOOL, inplace=False)
def isreal(input: Array) -> Array:
    """Where the imaginary part is 0: everywhere, for dtypes that have none."""
    return np.isreal(input)


@pointwise(ALWAYS_BOOL, inplace=False)
def signbit(input: Array) -> Array:
    """Where the sign is negative, that of -0.0 too."""
    return np.signbit(input) if input.dtype.kind == "f" else np.less(input, 0)


# ------------------------------------------------------------------------------------------ signs


@composite(methods=True, inplace=True)
def sgn(input: Tensor) -> Any:
    """-1, 0 or 1; of a complex number the number on the unit circle in its direction, or 0."""
    if not input.dtype.is_complex:
        return sign(input)
    if input.dtype is complex32:  # in which nothing is divided
        return sgn(input.to(complex64)).to(complex32)
    size = abs(input)
    return div(input, where(size == 0, 1.0, size))


@pointwise(INT_TO_FLOAT)
def copysign(input: Array, other: Array | Scalar) -> Array:
    """The magnitude of `input` with the sign of `other`."""
    return np.copysign(input, other)


@composite(methods=True)
def positive(input: Tensor) -> Any:
    """The input itself. RuntimeError for bool tensors."""
    if input.dtype.numpy.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@composite(methods=True, inplace=True)
def heaviside(input: Tensor, values: Tensor) -> Any:
    """The step function: 0 below 0, 1 above, and `values` at 0. RuntimeError unless both have one dtype."""
    if not isinstance(values, TensorBase):
        raise TypeError(f"heaviside(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}")
    if input.dtype is not values.dtype:
        raise RuntimeError(
            f"heaviside is not yet implemented for tensors with different dtypes: {input.dtype} and {values.dtype}"
        )
    return where(eq(input, 0), values, gt(input, 0).to(input.dtype))


# ------------------------------------------------------------------------------------------ parts


@composite(methods=True, inplace=True, inplace_function=True)
def frac(input: Tensor) -> Any:
    """x - trunc(x): the part after the point, with the sign of x. RuntimeError for integers."""
    if input.dtype.category < FLOATING:
        raise NotImplementedError(f'frac: "frac" is implemented for floating-point tensors, got {input.dtype}')
    return sub(input, trunc(input))


@kernel_op("pointwise", torch=False)
def frexp_parts(input: Array) -> tuple[Array, Array]:
    """The mantissa, in (-1, -0.5] or [0.5, 1) or 0, and the int32 exponent of each float."""
    mantissa, exponent = np.frexp(input)
    return mantissa, exponent.astype(np.int32)


@frexp_parts.shape_rule
def _frexp_rule(input: TensorBase) -> tuple[TensorBase, TensorBase]:
    if input.dtype.category != FLOATING:
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, got {input.dtype}")
    strides = elementwise_strides(input.sizes, [(input.sizes, input.strides)])
    return empty_fake(input.sizes, strides, input.dtype), empty_fake(input.sizes, strides, int32)


@composite(methods=True)
def frexp(input: Tensor) -> Any:
    """(mantissa, exponent) with input = mantissa * 2 ** exponent. RuntimeError for integers."""
    return return_types.frexp(*frexp_parts(input))


@composite(methods=True, inplace=True, inplace_function=True)
def ldexp(input: Tensor, other: Tensor) -> Any:
    """input * 2 ** other, as floats. RuntimeError for the bool exponent of a float."""
    if not isinstance(other, TensorBase):
        raise TypeError(f"ldexp(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    if other.dtype is bool_ and input.dtype.category >= FLOATING:
        raise NotImplementedError("ldexp: implemented for numbers, got a bool exponent; call .int() first")
    common = mul.result_dtype((input, other))
    exponent: Any = other
    return mul(input, pow(2.0, exponent.to(common if common.category >= FLOATING else get_default_dtype())))


@pointwise()
def nextafter(input: Array, other: Array) -> Array:
    """The next float after `input` in the direction of `other`. RuntimeError for integers."""
    if input.dtype.kind in "biuc":
        raise NotImplementedError(
            f'nextafter: "nextafter" is implemented for floating-point tensors, got {input.dtype}'
        )
    return np.nextafter(input, other)


# ------------------------------------------------------------------------------------------ replacing


@composite(methods=True, inplace=True, inplace_function=True)
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """NaN becomes `nan` (0), the infinities `posinf` and `neginf` (the largest and smallest finite numbers), in both
    parts of complex numbers."""
    if input.dtype.category < FLOATING:
        return input.clone()
    if input.dtype.is_complex:
        return complex(*(nan_to_num(part, nan, posinf, neginf) for part in (input.real, input.imag)))
    limits = finfo(input.dtype)
    replaced = where(isnan(input), 0.0 if nan is None else nan, input)
    replaced = where(isposinf(input), float(limits.max) if posinf is None else posinf, replaced)
    return where(isneginf(input), float(limits.min) if neginf is None else neginf, replaced)


fix = alias("fix", trunc)
