"""Filling a tensor, in place, with values to start training from.

>>> from minitorch_compile import empty
>>> constant_(empty(2), 3.0)
tensor([3., 3.])
>>> calculate_gain("tanh")
1.6666666666666667
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.tensor import bool_, float32, from_numpy, no_grad, ops
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.random.generator import Generator, draws_as_pytorch
from minitorch_compile.user_warnings import warn_user

# ---------------------------------------------------------------------------------------------------- constants


@no_grad()
def constant_(tensor: Any, val: float) -> Any:
    """Fills a `tensor` with one value, `val`, without recording it, and returns it.

    >>> torch.nn.init.constant_(torch.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    return tensor.fill_(val)


@no_grad()
def zeros_(tensor: Any) -> Any:
    """Fills a `tensor` with 0, without recording it, and returns it.

    >>> torch.nn.init.zeros_(torch.ones(2))
    tensor([0., 0.])
    """
    return tensor.fill_(0)


@no_grad()
def ones_(tensor: Any) -> Any:
    """Fills a `tensor` with 1, without recording it, and returns it.

    >>> torch.nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return tensor.fill_(1)


@no_grad()
def eye_(tensor: Any) -> Any:
    """The identity matrix. ValueError unless the tensor is 2-dimensional."""
    if len(tensor.sizes) != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(ops.eye(*tensor.sizes, dtype=tensor.dtype, device=tensor.device))


@no_grad()
def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The weight of a convolution that gives back its input channels, as many as there are outputs (in each group)."""
    if len(tensor.sizes) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    outputs, inputs, *window = tensor.sizes
    if outputs % groups:
        raise ValueError("dim 0 must be divisible by groups")
    tensor.fill_(0)
    centre = tuple(n // 2 for n in window)
    for channel in range(outputs):
        place = channel % (outputs // groups)
        if place < inputs:
            tensor[(channel, place, *centre)] = 1
    return tensor


# ---------------------------------------------------------------------------------------------------- random


@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Any:
    """Fills a `tensor` with uniform numbers between `a` and `b`, and returns it; `generator` is the stream to draw
    from.

    >>> torch.nn.init.uniform_(torch.empty(2, 3), -1, 1).shape
    torch.Size([2, 3])
    """
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Any:
    """Fills a `tensor` with normal numbers of the given `mean` and standard deviation, `std`, and returns it;
    `generator` is the stream to draw from.

    >>> torch.nn.init.normal_(torch.empty(2, 3), std=0.02).shape
    torch.Size([2, 3])
    """
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Any:
    """Fills a `tensor` with normal numbers of the given `mean` and standard deviation, `std`, but only between `a` and
    `b`, and returns it.

    Drawn by the inverse of the distribution function: uniform numbers between its values at a and at b.

    >>> x = torch.nn.init.trunc_normal_(torch.empty(100), std=0.02, a=-0.04, b=0.04)
    >>> bool((x.abs() <= 0.04).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn_user(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        )
    if draws_as_pytorch():
        return _rejected_until_inside(tensor, mean, std, a, b, generator)
    low, high = (math.erf((bound - mean) / std / math.sqrt(2.0)) for bound in (a, b))
    tensor.uniform_(low, high, generator=generator)
    return tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(a, b)


def _rejected_until_inside(
    tensor: Any, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Any:
    """PyTorch's way to trunc_normal_: whole tensors are drawn until each element has been accepted once.

    Normal numbers where many fall between the bounds, else uniform ones, accepted as often as the density says.
    """
    low, high = (math.erf((bound - mean) / std / math.sqrt(2.0)) for bound in (a, b))
    often = (high - low) / 2 > 0.3
    least, most = ops.full((2,), 0, tensor.dtype).copy_(from_numpy(np.array([a, b]))).tolist()
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    missing = ops.ones_like(tensor, dtype=bool_)
    while bool(missing.any()):
        drawn = ops.empty_like(tensor)
        if often:
            drawn.normal_(mean, std, generator=generator)
            refused = (drawn < least) | (drawn > most)
        else:
            drawn.uniform_(a, b, generator=generator)
            height = ops.pow((drawn - mean) / std, 2) * -0.5 - peak
            refused = ops.empty_like(tensor).uniform_(generator=generator).log() > height
        tensor.copy_(ops.where(missing, drawn, tensor))
        missing = missing & refused
    return tensor


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much a nonlinearity shrinks its input, to be made up for. ValueError for an unknown name.

    `param`: the slope of leaky_relu, 0.01 if not given.
    """
    gains: dict[str, float] = {"linear": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    gains |= {f"conv{kind}{n}d": 1 for n in "123" for kind in ("", "_transpose")}
    if nonlinearity == "leaky_relu":
        if isinstance(param, bool) or not isinstance(param, (int, float, type(None))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}; choose one of {', '.join([*gains, 'leaky_relu'])}")
    return gains[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """How many inputs each output sums, and how many outputs each input goes to."""
    if len(tensor.sizes) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = numel(tensor.sizes[2:])
    return tensor.sizes[1] * window, tensor.sizes[0] * window


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Fills a `tensor` with uniform numbers, keeping the variance the same forwards and backwards (Glorot and Bengio
    2010), times `gain`, and returns it. ValueError for fewer than two dimensions.

    >>> torch.nn.init.xavier_uniform_(torch.empty(3, 5)).shape
    torch.Size([3, 5])
    """
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Normal, keeping the variance the same forwards and backwards (Glorot and Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    """Uniform, keeping the variance through rectifiers (He et al. 2015). Nothing to do for a tensor without
    elements."""
    if 0 in tensor.sizes:
        return _nothing_to_fill(tensor)
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3.0 / _calculate_correct_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    """Fills a `tensor` with normal numbers, keeping the variance through rectifiers (He et al. 2015), and returns it.
    Nothing to do for a tensor without elements.

    `mode`: "fan_in" keeps it forwards, "fan_out" backwards. `nonlinearity`: the name of the activation that follows, of
    slope `a` below 0 if that is "leaky_relu". ValueError for fewer than two dimensions.

    >>> torch.nn.init.kaiming_normal_(torch.empty(3, 5), nonlinearity="relu").shape
    torch.Size([3, 5])
    """
    if 0 in tensor.sizes:
        return _nothing_to_fill(tensor)
    fan = _calculate_correct_fan(tensor, mode)
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)


def _nothing_to_fill(tensor: Any) -> Any:
    warn_user("Initializing zero-element tensors is a no-op")
    return tensor


@no_grad()
def orthogonal_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Rows, or columns if there are more rows, that are orthogonal and of length `gain` (Saxe et al. 2013).

    Dimensions after the first count as one.
    """
    if len(tensor.sizes) < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if 0 in tensor.sizes:
        return tensor
    rows, columns = tensor.sizes[0], numel(tensor.sizes[1:])
    element = tensor.dtype if tensor.dtype.itemsize > 2 else float32  # there is no QR of half precision
    where = tensor.device if tensor.is_cuda else "cpu"  # also where another device is the default
    drawn = normal_(ops.empty((rows, columns), dtype=element, device=where), generator=generator).numpy(force=True)
    q, r = np.linalg.qr(drawn if rows >= columns else drawn.T)
    q = q * np.sign(np.diag(r))  # so that every orthogonal matrix is equally likely
    return tensor.copy_(from_numpy(np.ascontiguousarray(q if rows >= columns else q.T)).view(tensor.sizes)).mul_(gain)


@no_grad()
def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Any:
    """Normal, but a fraction `sparsity` of each column 0 (Martens 2010)."""
    if len(tensor.sizes) != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.sizes
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0.0, std, generator)
    for column in range(columns):
        chosen = ops.randperm(rows, generator=generator)[:zeros]
        tensor[chosen, column] = 0
    return tensor


# ---------------------------------------------------------------------------------------------------- old names


def _deprecated(function: Callable[..., Any]) -> Callable[..., Any]:
    """The name without the underscore, which PyTorch gave up but old programs use."""
    name = function.__name__

    @functools.wraps(function)
    def old(*args: Any, **kwargs: Any) -> Any:
        warn_user(f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.", FutureWarning)
        return function(*args, **kwargs)

    return old


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)

# PyTorch's inner names for those of them that libraries call.
_no_grad_uniform_ = uniform_
_no_grad_normal_ = normal_
_no_grad_fill_ = constant_
