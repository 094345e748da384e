"""Powers and logarithms to other bases, and products with logarithms that are defined where a factor is 0.

>>> from minitorch_compile.tensor import tensor
>>> log2(tensor(8.0)), xlogy(tensor(0.0), tensor(0.0)), logit(tensor(0.5))
(tensor(3.), tensor(0.), tensor(0.))
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from minitorch_compile.tensor.dispatch.declare import composite, pointwise
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.dispatch.pointwise_op import INT_TO_FLOAT
from minitorch_compile.tensor.numerics.dtype import complex128, float64
from minitorch_compile.tensor.ops.copies import to
from minitorch_compile.tensor.ops.pointwise import pow
from minitorch_compile.tensor.tensor_base import TensorBase


@pointwise(INT_TO_FLOAT)
def exp2(input: Array) -> Array:
    """2 to the power of each element."""
    return np.exp2(input)


@pointwise(INT_TO_FLOAT)
def log2(input: Array) -> Array:
    """The logarithm to base 2."""
    return np.log2(input)


@pointwise(INT_TO_FLOAT)
def log10(input: Array) -> Array:
    """The logarithm to base 10."""
    return np.log10(input)


@pointwise(inplace=False)
def logaddexp(input: Array, other: Array) -> Array:
    """log(exp(x) + exp(y)), without leaving the range of floats. RuntimeError for integers."""
    _check_floats("logaddexp", input)
    return np.logaddexp(input, other)


@pointwise(inplace=False)
def logaddexp2(input: Array, other: Array) -> Array:
    """log2(2^x + 2^y), without leaving the range of floats. RuntimeError for integers."""
    _check_floats("logaddexp2", input)
    return np.logaddexp2(input, other)


def _check_floats(name: str, input: Array) -> None:
    if input.dtype.kind != "f":
        raise NotImplementedError(f'{name}: "{name}" is implemented for floating-point tensors, got {input.dtype}')


@pointwise(INT_TO_FLOAT, inplace_function=True)
def xlogy(input: Array | Scalar, other: Array | Scalar) -> Array:
    """x * log(y), and 0 where x is 0; NaN where y is."""
    return scipy.special.xlogy(input, other).astype(np.result_type(input, other), copy=False)


@pointwise(INT_TO_FLOAT, torch=False, methods=False)
def special_xlog1py(input: Array | Scalar, other: Array | Scalar) -> Array:
    """x * log(1 + y), and 0 where x is 0; NaN where y is."""
    return scipy.special.xlog1py(input, other).astype(np.result_type(input, other), copy=False)


@pointwise(INT_TO_FLOAT)
def logit(input: Array, eps: float | None = None) -> Array:
    """log(x / (1 - x)), the inverse of sigmoid. With `eps`, x is first clamped to [eps, 1 - eps]."""
    one = input.dtype.type(1)
    x = input if eps is None else np.clip(input, input.dtype.type(eps), one - input.dtype.type(eps))
    return np.log(x / (one - x))


@composite(methods=True)
def float_power(input: Tensor | Scalar, exponent: Tensor | Scalar) -> Any:
    """input to the power of exponent, computed in float64, or in complex128 if either is complex."""
    return pow(*(to(x, DOUBLE[_is_complex(x)]) if isinstance(x, TensorBase) else x for x in (input, exponent)))


@composite(torch=False, methods=True)
def float_power_(input: Tensor, exponent: Tensor | Scalar) -> Any:
    """Stores input to the power of exponent. RuntimeError unless input has the dtype of the result: float64, or
    complex128 if either is complex."""
    needed = DOUBLE[_is_complex(input) or _is_complex(exponent)]
    if input.dtype is not needed:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {input.dtype} but the operation's result requires dtype {needed}"
        )
    return input.pow_(exponent)


DOUBLE = (float64, complex128)


def _is_complex(x: Any) -> bool:
    return x.dtype.is_complex if isinstance(x, TensorBase) else isinstance(x, complex)
