"""Tensors from sizes and numbers.

Every function here takes PyTorch's keywords device, layout, pin_memory, requires_grad (`dispatch/tensor_options.py`).

>>> zeros(2), arange(1, 7, 2), full((2,), 7)
(tensor([0., 0.]), tensor([1, 3, 5]), tensor([7, 7]))
>>> from minitorch_compile.tensor.memory.memory_format import channels_last
>>> zeros(2, 3, requires_grad=True).requires_grad, empty((1, 2, 2, 2), memory_format=channels_last).stride()
(True, (8, 1, 4, 2))
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.symbolic import SymFloat, SymInt, whole
from minitorch_compile.tensor.dispatch.declare import composite, factory
from minitorch_compile.tensor.dispatch.dispatch import converted_by_modes
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.dispatch.strided_results import empty_like_strides
from minitorch_compile.tensor.dispatch.tensor_options import with_options
from minitorch_compile.tensor.memory.device import META, entered
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.memory_format import (
    contiguous_format,
    memory_format,
    preserve_format,
    strides_in,
)
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import (
    FLOATING,
    as_dtype,
    dtype,
    dtype_of_scalar,
    float64,
    get_default_dtype,
    int64,
)
from minitorch_compile.tensor.numerics.element_conversion import element_of
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.pointwise import pow, where
from minitorch_compile.tensor.ops.view import as_ints
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, wrap

NUMBERS = (bool, int, float, np.generic, SymInt, SymFloat)

Ints = tuple[int, ...]
Format = memory_format


def sizes_of(name: str, size: Any) -> Ints:
    """The sizes given as one int or a sequence. TypeError for others, RuntimeError for negative ones."""
    sizes = as_ints(name, size if isinstance(size, (tuple, list)) else (size,))
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"{name}: Trying to create tensor with negative dimension: {list(sizes)}")
    return sizes


def _sized(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _leaf(x: TensorBase, requires_grad: bool) -> TensorBase:
    if requires_grad:
        x.requires_grad = True
    return x


# ---------------------------------------------------------------------------------------------------- factories


@factory()
def full(size: Ints, fill_value: Scalar, dtype: dtype | None = None) -> Array:
    """A tensor of one value, `fill_value`, of sizes `size`; its `dtype` follows the value unless given.

    >>> torch.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    sizes, element = _full_rule(size, fill_value, dtype)
    result = np.empty(sizes, element.numpy)
    result.fill(element_of(fill_value, element))
    return result


@full.shape_rule
def _full_rule(size: Ints, fill_value: Scalar, dtype: dtype | None) -> tuple[Ints, dtype]:
    if dtype is None:
        return sizes_of("full", size), dtype_of_scalar(fill_value)
    element_of(fill_value, as_dtype(dtype))
    return sizes_of("full", size), as_dtype(dtype)


@factory(torch=False)
def full_strided(size: Ints, stride: Ints, fill_value: Scalar, dtype: dtype) -> Array:
    """A tensor of one value whose dimensions lie in memory in the order of the strides."""
    result = empty_like_strides(size, stride, dtype.numpy)
    result[...] = element_of(fill_value, dtype)
    return result


@full_strided.shape_rule
def _full_strided_rule(size: Ints, stride: Ints, fill_value: Scalar, dtype: dtype) -> tuple[Ints, dtype, Ints]:
    return size, dtype, stride


@factory()
def arange(
    start: Scalar | None = None, end: Scalar | None = None, step: Scalar = 1, dtype: dtype | None = None
) -> Array:
    """`start`, start + `step`, ... up to but without `end`; arange(n) counts from 0. `dtype` is int64 unless an
    argument is a float: then it is the default dtype. RuntimeError for a step of 0 or away from the end.

    >>> torch.arange(4), torch.arange(1, 2, 0.5)
    (tensor([0, 1, 2, 3]), tensor([1.0000, 1.5000]))
    """
    (count,), element = _arange_rule(start, end, step, dtype)
    first = 0 if end is None or start is None else start
    return (first + step * np.arange(count, dtype=np.int64 if element.category < FLOATING else np.float64)).astype(
        element.numpy
    )


@arange.shape_rule
def _arange_rule(start: Scalar | None, end: Scalar | None, step: Scalar, dtype: dtype | None) -> tuple[Ints, dtype]:
    first: Any = 0 if end is None or start is None else start
    last: Any = start if end is None else end
    if not all(isinstance(v, NUMBERS) for v in (first, last, step)):
        raise TypeError(f"arange(): start, end and step must be numbers, got {first!r}, {last!r}, {step!r}")
    floating = any(isinstance(v, (float, np.floating)) for v in (first, last, step))
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if (last - first) * step < 0:
        raise RuntimeError(f"arange: upper bound and lower bound inconsistent with step sign: {first}, {last}, {step}")
    if floating and not math.isfinite(last - first):
        raise RuntimeError(f"arange: unsupported range: {first} -> {last}")
    natural = get_default_dtype() if floating else int64
    count = math.ceil((last - first) / step) if floating else -((first - last) // step)
    return (whole(count),), natural if dtype is None else as_dtype(dtype)


@factory()
def eye(n: int, m: int | None = None, dtype: dtype | None = None) -> Array:
    """A matrix with ones on the diagonal, zeros elsewhere, of `n` rows and `m` columns (n unless given); `dtype` is the
    default dtype unless given.

    >>> torch.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    sizes, element = _eye_rule(n, m, dtype)
    return np.eye(*sizes, dtype=element.numpy)


@eye.shape_rule
def _eye_rule(n: int, m: int | None, dtype: dtype | None) -> tuple[Ints, dtype]:
    sizes = (whole(n), whole(n if m is None else m))
    if any(size < 0 for size in sizes):
        raise RuntimeError(f"eye: n and m must be greater or equal to 0, got {sizes}")
    return sizes, as_dtype(dtype or get_default_dtype())


# ------------------------------------------------------------------------------------------ by sizes alone


def _shape(name: str, sizes: tuple[Any, ...], size: Any) -> Any:
    """The sizes, given one by one, as one sequence, or by keyword. TypeError if there are none."""
    if size is None and not sizes:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"; {name}(()) makes a 0-d tensor')
    return _sized(sizes) if size is None else size


@composite()
def zeros(*sizes: Any, size: Any = None, dtype: dtype | None = None, **options: Any) -> Tensor:
    """A tensor of zeros. `size` is given as numbers or as one tuple; `dtype` is the default dtype unless given.

    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    >>> torch.zeros((2,), dtype=torch.int64)
    tensor([0, 0])
    """
    return full(_shape("zeros", sizes, size), 0, dtype or get_default_dtype(), **options)


@composite()
def ones(*sizes: Any, size: Any = None, dtype: dtype | None = None, **options: Any) -> Tensor:
    """A tensor of ones. `size` is given as numbers or as one tuple; `dtype` is the default dtype unless given.

    >>> torch.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    return full(_shape("ones", sizes, size), 1, dtype or get_default_dtype(), **options)


@composite()
def empty(
    *sizes: Any,
    size: Any = None,
    dtype: dtype | None = None,
    memory_format: Format | None = None,
    **options: Any,
) -> Tensor:
    """A tensor whose values don't matter. Here they are zeros, so that a program that forgets to fill it stays
    repeatable.

    `size` is given as numbers or as one tuple; `dtype` is the default dtype unless given; `memory_format` is the order
    in which its elements lie.

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    shape = sizes_of("empty", _shape("empty", sizes, size))
    if memory_format is preserve_format:
        raise RuntimeError("empty: preserve_format has nothing to preserve; name the format that is meant")
    return dense(
        shape, strides_in(memory_format or contiguous_format, shape), 0, dtype or get_default_dtype(), **options
    )


@composite()
def empty_strided(size: Ints, stride: Ints, *, dtype: dtype | None = None, **options: Any) -> Any:
    """A tensor of these strides whose values don't matter (zeros, as in empty)."""
    shape, steps = sizes_of("empty_strided", size), tuple(stride)
    if len(shape) != len(steps) or any(step < 0 for step in steps):
        raise RuntimeError(f"empty_strided: size and stride must have one length, strides be >= 0: {shape}, {steps}")
    span = 1 + sum((n - 1) * step for n, step in zip(shape, steps)) if 0 not in shape else 0
    return full((span,), 0, dtype or get_default_dtype(), **options).as_strided(shape, steps)


@composite()
def empty_permuted(size: Ints, physical_layout: Ints, *, dtype: dtype | None = None, **options: Any) -> Any:
    """A dense tensor whose memory runs through the dimensions in the order of `physical_layout`, slowest first."""
    shape = sizes_of("empty_permuted", size)
    if sorted(physical_layout) != list(builtins.range(len(shape))):
        raise RuntimeError(f"empty_permuted: physical_layout must name each dimension once, got {physical_layout}")
    steps = contiguous_strides(tuple(shape[d] for d in physical_layout))
    stride = tuple(steps[tuple(physical_layout).index(d)] for d in builtins.range(len(shape)))
    return dense(shape, stride, 0, dtype or get_default_dtype(), **options)


def dense(size: Ints, stride: Ints, fill_value: Scalar, dtype: Any, **options: Any) -> Any:
    """A tensor of one value; `full`, unless it must lie in memory in another order."""
    if stride == contiguous_strides(size):
        return full(size, fill_value, dtype, **options)
    return full_strided(size, stride, fill_value, as_dtype(dtype), **options)


@composite()
def scalar_tensor(s: Scalar, *, dtype: dtype | None = None, **options: Any) -> Any:
    """A 0-d tensor, of the default dtype unless given."""
    return full((), s, dtype or get_default_dtype(), **options)


# ------------------------------------------------------------------------------------------ sequences of numbers


def _end(name: str, value: Any) -> Any:
    """An end of the sequence as a number. RuntimeError for a tensor that has dimensions."""
    if not isinstance(value, TensorBase):
        return value
    if value.sizes:
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, got sizes {list(value.sizes)}")
    return value.item()  # type: ignore[attr-defined]


@composite()
def linspace(start: Any, end: Any, steps: int, *, dtype: dtype | None = None, **options: Any) -> Tensor:
    """`steps` values at equal distances from `start` to `end`, both included. `dtype` is the default dtype unless
    given. RuntimeError for a negative number of steps.

    >>> torch.linspace(0, 1, steps=5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if steps < 0:
        raise RuntimeError(f"linspace: number of steps must be non-negative, got {steps}")
    leaf = options.pop("requires_grad", False)
    return _as_leaf(_equidistant(_end("linspace", start), _end("linspace", end), steps, **options), dtype, leaf)


def _equidistant(start: float, end: float, steps: int, **options: Any) -> Any:
    """In float64, counted from the nearer end, so that both ends are exact."""
    index = arange(0, steps, dtype=float64, **options)
    step = (end - start) / max(steps - 1, 1)
    return where(index < steps // 2 + (steps == 1), index * step + start, (steps - 1 - index) * -step + end)


@composite()
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: dtype | None = None, **options: Any
) -> Tensor:
    """base to the power of `linspace(start, end, steps)`."""
    if steps < 0:
        raise RuntimeError(f"logspace: number of steps must be non-negative, got {steps}")
    leaf = options.pop("requires_grad", False)
    exponents = _equidistant(_end("logspace", start), _end("logspace", end), steps, **options)
    return _as_leaf(pow(float(base), exponents), dtype, leaf)


def _as_leaf(x: Any, dtype: dtype | None, requires_grad: bool) -> Any:
    """What was computed in float64, in the dtype asked for. Only this last tensor may require grad: it is the leaf."""
    natural = get_default_dtype().to_complex() if x.dtype.is_complex else get_default_dtype()
    element = natural if dtype is None else as_dtype(dtype)
    if x.dtype.is_complex and not element.is_complex:
        raise RuntimeError(f"linspace: inferred dtype {natural} can't be safely cast to passed dtype {element}")
    result = to_copy(x, element)
    if requires_grad:
        result.requires_grad = True
    return result


@composite()
def range(start: Any, end: Any, step: Any = 1, *, dtype: dtype | None = None, **options: Any) -> Any:
    """start, start + step, ... up to and with end, in the default dtype. PyTorch advises arange."""
    if step == 0 or (end - start) * step < 0:
        raise RuntimeError(f"range: upper bound and lower bound inconsistent with step sign: {start}, {end}, {step}")
    count = math.floor((end - start) / step) + 1
    numbers = arange(0, count, dtype=float64, **options) * step + start
    return to_copy(numbers, as_dtype(dtype or get_default_dtype()))


@composite()
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: dtype = int64, **options: Any) -> Any:
    """The rows and columns of the elements on and below a diagonal, in row-major order: sizes (2, count)."""
    count = _count_below("tril_indices", row, col, offset)
    return _places(lambda: _lower(row, col, offset), count, dtype, options)


@composite()
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: dtype = int64, **options: Any) -> Any:
    """The rows and columns of the elements on and above a diagonal, in row-major order: sizes (2, count)."""
    count = row * col - _count_below("triu_indices", row, col, offset - 1)
    return _places(lambda: ~_lower(row, col, offset - 1), count, dtype, options)


def _count_below(name: str, row: int, col: int, offset: int) -> int:
    """How many elements of a matrix are on or below the diagonal. RuntimeError for negative sizes."""
    if row < 0 or col < 0:
        raise RuntimeError(f"{name}: row and col must be non-negative, got {row} and {col}")
    first = min(max(-offset, 0), row)  # the first row with one, and the first with all
    full = min(max(col - offset - 1, first), row)
    return (full - first) * (first + full + 2 * offset + 1) // 2 + (row - full) * col


def _lower(row: int, col: int, offset: int) -> Array:
    """Where a matrix is on or below the diagonal."""
    return np.tri(row, col, offset, dtype=np.bool_)


def _places(mask: Callable[[], Array], count: int, dtype: dtype, options: dict[str, Any]) -> Any:
    if options.get("device") is None and entered.devices:
        options["device"] = entered.devices[-1]
    element = as_dtype(dtype)
    if options.get("device") is not None and Device(options["device"]).type == "meta":
        return with_options(empty_fake((2, count), None, element, META), **options)
    return with_options(converted_by_modes(wrap(np.stack(np.nonzero(mask())).astype(element.numpy))), **options)
