"""Random tensors, drawn from a Philox stream: the default generator's, or that of `generator=`.

>>> from minitorch_compile.tensor import manual_seed
>>> a = (manual_seed(0), rand(3))[1]
>>> b = (manual_seed(0), rand(3))[1]
>>> (a == b).all(), a.min() >= 0, a.max() < 1
(tensor(True), tensor(True), tensor(True))
>>> randint(10, (2, 3)).shape, sorted(randperm(5).tolist())
(torch.Size([2, 3]), [0, 1, 2, 3, 4])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, factory, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.dispatch.tensor_options import making_on, with_options
from minitorch_compile.tensor.memory.memory_format import copy_strides, memory_format, preserve_format
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel
from minitorch_compile.tensor.modes.fake_tensor_mode import drawing_like
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, dtype, float32, float64, get_default_dtype, int64
from minitorch_compile.tensor.numerics.numeric_limits import finfo, iinfo
from minitorch_compile.tensor.ops.complex_numbers import view_as_complex
from minitorch_compile.tensor.ops.copies import copy, to_copy
from minitorch_compile.tensor.ops.creation import _shape, dense, sizes_of
from minitorch_compile.tensor.ops.pointwise import floor
from minitorch_compile.tensor.ops.pytorch_stream import drawn, drawn_normals, mt19937_random
from minitorch_compile.tensor.ops.sorting import argsort
from minitorch_compile.tensor.ops.view import permute
from minitorch_compile.tensor.random import mt19937
from minitorch_compile.tensor.random.generator import checked_generator, draws_as_pytorch
from minitorch_compile.tensor.random.philox import normal, uniform
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]
Format = memory_format

# How many numbers of the stream each element takes.
DRAWS = {"uniform_random": 1, "normal_random": 2, "randint_random": 1}


@factory("random", torch=False)
def uniform_random(size: Ints, dtype: dtype | None = None, generator: Any = None) -> Array:
    """Uniform on [0, 1): what `rand` draws."""
    element, count, source = _floating_rule(size, dtype)[1].numpy, numel(size), checked_generator(generator)
    if draws_as_pytorch():
        return mt19937.uniform(source.engine(), count, element).reshape(size)
    return uniform(*source.advance(count), count, element).reshape(size)


@factory("random", torch=False)
def normal_random(size: Ints, dtype: dtype | None = None, generator: Any = None) -> Array:
    """Standard normal: what `randn` draws."""
    element, count, source = _floating_rule(size, dtype)[1].numpy, numel(size), checked_generator(generator)
    if draws_as_pytorch():
        return mt19937.normal(source.engine(), count, element).reshape(size)
    return normal(*source.advance(DRAWS["normal_random"] * count), count, element).reshape(size)


def _floating_rule(size: Ints, dtype: dtype | None, generator: Any = None) -> tuple[Ints, dtype]:
    element = dtype or get_default_dtype()
    if element.category < FLOATING:
        raise NotImplementedError(f"rand/randn: implemented for floating-point dtypes, got {element}; use randint")
    return sizes_of("rand", size), element


uniform_random.shape_rule(_floating_rule)
normal_random.shape_rule(_floating_rule)


@factory("random", torch=False)
def randint_random(low: int, high: int, size: Ints, dtype: dtype | None = None, generator: Any = None) -> Array:
    """Integers in [low, high): what `randint` draws."""
    element, source = _randint_rule(low, high, size, dtype)[1], checked_generator(generator)
    if draws_as_pytorch():
        return mt19937.integers(source.engine(), numel(size), element.numpy, low, high).reshape(size)
    return _integers(low, high, size, *source.advance(numel(size)), element)


def _integers(low: int, high: int, size: Ints, seed: int, offset: int, element: dtype) -> Array:
    fraction = uniform(seed, offset, numel(size), np.dtype(np.float64))
    steps = np.floor(fraction * (high - low)).astype(np.int64)
    return (low + steps).astype(element.numpy).reshape(size)


@randint_random.shape_rule
def _randint_rule(low: int, high: int, size: Ints, dtype: dtype | None, generator: Any = None) -> tuple[Ints, dtype]:
    element = dtype or int64
    if low >= high:
        raise RuntimeError(f"randint: expects 'low' to be less than 'high', got low={low} and high={high}")
    if element.category < FLOATING:
        least, most = (0, 1) if element is bool_ else (iinfo(element).min, iinfo(element).max)
        if low < least or high - 1 > most:
            raise RuntimeError(
                f"randint: [{low}, {high}) is out of bounds for {element}, which holds {least} to {most}"
            )
    return sizes_of("randint", size), element


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


def uniform_tensor(size: Ints, element: dtype, generator: Any = None) -> Any:
    """Uniform on [0, 1) in any floating-point dtype.

    A number of 24 bits may round to 1 in a dtype with fewer, so those get just the bits that they can hold. Complex
    numbers have parts of that distribution.
    """
    if element.is_complex:
        return view_as_complex(uniform_random((*size, 2), element.to_real(), generator))
    if element.itemsize > 2 or draws_as_pytorch():
        return uniform_random(size, element, generator)
    step = finfo(element).eps / 2  # a power of two, of which products are as exact as quotients
    return to_copy(floor(uniform_random(size, float32, generator) * (1 / step)) * step, element)


def normal_tensor(size: Ints, element: dtype | None, generator: Any = None) -> Any:
    """Standard normal; complex numbers have parts of variance 1/2, so that theirs is 1, too."""
    if element is None or not element.is_complex:
        return normal_random(size, element, generator)
    if draws_as_pytorch():
        return drawn_normals(size, contiguous_strides(size), element, generator=generator)
    return view_as_complex(normal_random((*size, 2), element.to_real(), generator) * math.sqrt(0.5))


def _laid_out(input: Any, draw: Callable[[], Any], strides: Ints, options: dict[str, Any]) -> Any:
    """Numbers with those strides on the device of `input`, unless another one is given."""
    where = options.get("device") or input.device
    with making_on(where):
        numbers = draw()
        if strides != contiguous_strides(input.sizes):
            numbers = copy(dense(input.sizes, strides, 0, numbers.dtype), numbers)
    return with_options(numbers, **{**options, "device": where})


@composite()
def rand(*sizes: Any, size: Any = None, generator: Any = None, dtype: dtype | None = None, **options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1). `size` is given as numbers, as one tuple or by name; `dtype` is the default
    dtype unless given. `generator` is the stream to draw from, if not the default one.

    >>> x = torch.rand(2, 3)
    >>> x.shape, bool(((0 <= x) & (x < 1)).all())
    (torch.Size([2, 3]), True)
    """
    shape = sizes_of("rand", _shape("rand", sizes, size))
    with making_on(options.get("device")):
        numbers = uniform_tensor(shape, dtype or get_default_dtype(), generator)
    return with_options(numbers, **options)


@composite()
def randn(*sizes: Any, size: Any = None, generator: Any = None, dtype: dtype | None = None, **options: Any) -> Tensor:
    """Numbers drawn from the standard normal distribution, of mean 0 and variance 1. `size` is given as numbers, as one
    tuple or by name; `dtype` is the default dtype unless given. `generator` is the stream to draw from, if not the
    default one.

    >>> torch.randn(2, 3).shape, torch.randn((4,), dtype=torch.float64).dtype
    (torch.Size([2, 3]), torch.float64)
    """
    shape = sizes_of("randn", _shape("randn", sizes, size))
    with making_on(options.get("device")):
        numbers = normal_tensor(shape, dtype, generator)
    return with_options(numbers, **options)


@composite()
def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    **options: Any,
) -> Tensor:
    """Integers drawn uniformly from [`low`, `high`), int64 unless given, of sizes `size`, a tuple; `randint(high,
    size)` counts from 0. `generator` is the stream to draw from. RuntimeError if the range is empty.

    >>> x = torch.randint(3, 5, (10,))
    >>> bool(((3 <= x) & (x < 5)).all())
    True
    """
    if size is None:
        low, high, size = 0, low, high
    elif high is None or low is None:
        low, high = 0, low if high is None else high
    for name, value in (("low", low), ("high", high)):
        if isinstance(value, (bool, float)) or value is None:
            raise TypeError(f"randint(): argument '{name}' must be int, not {type(value).__name__}")
    with making_on(options.get("device")):
        numbers = randint_random(int(low), int(high), sizes_of("randint", size), dtype, generator)
    return with_options(numbers, **options)


@composite()
@drawing_like
def rand_like(
    input: Tensor,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    memory_format: Format = preserve_format,
    **options: Any,
) -> Tensor:
    """Numbers drawn uniformly from [0, 1) in the sizes, layout and dtype of `input`; `dtype` and `memory_format` may
    say another.

    >>> torch.rand_like(torch.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    element, strides = dtype or input.dtype, copy_strides(memory_format, input.sizes, input.strides)
    if draws_as_pytorch():
        draw = partial(drawn, tuple(input.sizes), strides, element, "uniform", generator=generator)
    else:
        draw = partial(uniform_tensor, tuple(input.sizes), element, generator)
    return _laid_out(input, draw, strides, options)


@composite()
@drawing_like
def randn_like(
    input: Tensor,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    memory_format: Format = preserve_format,
    **options: Any,
) -> Tensor:
    """Numbers drawn from the standard normal distribution in the sizes, layout and dtype of `input`; `dtype` and
    `memory_format` may say another.

    >>> torch.randn_like(torch.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    element, strides = dtype or input.dtype, copy_strides(memory_format, input.sizes, input.strides)
    if draws_as_pytorch():
        draw = partial(drawn_normals, tuple(input.sizes), strides, element, generator=generator)
    else:
        draw = partial(normal_tensor, tuple(input.sizes), element, generator)
    return _laid_out(input, draw, strides, options)


@composite()
@drawing_like
def randint_like(
    input: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    memory_format: Format | None = None,
    **options: Any,
) -> Any:
    """Integers in [low, high), or [0, low), in the sizes, memory layout and dtype of `input`."""
    strides = copy_strides(memory_format or preserve_format, input.sizes, input.strides)
    order = sorted(range(len(strides)), key=lambda dim: -strides[dim])  # PyTorch's stream follows the memory
    sizes = tuple(input.sizes[dim] for dim in order)

    def draw() -> Any:
        numbers = randint(low, high, sizes, generator=generator, dtype=dtype or input.dtype)
        return permute(numbers, tuple(np.argsort(order).tolist())) if order != sorted(order) else numbers

    return _laid_out(input, draw, strides, options)


@composite()
def randperm(n: int, *, generator: Any = None, dtype: dtype | None = None, **options: Any) -> Tensor:
    """The integers 0 to `n` - 1 in random order, int64 unless given. `generator` is the stream to draw from.

    >>> torch.randperm(4).sort().values
    tensor([0, 1, 2, 3])
    """
    size = sizes_of("randperm", n)
    with making_on(options.get("device")):
        if draws_as_pytorch():
            order = mt19937_random(size, "permutation", (), int64, generator)
        else:
            order = argsort(uniform_random(size, float64, generator), stable=True)
    return with_options(order if dtype is None else to_copy(order, dtype), **options)
