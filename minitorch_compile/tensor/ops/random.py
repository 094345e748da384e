"""Random tensors, all drawn from the default generator's Philox stream.

>>> from minitorch_compile.tensor import manual_seed
>>> a = (manual_seed(0), rand(3))[1]
>>> b = (manual_seed(0), rand(3))[1]
>>> (a == b).all(), a.min() >= 0, a.max() < 1
(tensor(True), tensor(True), tensor(True))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.declare import composite, factory, kernel_op
from minitorch_compile.tensor.dtype import FLOATING, dtype, get_default_dtype, int64
from minitorch_compile.tensor.op import Array, Tensor
from minitorch_compile.tensor.ops.creation import _leaf, _sized, sizes_of
from minitorch_compile.tensor.philox import default_generator, normal, uniform
from minitorch_compile.tensor.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]

# How many numbers of the stream each element takes.
DRAWS = {"uniform_random": 1, "normal_random": 2, "randint_random": 1}


@factory("random")
def uniform_random(size: Ints, dtype: dtype | None = None) -> Array:
    """Uniform on [0, 1): what `rand` draws."""
    element = (dtype or get_default_dtype()).numpy
    seed, offset = default_generator.advance(numel(size))
    return uniform(seed, offset, numel(size), element).reshape(size)


@factory("random")
def normal_random(size: Ints, dtype: dtype | None = None) -> Array:
    """Standard normal: what `randn` draws."""
    element = (dtype or get_default_dtype()).numpy
    seed, offset = default_generator.advance(DRAWS["normal_random"] * numel(size))
    return normal(seed, offset, numel(size), element).reshape(size)


def _floating_rule(size: Ints, dtype: dtype | None) -> tuple[Ints, dtype]:
    element = dtype or get_default_dtype()
    if element.category < FLOATING:
        raise RuntimeError(f"rand/randn: implemented for floating-point dtypes, got {element}; use randint")
    return sizes_of("rand", size), element


uniform_random.shape_rule(_floating_rule)
normal_random.shape_rule(_floating_rule)


@factory("random")
def randint_random(low: int, high: int, size: Ints, dtype: dtype | None = None) -> Array:
    """Integers in [low, high): what `randint` draws."""
    seed, offset = default_generator.advance(numel(size))
    return _integers(low, high, size, seed, offset, dtype or int64)


def _integers(low: int, high: int, size: Ints, seed: int, offset: int, element: dtype) -> Array:
    fraction = uniform(seed, offset, numel(size), np.dtype(np.float64))
    return (low + np.floor(fraction * (high - low))).astype(element.numpy).reshape(size)


@randint_random.shape_rule
def _randint_rule(low: int, high: int, size: Ints, dtype: dtype | None) -> tuple[Ints, dtype]:
    if low >= high:
        raise RuntimeError(f"randint: expects 'low' to be less than 'high', got low={low} and high={high}")
    return sizes_of("randint", size), dtype or int64


# ---------------------------------------------------------------------------------------- seed and offset as values
#
# A compiled program draws nothing while it runs: it is handed the seed and the offset of its numbers as two 0-d int64
# tensors. So it is a pure function, and a mask computed a second time for the backward pass is the same mask.


@kernel_op("creation", torch=False)
def philox_uniform(size: Ints, seed: Array, offset: Array, dtype: dtype) -> Array:
    """What `uniform_random` draws from that place of the stream."""
    return uniform(int(seed), int(offset), numel(size), dtype.numpy).reshape(size)


@kernel_op("creation", torch=False)
def philox_normal(size: Ints, seed: Array, offset: Array, dtype: dtype) -> Array:
    """What `normal_random` draws from that place of the stream."""
    return normal(int(seed), int(offset), numel(size), dtype.numpy).reshape(size)


@kernel_op("creation", torch=False)
def philox_randint(low: int, high: int, size: Ints, seed: Array, offset: Array, dtype: dtype) -> Array:
    """What `randint_random` draws from that place of the stream."""
    return _integers(low, high, size, int(seed), int(offset), dtype)


@philox_uniform.shape_rule
@philox_normal.shape_rule
def _philox_rule(size: Ints, seed: TensorBase, offset: TensorBase, dtype: dtype) -> TensorBase:
    sizes, element = _floating_rule(size, dtype)
    return empty_fake(sizes, None, element)


@philox_randint.shape_rule
def _philox_randint_rule(
    low: int, high: int, size: Ints, seed: TensorBase, offset: TensorBase, dtype: dtype
) -> TensorBase:
    sizes, element = _randint_rule(low, high, size, dtype)
    return empty_fake(sizes, None, element)


# ---------------------------------------------------------------------------------------- what people call


@composite()
def rand(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Any:
    """Uniform on [0, 1)."""
    return _leaf(uniform_random(sizes_of("rand", _sized(size)), dtype), requires_grad)


@composite()
def randn(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Any:
    """Standard normal."""
    return _leaf(normal_random(sizes_of("randn", _sized(size)), dtype), requires_grad)


@composite()
def randint(low: int, high: Any = None, size: Any = None, dtype: dtype | None = None) -> Any:
    """Integers in [low, high); randint(high, size) counts from 0."""
    if size is None:
        low, high, size = 0, low, high
    return randint_random(low, high, sizes_of("randint", size), dtype)


@composite()
def rand_like(input: Tensor, dtype: dtype | None = None) -> Any:
    """Uniform on [0, 1) in the sizes and dtype of `input`."""
    return uniform_random(tuple(input.sizes), dtype or input.dtype)


@composite()
def randn_like(input: Tensor, dtype: dtype | None = None) -> Any:
    """Standard normal in the sizes and dtype of `input`."""
    return normal_random(tuple(input.sizes), dtype or input.dtype)


@composite(torch=False, methods=True)
def uniform_(input: Tensor, low: float = 0.0, high: float = 1.0) -> Any:
    """Stores numbers drawn uniformly from [low, high)."""
    return input.copy_(rand_like(input) * (high - low) + low)


@composite(torch=False, methods=True)
def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0) -> Any:
    """Stores normal numbers of that mean and standard deviation."""
    return input.copy_(randn_like(input) * std + mean)


@composite()
def randperm(n: int) -> Any:
    """The integers 0 to n - 1 in random order."""
    from minitorch_compile.tensor.tensor_base import wrap

    return wrap(np.argsort(uniform_random((n,), None).array, kind="stable"))


@composite(functional=True)
def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Any:
    """Each element is 0 with probability p, else divided by 1 - p, so that the expectation stays. Only when
    training."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    keep = rand_like(input) >= p
    return input * keep / (1 - p)
