"""Copies of tensors: in another dtype, in another order of memory, on another device.

>>> from minitorch_compile.tensor import arange, float32
>>> x = arange(6).view(2, 3).t()
>>> clone(x).stride(), contiguous_copy(x).stride(), to(x, float32).dtype, to(x, x.dtype) is x
((1, 3), (2, 1), torch.float32, True)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, kernel_op, transfer
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.dispatch.strided_results import empty_like_strides
from minitorch_compile.tensor.dispatch.tensor_options import on_device
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.memory_format import (
    contiguous_format,
    copy_strides,
    is_in_format,
    memory_format,
    preserve_format,
    suggested_format,
)
from minitorch_compile.tensor.memory.strides import broadcast_sizes, is_contiguous
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY, as_dtype, dtype
from minitorch_compile.tensor.numerics.element_conversion import castable, element_of
from minitorch_compile.tensor.ops.reinterpretation import same_bytes
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Format = memory_format


def _strides(input: TensorBase, format: Format | None) -> tuple[int, ...]:
    return copy_strides(format, tuple(input.sizes), input.strides)


def _copied(input: Array, element: np.dtype, format: Format | None) -> Array:
    """The elements in a new array that lies in memory as `format` says."""
    input = castable(input, element)
    if format is None or format is preserve_format:
        return input.astype(element, order="K")
    strides = copy_strides(format, input.shape, ())
    result = empty_like_strides(input.shape, strides, element)
    np.copyto(result, input, casting="unsafe")
    return result


@kernel_op("copy", methods=True)
def clone(input: Array, memory_format: Format | None = None) -> Array:
    """A copy with storage of its own, through which gradients flow. Strides are kept, as far as the elements are dense,
    unless `memory_format` says another order.

    >>> x = torch.zeros(2)
    >>> y = x.clone()
    >>> y[0] = 1
    >>> x, y
    (tensor([0., 0.]), tensor([1., 0.]))
    """
    return _copied(input, input.dtype, memory_format)


@clone.shape_rule
def _clone_rule(input: TensorBase, memory_format: Format | None = None) -> TensorBase:
    return empty_fake(input.sizes, _strides(input, memory_format), input.dtype)


@kernel_op("copy", torch=False)
def to_copy(input: Array, dtype: dtype, memory_format: Format | None = None) -> Array:
    """A copy in another dtype. Floats become integers by dropping the fraction."""
    return _copied(input, dtype.numpy, memory_format)


@to_copy.shape_rule
def _to_copy_rule(input: TensorBase, dtype: dtype, memory_format: Format | None = None) -> TensorBase:
    return empty_fake(input.sizes, _strides(input, memory_format), as_dtype(dtype))


@kernel_op("copy", torch=False)
def contiguous_copy(input: Array) -> Array:
    """A copy in row-major order."""
    return input.copy(order="C")


@contiguous_copy.shape_rule
def _contiguous_copy_rule(input: TensorBase) -> TensorBase:
    return empty_fake(input.sizes, None, input.dtype)


@transfer()
def to_device(input: Tensor, device: Device, non_blocking: bool = False) -> Any:
    """A copy on another device, through which gradients flow back. `non_blocking`: the program goes on while a GPU
    copies from pinned memory, or into it."""


@composite(torch=False, methods=True)
def contiguous(input: Tensor, memory_format: Format = contiguous_format) -> Any:
    """The tensor itself if its elements lie in row-major order (or that of `memory_format`), else a copy in which they
    do.

    RuntimeError for preserve_format if there is a copy to make, and for a format of another number of dimensions.

    >>> x = torch.zeros(2, 3).t()
    >>> x.is_contiguous(), x.contiguous().is_contiguous()
    (False, True)
    """
    if memory_format is contiguous_format:
        return input if is_contiguous(input.sizes, input.strides) else contiguous_copy(input)
    if memory_format is preserve_format:
        if is_contiguous(input.sizes, input.strides):
            return input
        raise RuntimeError("contiguous: preserve memory format is unsupported by the contiguous operator")
    if is_in_format(input.sizes, input.strides, memory_format):
        return input
    return clone(input, memory_format)


@kernel_op("copy", torch=False, methods=False, inplace=True)
def copy(input: Array, other: Array, non_blocking: bool = False) -> Array:
    """`other` in the sizes, strides and dtype of `input`: the value that `input.copy_(other)` stores.

    This is done in the memory of the tensor, which is returned; sizes broadcast, dtypes are converted. `non_blocking`:
    the program goes on while a GPU copies from pinned memory; on a CPU it has no effect.

    >>> x = torch.zeros(2, 2)
    >>> x.copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    result = empty_like_strides(input.shape, [s // input.itemsize for s in input.strides], input.dtype)
    np.copyto(result, castable(other, input.dtype), casting="unsafe")
    return result


@copy.shape_rule
def _copy_rule(input: TensorBase, other: TensorBase, non_blocking: bool = False) -> TensorBase:
    if not isinstance(other, TensorBase):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    if broadcast_sizes(input.sizes, other.sizes) != input.sizes:
        raise RuntimeError(
            f"copy_: the sizes {list(other.sizes)} of other don't expand to the sizes {list(input.sizes)} of the tensor"
            " written to"
        )
    return empty_fake(input.sizes, _strides(input, None), input.dtype)


@kernel_op("copy", torch=True, inplace=True, inplace_function=True)
def fill(input: Array, value: Scalar) -> Array:
    """One `value` in the sizes and dtype of `input`: what `input.fill_(value)` stores.

    >>> torch.zeros(2).fill_(3), torch.fill(torch.tensor([1, 2]), 7)
    (tensor([3., 3.]), tensor([7, 7]))
    """
    return np.full_like(input, element_of(value, FROM_NUMPY[input.dtype]))


@fill.shape_rule
def _fill_rule(input: TensorBase, value: Scalar) -> TensorBase:
    element_of(value, input.dtype)
    return empty_fake(input.sizes, _strides(input, None), input.dtype)


@composite(methods=True)
def zero_(input: Tensor) -> Any:
    """Stores 0 everywhere, and returns the tensor.

    >>> torch.ones(2).zero_()
    tensor([0., 0.])
    """
    return input.fill_(0)


# ----------------------------------------------------------------------------------------------------- conversions


@composite(torch=False, methods=True)
def to(
    input: Tensor,
    *args: Any,
    device: Any = None,
    dtype: dtype | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Format | None = None,
) -> Any:
    """The tensor in another `dtype`, on another `device`, in another format: itself if nothing changes and not `copy`.

    As in PyTorch: `args` are to(dtype), to(device, dtype) or to(other), each followed by non_blocking, copy.
    `memory_format` is the order in which its elements lie. `non_blocking`: the program goes on while a GPU copies from
    pinned memory, or into it, which the result lies in then; torch.cuda.synchronize() waits. On a CPU it has no effect.
    TypeError for what is none of these, RuntimeError for a device that isn't there.

    >>> x = torch.tensor([1.5, 2.5])
    >>> x.to(torch.int64), x.to("cpu") is x
    (tensor([1, 2]), True)
    """
    flags = [arg for arg in args if isinstance(arg, bool)]
    for arg in args:
        if isinstance(arg, TensorBase):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, (str, Device)) or (isinstance(arg, int) and not isinstance(arg, bool)):
            device = arg
        elif arg is not None and not isinstance(arg, bool):
            dtype = as_dtype(arg)
    non_blocking, copy = [*flags, *(non_blocking, copy)[len(flags) :]]
    return _converted(
        on_device(input, device, non_blocking),
        input,
        as_dtype(dtype or input.dtype),
        copy,
        memory_format or preserve_format,
    )


def _converted(moved: TensorBase, input: TensorBase, target: dtype, copy: bool, format: Format) -> Any:
    same_format = format is preserve_format or suggested_format(moved.sizes, moved.strides) is format
    if target is moved.dtype and same_format and not (copy and moved is input):
        return moved
    explicit = None if format is preserve_format else format
    return clone(moved, explicit) if target is moved.dtype else to_copy(moved, target, explicit)


@composite(torch=False, methods=True)
def type_as(input: Tensor, other: Tensor) -> Any:
    """The tensor in the dtype of `other`: itself if it has that.

    >>> torch.tensor([1.7]).type_as(torch.tensor([0]))
    tensor([1])
    """
    return to(input, other.dtype)


@same_bytes
def view_dtype(input: Array, dtype: dtype) -> Array:
    """The same bytes as elements of another dtype, sharing memory. The last dimension grows or shrinks to fit."""
    return input.view(dtype.numpy)


@view_dtype.shape_rule
def _view_dtype_rule(input: TensorBase, dtype: dtype) -> TensorBase:
    old, new = input.dtype.itemsize, dtype.itemsize
    sizes, strides = list(input.sizes), list(input.strides)
    if old == new:
        return empty_fake(sizes, strides, dtype)
    if not sizes:
        raise RuntimeError(
            f"self.dim() cannot be 0 to view {input.dtype} as {dtype} (different element sizes); unsqueeze it first"
        )
    if strides[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 to view {input.dtype} as {dtype}, but got {strides[-1]}")
    if (sizes[-1] * old) % new or any(step * old % new for step in strides[:-1]):
        raise RuntimeError(
            f"self.size(-1) and the strides must be divisible by {new // max(old, 1)} to view {input.dtype} as {dtype}"
            f" (different element sizes), but got sizes {sizes} and strides {strides}"
        )
    sizes[-1] = sizes[-1] * old // new
    return empty_fake(sizes, [*(step * old // new for step in strides[:-1]), 1], dtype)
