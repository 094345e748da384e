"""Tensors from sizes and numbers, and copies of tensors in another dtype or layout.

>>> zeros(2), arange(1, 7, 2), full((2,), 7)
(tensor([0., 0.]), tensor([1, 3, 5]), tensor([7, 7]))
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.tensor.declare import composite, factory, kernel_op
from minitorch_compile.tensor.device import META
from minitorch_compile.tensor.device import device as Device
from minitorch_compile.tensor.dtype import (
    FLOATING,
    as_dtype,
    dtype,
    dtype_of_scalar,
    float64,
    get_default_dtype,
    int64,
    promote_types,
)
from minitorch_compile.tensor.layout import empty_like_strides
from minitorch_compile.tensor.op import Array, Scalar, Tensor
from minitorch_compile.tensor.strides import broadcast_sizes, elementwise_strides, is_dense
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


def sizes_of(name: str, size: Any) -> Ints:
    """The sizes given as one int or a sequence. TypeError for others, RuntimeError for negative ones."""
    sizes = (size,) if isinstance(size, int) else tuple(size)
    if not all(isinstance(n, (int, np.integer)) for n in sizes):
        raise TypeError(f"{name}(): argument 'size' must be tuple of ints, but found {size!r}")
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"{name}: Trying to create tensor with negative dimension: {list(sizes)}")
    return tuple(int(n) for n in sizes)


# ---------------------------------------------------------------------------------------------------- factories


@factory()
def full(size: Ints, fill_value: Scalar, dtype: dtype | None = None) -> Array:
    """A tensor of one value; its dtype follows the value unless given."""
    return np.full(sizes_of("full", size), fill_value, _full_rule(size, fill_value, dtype)[1].numpy)


@full.shape_rule
def _full_rule(size: Ints, fill_value: Scalar, dtype: dtype | None) -> tuple[Ints, dtype]:
    return sizes_of("full", size), as_dtype(dtype) if dtype is not None else dtype_of_scalar(fill_value)


@factory()
def arange(start: Scalar, end: Scalar | None = None, step: Scalar = 1, dtype: dtype | None = None) -> Array:
    """start, start + step, ... up to but without end; arange(n) counts from 0. int64 unless an argument is a float."""
    (count,), element = _arange_rule(start, end, step, dtype)
    first = 0 if end is None else start
    return (first + step * np.arange(count, dtype=np.int64 if element.category < FLOATING else np.float64)).astype(
        element.numpy
    )


@arange.shape_rule
def _arange_rule(start: Scalar, end: Scalar | None, step: Scalar, dtype: dtype | None) -> tuple[Ints, dtype]:
    first, last = (0, start) if end is None else (start, end)
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if (last - first) * step < 0:
        raise RuntimeError(f"arange: upper bound and lower bound inconsistent with step sign: {first}, {last}, {step}")
    floating = any(isinstance(v, float) for v in (first, last, step))
    return (math.ceil((last - first) / step),), as_dtype(
        dtype
    ) if dtype is not None else get_default_dtype() if floating else int64


@factory()
def eye(n: int, m: int | None = None, dtype: dtype | None = None) -> Array:
    """Ones on the diagonal, zeros elsewhere."""
    return np.eye(n, n if m is None else m, dtype=(dtype or get_default_dtype()).numpy)


@eye.shape_rule
def _eye_rule(n: int, m: int | None, dtype: dtype | None) -> tuple[Ints, dtype]:
    return (n, n if m is None else m), dtype or get_default_dtype()


def _sized(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 and not isinstance(size[0], int) else size


@composite()
def zeros(*size: Any, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A tensor of zeros, of the default dtype unless given."""
    return _leaf(on_device(full(_sized(size), 0, dtype or get_default_dtype()), device), requires_grad)


@composite()
def ones(*size: Any, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A tensor of ones, of the default dtype unless given."""
    return _leaf(on_device(full(_sized(size), 1, dtype or get_default_dtype()), device), requires_grad)


@composite()
def empty(*size: Any, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A tensor whose values don't matter. Here they are zeros, so that a program that forgets to fill it stays
    repeatable."""
    return zeros(*size, dtype=dtype, device=device, requires_grad=requires_grad)


def _leaf(x: TensorBase, requires_grad: bool) -> TensorBase:
    if requires_grad:
        x.requires_grad_()  # type: ignore[attr-defined]
    return x


@composite()
def zeros_like(input: Tensor, dtype: dtype | None = None) -> Any:
    """Zeros in the sizes and dtype of `input`."""
    return full(tuple(input.sizes), 0, dtype or input.dtype)


@composite()
def ones_like(input: Tensor, dtype: dtype | None = None) -> Any:
    """Ones in the sizes and dtype of `input`."""
    return full(tuple(input.sizes), 1, dtype or input.dtype)


@composite()
def full_like(input: Tensor, fill_value: Scalar, dtype: dtype | None = None) -> Any:
    """One value in the sizes and dtype of `input`."""
    return full(tuple(input.sizes), fill_value, dtype or input.dtype)


@composite()
def empty_like(input: Tensor, dtype: dtype | None = None) -> Any:
    """A tensor in the sizes and dtype of `input` whose values don't matter (zeros, as in empty)."""
    return zeros_like(input, dtype)


@composite()
def linspace(start: float, end: float, steps: int, dtype: dtype | None = None) -> Any:
    """`steps` values at equal distances from start to end, both included."""
    if steps < 0:
        raise RuntimeError(f"linspace: number of steps must be non-negative, got {steps}")
    step = (end - start) / max(steps - 1, 1)
    return to_copy(add_start(arange(0, steps, dtype=float64), start, step), dtype or get_default_dtype())


def add_start(index: Any, start: float, step: float) -> Any:
    return index * step + start


# ---------------------------------------------------------------------------------------------------- copies


def _preserved(input: TensorBase) -> tuple[int, ...]:
    """The strides of a copy: the input's if it is dense, else dense ones in the same order of dimensions."""
    if is_dense(input.sizes, input.strides):
        return tuple(input.strides)
    return elementwise_strides(input.sizes, [(input.sizes, input.strides)])


@kernel_op("copy", methods=True)
def clone(input: Array) -> Array:
    """A copy with storage of its own."""
    return input.copy(order="K")


@clone.shape_rule
def _clone_rule(input: TensorBase) -> TensorBase:
    return empty_fake(input.sizes, _preserved(input), input.dtype)


@kernel_op("copy", torch=False)
def to_copy(input: Array, dtype: dtype) -> Array:
    """A copy in another dtype. Floats become integers by dropping the fraction."""
    return input.astype(dtype.numpy, order="K")


@to_copy.shape_rule
def _to_copy_rule(input: TensorBase, dtype: dtype) -> TensorBase:
    return empty_fake(input.sizes, _preserved(input), as_dtype(dtype))


@kernel_op("copy", torch=False)
def contiguous_copy(input: Array) -> Array:
    """A copy in row-major order."""
    return input.copy(order="C")


@contiguous_copy.shape_rule
def _contiguous_copy_rule(input: TensorBase) -> TensorBase:
    return empty_fake(input.sizes, None, input.dtype)


@kernel_op("copy", torch=False, methods=False, inplace=True)
def copy(input: Array, src: Array) -> Array:
    """`src` in the sizes, strides and dtype of `input`: the value that `input.copy_(src)` stores."""
    result = empty_like_strides(input.shape, [s // input.itemsize for s in input.strides], input.dtype)
    np.copyto(result, src, casting="unsafe")
    return result


@copy.shape_rule
def _copy_rule(input: TensorBase, src: TensorBase) -> TensorBase:
    if broadcast_sizes(input.sizes, src.sizes) != input.sizes:
        raise RuntimeError(
            f"copy_: the sizes {list(src.sizes)} of src don't expand to the sizes {list(input.sizes)} of the tensor"
            " written to"
        )
    return empty_fake(input.sizes, _preserved(input), input.dtype)


@composite(torch=False, methods=True)
def to(input: Tensor, *args: Any, dtype: dtype | None = None, device: Any = None, copy: bool = False) -> Any:
    """The tensor in another dtype or on another device, given by name or position: itself if nothing changes.

    TypeError for what is neither, RuntimeError for a device that isn't there.
    """
    for arg in args:
        if isinstance(arg, TensorBase):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, (str, Device)):
            device = arg
        elif arg is not None and not isinstance(arg, bool):
            dtype = as_dtype(arg)
    moved = on_device(input, device)
    if dtype is None or dtype is input.dtype:
        return moved.clone() if copy and moved is input else moved
    return to_copy(moved, dtype)


def on_device(x: TensorBase, where: Any) -> Any:
    """The tensor on a device: itself if it is there, without its data on "meta". RuntimeError for an unknown device."""
    target = x.device if where is None else Device(where)
    if target.type == x.device.type:
        return x
    if target.type != "meta":
        raise RuntimeError(f"to: a tensor on {x.device} has no data that could be moved to {target}")
    return empty_fake(x.sizes, x.strides, x.dtype, META)


@composite(torch=False, methods=True)
def type_as(input: Tensor, other: Tensor) -> Any:
    """The tensor in the dtype of another."""
    return to(input, other.dtype)


@composite(torch=False, methods=True)
def new_zeros(input: Tensor, *size: Any, dtype: dtype | None = None) -> Any:
    """Zeros of the given sizes, in this tensor's dtype unless given."""
    return full(_sized(size), 0, dtype or input.dtype)


@composite(torch=False, methods=True)
def new_ones(input: Tensor, *size: Any, dtype: dtype | None = None) -> Any:
    """Ones of the given sizes, in this tensor's dtype unless given."""
    return full(_sized(size), 1, dtype or input.dtype)


@composite(torch=False, methods=True)
def new_full(input: Tensor, size: Ints, fill_value: Scalar, dtype: dtype | None = None) -> Any:
    """One value in the given sizes, in this tensor's dtype unless given."""
    return full(size, fill_value, dtype or input.dtype)


@kernel_op("copy", torch=False, inplace=True)
def fill(input: Array, value: Scalar) -> Array:
    """One value in the sizes and dtype of `input`: what `input.fill_(value)` stores."""
    return np.full_like(input, value)


@fill.shape_rule
def _fill_rule(input: TensorBase, value: Scalar) -> TensorBase:
    return empty_fake(input.sizes, _preserved(input), input.dtype)


@composite(torch=False, methods=True)
def zero_(input: Tensor) -> Any:
    """Stores 0 everywhere."""
    return input.fill_(0)


def result_type(a: TensorBase, b: TensorBase) -> dtype:
    """The dtype of an operation on two tensors with dimensions."""
    return promote_types(a.dtype, b.dtype)
