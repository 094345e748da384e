"""Prims that move elements without computing: each result element is an element of the input (or the padding value).

>>> from minitorch_compile.tensor import arange, tensor
>>> broadcast_in_dim(tensor([1, 2]), (2, 3), (0,))
tensor([[1, 1, 1],
        [2, 2, 2]])
>>> slice(arange(6), (1,), (6,), (2,)), rev(arange(3), (0,)), pad(arange(2), (1,), (0,), 7)
(tensor([1, 3, 5]), tensor([2, 1, 0]), tensor([7, 0, 1]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.prims.prim import (
    check_dim,
    check_dims,
    check_dtype,
    check_ints,
    check_tensor,
    describe,
    prim,
    refuse,
)
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


def _broadcast_rule(name: str, x: Any, sizes: Ints, broadcast_dimensions: Ints) -> TensorBase:
    check_tensor(name, "x", x)
    check_ints(name, "sizes", sizes, len(sizes))
    target = empty_fake(sizes, None, x.dtype)
    check_dims(name, "broadcast_dimensions", broadcast_dimensions, target)
    fits = len(broadcast_dimensions) == len(x.sizes)
    if not fits or any(n not in (1, sizes[d]) for n, d in zip(x.sizes, broadcast_dimensions, strict=True)):
        raise refuse(
            name, "x", f"of sizes that fit the dimensions {broadcast_dimensions} of {list(sizes)}", describe(x)
        )
    return target


@prim("view", _broadcast_rule, dtypes="any", sizes="sizes")
def broadcast_in_dim(x: Array, sizes: Ints, broadcast_dimensions: Ints) -> Array:
    """x repeated to `sizes`: its dimension i becomes broadcast_dimensions[i], which has its size, or any if it is 1."""
    aligned = [1] * len(sizes)
    for size, dim in zip(x.shape, broadcast_dimensions, strict=True):
        aligned[dim] = size
    return np.broadcast_to(x.reshape(aligned), sizes).copy()


def _transpose_rule(name: str, x: Any, permutation: Ints) -> TensorBase:
    check_tensor(name, "x", x)
    if not isinstance(permutation, tuple) or sorted(permutation) != list(range(len(x.sizes))):
        raise refuse(name, "permutation", f"a tuple that names each dimension of x, {describe(x)}, once", permutation)
    return empty_fake([x.sizes[d] for d in permutation], None, x.dtype)


@prim("view", _transpose_rule, dtypes="any", sizes="those of x, in that order")
def transpose(x: Array, permutation: Ints) -> Array:
    """The dimensions in another order: dimension i of the result is dimension permutation[i] of x."""
    return np.ascontiguousarray(x.transpose(permutation)) if x.ndim else x.copy()


def _reshape_rule(name: str, x: Any, sizes: Ints) -> TensorBase:
    check_tensor(name, "x", x)
    check_ints(name, "sizes", sizes, len(sizes))
    if numel(sizes) != numel(x.sizes):
        raise refuse(name, "sizes", f"the sizes of {numel(x.sizes)} elements, as x, {describe(x)}, has", sizes)
    return empty_fake(sizes, None, x.dtype)


@prim("view", _reshape_rule, dtypes="any", sizes="sizes")
def reshape(x: Array, sizes: Ints) -> Array:
    """The same elements in the same row-major order under other sizes."""
    return x.copy(order="C").reshape(sizes)


def _slice_rule(name: str, x: Any, start_indices: Ints, limit_indices: Ints, strides: Ints) -> TensorBase:
    check_tensor(name, "x", x)
    ndim = len(x.sizes)
    check_ints(name, "start_indices", start_indices, ndim)
    check_ints(name, "limit_indices", limit_indices, ndim)
    check_ints(name, "strides", strides, ndim, least=1)
    if any(not a <= b <= n for a, b, n in zip(start_indices, limit_indices, x.sizes, strict=True)):
        raise refuse(
            name, "limit_indices", f"between start_indices {start_indices} and x's sizes {list(x.sizes)}", limit_indices
        )
    return empty_fake(
        [-((a - b) // step) for a, b, step in zip(start_indices, limit_indices, strides, strict=True)], None, x.dtype
    )


@prim("view", _slice_rule, dtypes="any", sizes="(limit - start) / stride, rounded up")
def slice(x: Array, start_indices: Ints, limit_indices: Ints, strides: Ints) -> Array:
    """In each dimension every strides-th index from start_indices up to, but without, limit_indices."""
    bounds = zip(start_indices, limit_indices, strides, strict=True)
    return x[tuple(np.s_[start:limit:step] for start, limit, step in bounds)].copy(order="C")


def _squeeze_rule(name: str, x: Any, dims: Ints) -> TensorBase:
    check_tensor(name, "x", x)
    check_dims(name, "dims", dims, x)
    if any(x.sizes[d] != 1 for d in dims):
        raise refuse(name, "dims", f"dimensions of size 1 of x, {describe(x)}", dims)
    return empty_fake([n for d, n in enumerate(x.sizes) if d not in dims], None, x.dtype)


@prim("view", _squeeze_rule, dtypes="any", sizes="those of x without dims")
def squeeze(x: Array, dims: Ints) -> Array:
    """Without these dimensions, all of size 1."""
    return np.squeeze(x, dims).copy(order="C")


def _rev_rule(name: str, x: Any, dims: Ints) -> TensorBase:
    check_tensor(name, "x", x)
    check_dims(name, "dims", dims, x)
    return empty_fake(x.sizes, None, x.dtype)


@prim("view", _rev_rule, dtypes="any", sizes="those of x")
def rev(x: Array, dims: Ints) -> Array:
    """The elements in reverse order along these dimensions."""
    return np.flip(x, dims).copy(order="C")


def _cat_rule(name: str, tensors: Any, dim: int) -> TensorBase:
    if not isinstance(tensors, (list, tuple)) or not tensors:
        raise refuse(name, "tensors", "a non-empty list of tensors", describe(tensors))
    for position, x in enumerate(tensors):
        check_tensor(name, f"tensors[{position}]", x)
    first = tensors[0]
    check_dim(name, "dim", dim, first)
    for position, x in enumerate(tensors):
        other_sizes = [(n, m) for d, (n, m) in enumerate(zip(x.sizes, first.sizes, strict=False)) if d != dim]
        if x.dtype is not first.dtype or len(x.sizes) != len(first.sizes) or any(n != m for n, m in other_sizes):
            raise refuse(
                name,
                f"tensors[{position}]",
                f"like tensors[0], {describe(first)}, but for dimension {dim}",
                describe(x),
            )
    total = sum(x.sizes[dim] for x in tensors)
    return empty_fake([total if d == dim else n for d, n in enumerate(first.sizes)], None, first.dtype)


@prim("joining", _cat_rule, dtypes="any", sizes="those of the first tensor, but the sum along dim")
def cat(tensors: Sequence[Array], dim: int) -> Array:
    """Tensors one after another along a dimension."""
    return np.concatenate(tensors, dim)


def _pad_rule(name: str, x: Any, low: Ints, high: Ints, value: Any) -> TensorBase:
    check_tensor(name, "x", x)
    check_ints(name, "low", low, len(x.sizes))
    check_ints(name, "high", high, len(x.sizes))
    if not isinstance(value, (bool, int, float, complex) if x.dtype.is_complex else (bool, int, float)):
        raise refuse(name, "value", "a number", describe(value))
    return empty_fake([a + n + b for a, n, b in zip(low, x.sizes, high, strict=True)], None, x.dtype)


@prim("view", _pad_rule, dtypes="any", sizes="low + those of x + high")
def pad(x: Array, low: Ints, high: Ints, value: float) -> Array:
    """x with low[d] elements of `value` before it and high[d] behind it, in each dimension d."""
    return np.pad(x, tuple(zip(low, high, strict=True)), constant_values=value) if x.ndim else x.copy()


def _view_element_type_rule(name: str, x: Any, dtype: Any) -> TensorBase:
    check_tensor(name, "x", x)
    check_dtype(name, "dtype", dtype)
    if dtype.itemsize == x.dtype.itemsize:
        return empty_fake(x.sizes, None, dtype)
    if not x.sizes or (x.sizes[-1] * x.dtype.itemsize) % dtype.itemsize:
        raise refuse(name, "x", f"of rows whose bytes are elements of {dtype}", describe(x))
    return empty_fake((*x.sizes[:-1], x.sizes[-1] * x.dtype.itemsize // dtype.itemsize), None, dtype)


@prim(
    "view",
    _view_element_type_rule,
    dtypes="any -> any",
    sizes="those of x; the last grows or shrinks as elements shrink or grow",
)
def view_element_type(x: Array, dtype: dtype) -> Array:
    """The bytes of each row as elements of another dtype; if that has another size, the last dimension changes."""
    return x.copy(order="C").view(dtype.numpy)
