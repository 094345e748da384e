"""Activations, element by element.

With `inplace=True` the result is stored in the input. Where the slope is needed for the backward pass, a copy of the
input is kept for it.

>>> from minitorch_compile import tensor
>>> x = tensor([-1.0, 2.0])
>>> relu6(x * 4), leaky_relu(x, 0.1), softplus(x)
(tensor([0., 6.]), tensor([-0.1000,  2.0000]), tensor([0.3133, 2.1269]))
>>> relu(x, inplace=True) is x, x
(True, tensor([0., 2.]))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import alias_in, functional
from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.ops.pytorch_stream import drawn_one_by_one
from minitorch_compile.tensor.random.generator import draws_as_pytorch

# From Klambauer et al. 2017: with these, outputs keep mean 0 and variance 1.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def store(input: Any, activation: Callable[..., Any], *args: Any) -> Any:
    """Stores the activation of `input` in it; what the backward pass needs is kept in a copy."""
    return input.copy_(activation(input.clone(), *args))


def _floats_only(name: str, input: Any) -> None:
    if not input.is_floating_point():
        raise NotImplementedError(
            f"{name}: implemented for floating-point tensors, got {input.dtype}; call .float() first"
        )


# ---------------------------------------------------------------------------------------------------- rectifiers


sigmoid, tanh = (alias_in("functional", op) for op in (ops.sigmoid, ops.tanh))


@functional()
def relu(input: Tensor, inplace: bool = False) -> Any:
    """max(x, 0), element by element; NaN stays NaN. `inplace` overwrites the input.

    >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return input.relu_() if inplace else ops.relu(input)


@functional()
def relu6(input: Tensor, inplace: bool = False) -> Any:
    """x, kept within [0, 6]."""
    return input.hardtanh_(0.0, 6.0) if inplace else ops.hardtanh(input, 0.0, 6.0)


@functional()
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """x, kept within [min_val, max_val]. ValueError if min_val > max_val."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val cannot be greater than max_val, got {min_val} and {max_val}")
    return input.hardtanh_(min_val, max_val) if inplace else ops.hardtanh(input, min_val, max_val)


@functional()
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x above 0, negative_slope * x below."""
    return input.leaky_relu_(negative_slope) if inplace else ops.leaky_relu(input, negative_slope)


@functional(torch=True)
def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Any:
    """x above 0, slope * x below: drawn from [lower, upper) for each element when training, else its middle.

    RuntimeError if lower > upper.
    """
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound, got {lower} and {upper}")
    if inplace:
        return store(input, _rrelu, lower, upper, training)
    return _rrelu(input, lower, upper, training)


def _rrelu(input: Any, lower: float, upper: float, training: bool) -> Any:
    input = ops.contiguous(input)  # PyTorch's result is in row-major order, too
    if not training:
        return ops.leaky_relu(input, (lower + upper) / 2)
    if draws_as_pytorch():
        bounds = (float(input.dtype.numpy.type(bound)) for bound in (lower, upper))
        slopes = drawn_one_by_one(input, "slope", *bounds).to(input.dtype)
    else:
        slopes = ops.rand_like(input) * (upper - lower) + lower
    return ops.where(input <= 0, input * slopes, input)


@functional(torch=True)
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Any:
    """x above the threshold, else `value`."""
    if inplace:
        return store(input, _threshold, threshold, value)
    return _threshold(input, threshold, value)


def _threshold(input: Any, threshold: float, value: float) -> Any:
    if input.dtype is bool_:
        raise RuntimeError("threshold: implemented for numbers, got a bool tensor; call .int() first")
    if not input.is_floating_point():
        value = int(value)
    return ops.where(input <= threshold, value, input)


# ---------------------------------------------------------------------------------------------------- exponentials


@functional()
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x above 0, alpha * (exp(x) - 1) below (Clevert et al. 2016)."""
    return input.elu_(alpha) if inplace else ops.elu(input, alpha)


@functional(torch=True)
def selu(input: Tensor, inplace: bool = False) -> Any:
    """The elu whose outputs keep mean 0 and variance 1 (Klambauer et al. 2017)."""
    return input.elu_(SELU_ALPHA, SELU_SCALE) if inplace else ops.elu(input, SELU_ALPHA, SELU_SCALE)


@functional(torch=True)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x above 0, alpha * (exp(x / alpha) - 1) below: its slope has no jump (Barron 2017). RuntimeError for alpha 0."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return input.elu_(alpha, 1.0, 1.0 / alpha) if inplace else ops.elu(input, alpha, 1.0, 1.0 / alpha)


@functional()
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold: a smooth max(x, 0), the sharper the
    larger `beta`. `threshold` is where it makes no difference any more.

    >>> torch.nn.functional.softplus(torch.tensor([0.0, 1.0, 30.0]))
    tensor([ 0.6931,  1.3133, 30.0000])
    """
    return ops.softplus(input, beta, threshold)


@functional()
def logsigmoid(input: Tensor) -> Any:
    """log(sigmoid(x)), exact at both ends. The result is in row-major order, as PyTorch's is."""
    return ops.log_sigmoid(ops.contiguous(input))


@functional()
def silu(input: Tensor, inplace: bool = False) -> Any:
    """x * sigmoid(x), also called swish."""
    return store(input, ops.silu) if inplace else ops.silu(input)


@functional()
def mish(input: Tensor, inplace: bool = False) -> Any:
    """x * tanh(softplus(x)) (Misra 2019)."""
    return store(input, _mish) if inplace else _mish(input)


def _mish(input: Any) -> Any:
    return input * ops.tanh(ops.softplus(input))


@functional()
def glu(input: Tensor, dim: int = -1) -> Any:
    """a * sigmoid(b), where a and b are the halves of the input along `dim`. RuntimeError for an odd size."""
    if not input.sizes:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    _floats_only("glu", input)
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    half = size // 2
    return ops.narrow(input, dim, 0, half) * ops.sigmoid(ops.narrow(input, dim, half, half))


# ---------------------------------------------------------------------------------------------------- piecewise


@functional()
def hardsigmoid(input: Tensor, inplace: bool = False) -> Any:
    """(x + 3) / 6, kept within [0, 1]."""
    return input.hardsigmoid_() if inplace else ops.hardsigmoid(input)


@functional()
def hardswish(input: Tensor, inplace: bool = False) -> Any:
    """x * hardsigmoid(x)."""
    return input.hardswish_() if inplace else ops.hardswish(input)


@functional()
def softshrink(input: Tensor, lambd: float = 0.5) -> Any:
    """x brought nearer to 0 by lambd; 0 where it would cross. RuntimeError for a negative lambd."""
    if not lambd >= 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    _floats_only("softshrink", input)
    return ops.where(ops.abs(input) <= lambd, input * 0.0, input - ops.clamp(input, -lambd, lambd))


@functional()
def softsign(input: Tensor) -> Any:
    """x / (1 + |x|)."""
    return input / (ops.abs(input) + 1)


@functional()
def tanhshrink(input: Tensor) -> Any:
    """x - tanh(x)."""
    return input - ops.tanh(input)


# -------------------------------------------------------------------------------------------- stored in the input


@functional(torch=True)
def relu_(input: Tensor) -> Any:
    """relu, in place."""
    return relu(input, inplace=True)


@functional()
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """hardtanh, in place."""
    return hardtanh(input, min_val, max_val, inplace=True)


@functional()
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Any:
    """leaky_relu, in place."""
    return leaky_relu(input, negative_slope, inplace=True)


@functional(torch=True)
def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Any:
    """rrelu, in place."""
    return rrelu(input, lower, upper, training, inplace=True)


@functional(torch=True)
def threshold_(input: Tensor, threshold: float, value: float) -> Any:
    """threshold, in place."""
    return store(input, _threshold, threshold, value)


@functional()
def elu_(input: Tensor, alpha: float = 1.0) -> Any:
    """elu, in place."""
    return elu(input, alpha, inplace=True)


@functional(torch=True)
def selu_(input: Tensor) -> Any:
    """selu, in place."""
    return selu(input, inplace=True)


@functional(torch=True)
def celu_(input: Tensor, alpha: float = 1.0) -> Any:
    """celu, in place."""
    return celu(input, alpha, inplace=True)
