"""Tensors that take after another one: its sizes, dtype, device and order of memory (`_like`), or its dtype and device
(`new_`).

>>> from minitorch_compile.tensor import arange
>>> x = arange(6).view(2, 3)
>>> zeros_like(x.t()).stride(), x.new_full((2,), 7), x.new_tensor([1.5])
((1, 3), tensor([7, 7]), tensor([1]))
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.dispatch.op import Scalar, Tensor
from minitorch_compile.tensor.memory.device import entered
from minitorch_compile.tensor.memory.memory_format import copy_strides, memory_format, preserve_format
from minitorch_compile.tensor.numerics.dtype import as_dtype, dtype
from minitorch_compile.tensor.ops.creation import _sized, dense, empty_strided, full
from minitorch_compile.tensor.tensor_base import TensorBase

Ints = tuple[int, ...]
Format = memory_format

_NOTHING = nullcontext()


def _like(name: str, input: Any, value: Scalar, dtype: dtype | None, format: Format | None, options: Any) -> Any:
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    sizes = tuple(input.sizes)
    strides = copy_strides(format, sizes, tuple(input.strides))
    with _as_real_as(input):
        made = dense(sizes, strides, value, as_dtype(dtype or input.dtype), **_beside(input, options))
    return input.in_each_example(made)


def _as_real_as(input: TensorBase) -> AbstractContextManager[Any]:
    """Inside, tensors are fake if `input` came from a FakeTensorMode, though that has been left."""
    return _NOTHING if input.fake_mode is None or stacks.modes else input.fake_mode


def _beside(input: TensorBase, options: dict[str, Any]) -> dict[str, Any]:
    """The tensor options, with the input's device for one that isn't given."""
    if options.get("device") is None and (input.device.type != "cpu" or entered.devices):
        return {**options, "device": input.device}
    return options


@composite()
def zeros_like(
    input: Tensor, *, dtype: dtype | None = None, memory_format: Format = preserve_format, **options: Any
) -> Tensor:
    """Zeros in the sizes, dtype and layout of `input`; `dtype` and `memory_format` may say another.

    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """
    return _like("zeros_like", input, 0, dtype, memory_format, options)


@composite()
def ones_like(
    input: Tensor, *, dtype: dtype | None = None, memory_format: Format = preserve_format, **options: Any
) -> Tensor:
    """Ones in the sizes, dtype and layout of `input`; `dtype` and `memory_format` may say another.

    >>> torch.ones_like(torch.tensor([5, 6]))
    tensor([1, 1])
    """
    return _like("ones_like", input, 1, dtype, memory_format, options)


@composite()
def full_like(
    input: Tensor,
    fill_value: Scalar,
    *,
    dtype: dtype | None = None,
    memory_format: Format = preserve_format,
    **options: Any,
) -> Tensor:
    """One value, `fill_value`, in the sizes, dtype and layout of `input`; `dtype` and `memory_format` may say another.

    >>> torch.full_like(torch.zeros(2), 7.0)
    tensor([7., 7.])
    """
    return _like("full_like", input, fill_value, dtype, memory_format, options)


@composite()
def empty_like(
    input: Tensor, *, dtype: dtype | None = None, memory_format: Format = preserve_format, **options: Any
) -> Tensor:
    """A tensor in the sizes, dtype and layout of `input` whose values don't matter (zeros, as in empty); `dtype` and
    `memory_format` may say another.

    >>> torch.empty_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return _like("empty_like", input, 0, dtype, memory_format, options)


@composite(torch=False, methods=True)
def new_zeros(input: Tensor, *sizes: Any, size: Any = None, dtype: dtype | None = None, **options: Any) -> Any:
    """Zeros of the given `size`, in this tensor's dtype unless `dtype` is given.

    >>> torch.tensor([1, 2]).new_zeros(3)
    tensor([0, 0, 0])
    """
    return new_full(input, _sized(sizes) if size is None else size, 0, dtype=dtype, **options)


@composite(torch=False, methods=True)
def new_ones(input: Tensor, *sizes: Any, size: Any = None, dtype: dtype | None = None, **options: Any) -> Any:
    """Ones of the given `size`, in this tensor's dtype unless `dtype` is given.

    >>> torch.tensor([5, 6]).new_ones(3)
    tensor([1, 1, 1])
    """
    return new_full(input, _sized(sizes) if size is None else size, 1, dtype=dtype, **options)


@composite(torch=False, methods=True)
def new_empty(input: Tensor, *sizes: Any, size: Any = None, dtype: dtype | None = None, **options: Any) -> Any:
    """A tensor of the given `size` whose values don't matter (zeros, as in empty), in this tensor's dtype unless
    `dtype` is given.

    >>> torch.tensor([1]).new_empty(2, 3).shape
    torch.Size([2, 3])
    """
    return new_full(input, _sized(sizes) if size is None else size, 0, dtype=dtype, **options)


@composite(torch=False, methods=True)
def new_full(input: Tensor, size: Ints, fill_value: Scalar, *, dtype: dtype | None = None, **options: Any) -> Any:
    """One value, `fill_value`, in sizes `size`, in this tensor's dtype unless `dtype` is given.

    >>> torch.tensor([1.0]).new_full((2,), 7)
    tensor([7., 7.])
    """
    with _as_real_as(input):
        made = full(size, fill_value, dtype or input.dtype, **_beside(input, options))
    return input.in_each_example(made)


@composite(torch=False, methods=True)
def new_empty_strided(input: Tensor, size: Ints, stride: Ints, *, dtype: dtype | None = None, **options: Any) -> Any:
    """A tensor of these sizes and strides whose values don't matter."""
    with _as_real_as(input):
        made = empty_strided(size, stride, dtype=dtype or input.dtype, **_beside(input, options))
    return input.in_each_example(made)


@composite(torch=False, methods=True)
def new_tensor(input: Tensor, data: Any, *, dtype: dtype | None = None, **options: Any) -> Any:
    """A copy of `data` as a tensor in this tensor's dtype unless `dtype` is given.

    >>> torch.tensor([1.5]).new_tensor([1, 2])
    tensor([1., 2.])
    """
    from minitorch_compile.tensor.ops.construct import tensor

    if isinstance(data, TensorBase) and not options:
        return data.detach().to(dtype or input.dtype, copy=True)  # type: ignore[attr-defined]
    with _as_real_as(input):
        return tensor(data, dtype=dtype or input.dtype, **_beside(input, options))
