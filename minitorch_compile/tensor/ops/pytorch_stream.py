"""Draws from PyTorch's stream (`config.random_stream = "mt19937"`): the distribution says how many words they take.

>>> from minitorch_compile import config
>>> from minitorch_compile.tensor import empty, float32, manual_seed
>>> with config.patch(random_stream="mt19937"):
...     _ = manual_seed(0)
...     drawn_like(empty(2, 2).t(), float32, "uniform", -1.0, 1.0)       # empty(2, 2).t().uniform_(-1, 1)
tensor([[-0.0075, -0.8230],
        [ 0.5364, -0.7359]])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import factory, kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.memory.memory_format import copy_strides
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel
from minitorch_compile.tensor.numerics.dtype import dtype, float64
from minitorch_compile.tensor.ops.complex_numbers import view_as_complex
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.view import permute
from minitorch_compile.tensor.random import mt19937, rejection_sampling
from minitorch_compile.tensor.random.generator import checked_generator
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]

DISTRIBUTIONS: dict[str, Callable[..., np.ndarray]] = {
    "uniform": mt19937.uniform,
    "normal": mt19937.normal,
    "normal one by one": mt19937.normal_one_by_one,
    "integers": mt19937.integers,
    "integers of one word": mt19937.integers_of_one_word,
    "permutation": mt19937.permutation,
}

ONE_BY_ONE: dict[str, Callable[..., float]] = {
    "poisson": rejection_sampling.poisson,
    "gamma": rejection_sampling.gamma,
    "binomial": rejection_sampling.binomial,
    "slope": rejection_sampling.slope,
}


@factory("random", torch=False)
def mt19937_random(
    size: Ints, distribution: str, parameters: tuple[float, ...], dtype: dtype, generator: Any = None
) -> Array:
    """Numbers of one distribution, in order."""
    draw, engine = DISTRIBUTIONS[distribution], checked_generator(generator).engine()
    return draw(engine, numel(size), dtype.numpy, *parameters).reshape(size)


@mt19937_random.shape_rule
def _(
    size: Ints, distribution: str, parameters: tuple[float, ...], dtype: dtype, generator: Any = None
) -> tuple[Ints, dtype]:
    return size, dtype


@kernel_op("random", torch=False)
def mt19937_rejected(
    input: Array,
    distribution: str,
    parameters: tuple[float, ...],
    other: Array | None,
    generator: Any = None,
) -> Array:
    """A float64 number for each element of `input` (and `other`), which takes as many draws as it happens to take."""
    draw, engine = ONE_BY_ONE[distribution], checked_generator(generator).engine()
    rows = [array.reshape(-1).tolist() for array in (input, other) if array is not None]
    return np.array([draw(engine, *row, *parameters) for row in zip(*rows, strict=True)]).reshape(input.shape)


@mt19937_rejected.shape_rule
def _(
    input: TensorBase, distribution: str, parameters: tuple[float, ...], other: TensorBase | None, generator: Any = None
) -> TensorBase:
    return empty_fake(input.sizes, None, float64)


def drawn(
    sizes: Ints, strides: Ints, element: dtype, distribution: str, *parameters: float, generator: Any = None
) -> Any:
    """A number for each element of a tensor so laid out; the first one for the element that lies first in memory.

    Complex numbers have parts of that distribution.
    """
    order = sorted(range(len(strides)), key=lambda dim: -strides[dim])
    walked = tuple(sizes[dim] for dim in order)
    if element.is_complex:
        parts = mt19937_random((*walked, 2), distribution, parameters, element.to_real(), generator)
        result = view_as_complex(parts)
    else:
        result = mt19937_random(walked, distribution, parameters, element, generator)
    return result if order == sorted(order) else permute(result, tuple(np.argsort(order).tolist()))


def drawn_normals(
    sizes: Ints, strides: Ints, element: dtype, mean: float = 0.0, std: float = 1.0, generator: Any = None
) -> Any:
    """Normal numbers, for a tensor with gaps or in another order one by one. Complex ones have parts of half the
    variance."""
    distribution = "normal" if strides == contiguous_strides(sizes) else "normal one by one"
    if element.is_complex:
        return drawn(sizes, strides, element, distribution, 0.0, std * math.sqrt(0.5), generator=generator) + mean
    return drawn(sizes, strides, element, distribution, mean, std, generator=generator)


def drawn_like(input: Any, element: dtype, distribution: str, *parameters: float, generator: Any = None) -> Any:
    """A number for each element of a tensor, in the order of its memory."""
    strides = copy_strides(None, input.sizes, input.strides)
    return drawn(tuple(input.sizes), strides, element, distribution, *parameters, generator=generator)


def drawn_one_by_one(
    input: Any, distribution: str, *parameters: float, other: Any = None, generator: Any = None
) -> Any:
    """float64 numbers whose distribution differs from element to element."""
    values = to_copy(input.detach(), float64)
    others = None if other is None else to_copy(other.detach(), float64)
    return mt19937_rejected(values, distribution, parameters, others, generator)
