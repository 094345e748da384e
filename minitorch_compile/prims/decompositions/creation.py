"""Tensors from sizes and numbers, and copies.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import ops
>>> print(decomposed(ops.arange, 1, 7, 2).compact())
 -> iota(3, 1, 2, torch.int64)
"""

from __future__ import annotations

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes, refuses
from minitorch_compile.prims.elementwise import broadcast_to, constant, copied, number_like
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.memory_format import memory_format
from minitorch_compile.tensor.numerics.dtype import as_dtype, bool_, dtype, int64


@decomposes(ops.full)
def _(size: tuple[int, ...], fill_value: float, dtype: dtype | None) -> Tensor:
    """The prim."""
    like = ops.full.meta(size, fill_value, dtype)
    return constant(like.sizes, fill_value, like.dtype)


@decomposes(ops.arange)
def _(start: float, end: float | None, step: float, dtype: dtype | None) -> Tensor:
    """The prim, told how many elements there are."""
    like = ops.arange.meta(start, end, step, dtype)
    return prims.iota(like.sizes[0], 0 if end is None else start, step, like.dtype)


@decomposes(ops.eye)
def _(n: int, m: int | None, dtype: dtype | None) -> Tensor:
    """Where row = column."""
    like = ops.eye.meta(n, m, dtype)
    rows, columns = (prims.iota(length, 0, 1, int64) for length in like.sizes)
    sizes = tuple(like.sizes)
    on_diagonal = prims.eq(prims.broadcast_in_dim(rows, sizes, (0,)), prims.broadcast_in_dim(columns, sizes, (1,)))
    return on_diagonal if like.dtype is bool_ else prims.convert_element_type(on_diagonal, like.dtype)


@decomposes(ops.full_strided)
def _(size: tuple[int, ...], stride: tuple[int, ...], fill_value: float, dtype: dtype) -> Tensor:
    """The prim; its layout is its own affair."""
    return constant(size, fill_value, dtype)


@decomposes(ops.clone)
def _(x: Tensor, memory_format: memory_format | None) -> Tensor:
    """A new tensor; its layout is its own affair."""
    return copied(x)


@decomposes(ops.to_copy)
def _(x: Tensor, dtype: dtype, memory_format: memory_format | None) -> Tensor:
    """The prim."""
    return prims.convert_element_type(x, as_dtype(dtype))


refuses(
    ops.to_device,
    because="a kernel computes on one device; what goes from one to another is copied between kernels",
)


@decomposes(ops.contiguous_copy)
def _(x: Tensor) -> Tensor:
    """A new tensor; its layout is its own affair."""
    return copied(x)


@decomposes(ops.copy)
def _(x: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    """`src` in the sizes and dtype of x."""
    return broadcast_to(prims.convert_element_type(src, x.dtype), x.sizes)


@decomposes(ops.fill)
def _(x: Tensor, value: float) -> Tensor:
    """One value in the sizes and dtype of x."""
    return number_like(x, value)
