"""Prims that collapse dimensions. None keeps a dimension of size 1; `broadcast_in_dim` puts it back where it is wanted.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1.0, 2.0], [3.0, 4.0]])
>>> sum(x, (0, 1)), amax(x, (0,)), argmax(x, 1), scan(x, 0, "sum")
(tensor(10.), tensor([3., 4.]), tensor([1, 1]), tensor([[1., 2.],
        [4., 6.]]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.prims.prim import (
    FLOATS,
    IN_WORDS,
    NUMBERS,
    ORDERED,
    Kernel,
    Prim,
    check_dim,
    check_dims,
    check_tensor,
    describe,
    prim,
    refuse,
)
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


def reduction(categories: Sequence[int], empty: bool = True) -> Callable[[Kernel], Prim]:
    """A prim that collapses the dimensions `dims` and keeps the dtype. `empty`: whether no elements have a value."""

    def rule(name: str, x: Any, dims: Ints) -> TensorBase:
        check_tensor(name, "x", x, categories)
        check_dims(name, "dims", dims, x)
        if not empty and any(x.sizes[d] == 0 for d in dims):
            raise refuse(name, "dims", f"dimensions of non-zero size of x, {describe(x)}", dims)
        return empty_fake([n for d, n in enumerate(x.sizes) if d not in dims], None, x.dtype)

    return prim("reduction", rule, dtypes=IN_WORDS[tuple(categories)], sizes="those of x without dims")


@reduction(NUMBERS)
def sum(x: Array, dims: Ints) -> Array:
    """The sum over `dims`; 0 over no elements."""
    return np.sum(x, dims, dtype=x.dtype)


@reduction(NUMBERS)
def prod(x: Array, dims: Ints) -> Array:
    """The product over `dims`; 1 over no elements."""
    return np.prod(x, dims, dtype=x.dtype)


@reduction(ORDERED, empty=False)
def amax(x: Array, dims: Ints) -> Array:
    """The largest element over `dims`, NaN if there is one; for bool tensors, whether any holds."""
    return np.amax(x, dims)


@reduction(ORDERED, empty=False)
def amin(x: Array, dims: Ints) -> Array:
    """The smallest element over `dims`, NaN if there is one; for bool tensors, whether all hold."""
    return np.amin(x, dims)


def _arg_rule(name: str, x: Any, dim: int) -> TensorBase:
    check_tensor(name, "x", x, ORDERED)
    check_dim(name, "dim", dim, x)
    if x.sizes[dim] == 0:
        raise refuse(name, "dim", f"a dimension of non-zero size of x, {describe(x)}", dim)
    return empty_fake([n for d, n in enumerate(x.sizes) if d != dim], None, int64)


@prim("reduction", _arg_rule, dtypes="bool, integers, floats -> int64", sizes="those of x without dim")
def argmax(x: Array, dim: int) -> Array:
    """The int64 index of the largest element along `dim`: the first of equals, and NaN counts as the largest."""
    return np.argmax(x, dim)


@prim("reduction", _arg_rule, dtypes="bool, integers, floats -> int64", sizes="those of x without dim")
def argmin(x: Array, dim: int) -> Array:
    """The int64 index of the smallest element along `dim`: the first of equals, and NaN counts as the smallest."""
    return np.argmin(x, dim)


COMBINES: dict[str, np.ufunc] = {
    "sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum, "logaddexp": np.logaddexp,
}  # fmt: skip


def _scan_rule(name: str, x: Any, dim: int, kind: Any) -> TensorBase:
    check_tensor(name, "x", x, FLOATS if kind == "logaddexp" else ORDERED if kind in ("amax", "amin") else NUMBERS)
    check_dim(name, "dim", dim, x)
    if kind not in COMBINES:
        raise refuse(name, "kind", f"one of {', '.join(COMBINES)}", repr(kind))
    return empty_fake(x.sizes, None, x.dtype)


@prim("scan", _scan_rule, dtypes="numbers", sizes="those of x")
def scan(x: Array, dim: int, kind: str) -> Array:
    """All elements up to and with each along `dim`, combined: `kind` is sum, prod, amax, amin or logaddexp."""
    return COMBINES[kind].accumulate(x, dim, x.dtype)
