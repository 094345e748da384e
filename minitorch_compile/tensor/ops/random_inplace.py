"""The methods that fill a tensor with random numbers: `x.normal_()`, `x.uniform_(-1, 1)`, `x.exponential_()`, ...

Each draws a tensor like x and stores it with `copy_`, so views, versions and autograd's rules are those of copy_.

>>> from minitorch_compile.tensor import manual_seed, zeros
>>> _ = manual_seed(0)
>>> x = zeros(1000)
>>> abs(x.normal_(mean=5, std=0.5).mean().item() - 5) < 0.1, bool((x.uniform_(-1, 0) < 0).all())
(True, True)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.dispatch.op_families import check_storable, leaf_written
from minitorch_compile.tensor.grad_mode import is_grad_enabled
from minitorch_compile.tensor.modes.fake_tensor_mode import drawing_like
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, dtype, float64, int64
from minitorch_compile.tensor.numerics.numeric_limits import finfo, iinfo
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.pointwise import ceil, exp, log, log1p
from minitorch_compile.tensor.ops.pytorch_stream import drawn_like, drawn_normals
from minitorch_compile.tensor.ops.random import (
    normal_random,
    normal_tensor,
    randint_random,
    uniform_random,
    uniform_tensor,
)
from minitorch_compile.tensor.ops.sampling import trials
from minitorch_compile.tensor.ops.trigonometry import tan
from minitorch_compile.tensor.random.generator import draws_as_pytorch
from minitorch_compile.tensor.tensor_base import TensorBase


def fills(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """For the body of an op that stores random numbers in its first argument: where that can't be written to, none are
    drawn, so that whoever catches the error finds the stream as it was."""
    drawing = drawing_like(kernel)

    @functools.wraps(kernel)
    def body(input: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(input, TensorBase):
            _check_writable(input)
        return drawing(input, *args, **kwargs)

    return body


def _check_writable(input: TensorBase) -> None:
    """RuntimeError in copy_'s words, which stores the numbers."""
    owner = input if input.base is None else input.base
    if is_grad_enabled() and owner.grad_fn is None and (input.requires_grad or owner.requires_grad):
        raise RuntimeError(leaf_written("copy_", input))
    check_storable("copy_", input, input)


def _check_fillable(name: str, input: Any) -> None:
    if input.dtype.category < FLOATING:
        raise NotImplementedError(f"{name}: implemented for floating-point tensors, got {input.dtype}; use random_")


def _fractions(input: Any, generator: Any) -> Any:
    """Uniform numbers in [0, 1) of 53 bits: their logarithm exists but for one draw in 10**16."""
    if draws_as_pytorch():
        return drawn_like(input, float64, "uniform", generator=generator)
    return uniform_random(tuple(input.sizes), float64, generator)


@composite(torch=False, methods=True)
@fills
def uniform_(input: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None) -> Any:
    """Stores numbers drawn uniformly from [`from_`, `to`), and returns the tensor. RuntimeError if from_ > to.

    >>> x = torch.empty(3).uniform_(-1, 1)
    >>> bool((x.abs() <= 1).all())
    True
    """
    _check_fillable("uniform_", input)
    if from_ > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}")
    if draws_as_pytorch():
        return input.copy_(drawn_like(input, input.dtype, "uniform", from_, to, generator=generator))
    return input.copy_(uniform_tensor(tuple(input.sizes), input.dtype, generator) * (to - from_) + from_)


@composite(torch=False, methods=True)
@fills
def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    """Stores normal numbers of that `mean` and standard deviation, `std`, and returns the tensor. RuntimeError for a
    negative one.

    >>> torch.empty(2, 3).normal_(mean=5.0, std=0.0)
    tensor([[5., 5., 5.],
            [5., 5., 5.]])
    """
    _check_fillable("normal_", input)
    if std < 0:
        raise RuntimeError(f"normal_ expects std >= 0.0, but found std {std}")
    sizes = tuple(input.sizes)
    if draws_as_pytorch():
        return input.copy_(drawn_normals(sizes, tuple(input.strides), input.dtype, mean, std, generator))
    return input.copy_(normal_tensor(sizes, input.dtype, generator) * std + mean)


@composite(torch=False, methods=True)
@fills
def log_normal_(input: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Any:
    """Stores e to the power of normal numbers of that mean and standard deviation."""
    _check_fillable("log_normal_", input)
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    if draws_as_pytorch():
        return input.copy_(exp(drawn_like(input, float64, "normal one by one", mean, std, generator=generator)))
    return input.copy_(exp(normal_random(tuple(input.sizes), input.dtype, generator) * std + mean))


@composite(torch=False, methods=True)
@fills
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Any:
    """Stores exponential numbers of rate `lambd`: -log(1 - u) / lambd."""
    _check_fillable("exponential_", input)
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    drawn = to_copy(log1p(-_fractions(input, generator)) * (-1 / lambd), input.dtype)
    return input.copy_(drawn.clamp(min=finfo(input.dtype).tiny))


@composite(torch=False, methods=True)
@fills
def cauchy_(input: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Any:
    """Stores Cauchy numbers: median + sigma tan(pi (u - 1/2))."""
    _check_fillable("cauchy_", input)
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    angle = (_fractions(input, generator) - 0.5) * math.pi
    return input.copy_(tan(angle) * sigma + median)


@composite(torch=False, methods=True)
@fills
def geometric_(input: Tensor, p: float, *, generator: Any = None) -> Any:
    """Stores how many trials of probability p it takes to the first success: 1, 2, ..."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    least = 2.0**-54  # below any number drawn but 0, whose logarithm this takes the place of
    return input.copy_(ceil(log(_fractions(input, generator).clamp(min=least)) / math.log1p(-p)).clamp(min=1))


@composite(torch=False, methods=True)
@fills
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Any = None) -> Any:
    """Stores 1 with probability p, else 0; p is a number, or a tensor that broadcasts to the sizes of this one."""
    if isinstance(p, TensorBase):
        return input.copy_(trials("bernoulli_", input, p.expand(input.sizes), generator))  # type: ignore[attr-defined]
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return input.copy_(_fractions(input, generator) < p)


@composite(torch=False, methods=True)
@fills
def random_(input: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Any:
    """Stores integers of [from_, to), or of [0, from_); without bounds, of all that the dtype holds from 0 on.
    RuntimeError for bounds that it doesn't hold."""
    bounded = to is not None or from_ != 0
    if not bounded:
        to = _most_of(input.dtype) + 1
    elif to is None:
        from_, to = (0, from_) if from_ > 0 else (from_, _most_of(input.dtype) + 1)
    if from_ >= to:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={from_} >= to={to}")
    for name, bound in (("from", from_), ("to - 1", to - 1)):
        if not _holds(input.dtype, bound):
            raise RuntimeError(f"{name} is out of bounds for {input.dtype}: random_ got {bound}")
    wide = min(to, 2**63)  # so that the drawn numbers fit int64
    if draws_as_pytorch():
        bounds = ("integers", from_, wide) if bounded or input.dtype.itemsize > 4 else ("integers of one word", wide)
        return input.copy_(drawn_like(input, int64, *bounds, generator=generator))
    return input.copy_(randint_random(from_, wide, tuple(input.sizes), int64, generator))


def _holds(element: dtype, number: int) -> bool:
    """Whether an integer lies within the range of a dtype."""
    if element is bool_:
        return number in (0, 1)
    limits = finfo(element) if element.is_floating_point else iinfo(element)
    return bool(limits.min <= number <= limits.max)


def _most_of(element: dtype) -> int:
    """The largest integer up to which the dtype holds all of them."""
    if element is bool_:
        return 1
    if element.is_floating_point:
        return int(2 / finfo(element).eps)
    return iinfo(element).max
