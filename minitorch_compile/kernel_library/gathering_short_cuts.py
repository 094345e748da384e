"""Gathering and scattering along a dimension, on kernels that take a plan."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.kernel_library.planned_kernel import Plan, PlannedCall
from minitorch_compile.kernel_library.replaced import is_dense, kernel, planned
from minitorch_compile.kernel_library.tile_sizes import TileSizes
from minitorch_compile.tensor import ops

Array = np.ndarray
PLACES = np.dtype(np.int64)


@kernel(ops.gather)
def _(input: Array, dim: int, index: Array, sparse_grad: bool = False) -> Array | None:
    call = _call_for("gather_along", input, dim, index)
    if call is None:
        return None
    out, wrong = np.empty(index.shape, np.float32), np.zeros(1, PLACES)
    call(input, index, out, wrong)
    return None if wrong[0] else out


def _scattered(input: Array, dim: int, index: Array, src: Array, adds: int) -> Array | None:
    fits = src.shape == index.shape and is_dense(src)
    call = _call_for("scatter_along", input, dim, index, adds) if fits else None
    if call is None:
        return None
    out, wrong = input.copy(), np.zeros(1, PLACES)
    call(index, src, out, wrong)
    return None if wrong[0] else out


@kernel(ops.scatter_add)
def _(input: Array, dim: int, index: Array, src: Array) -> Array | None:
    return _scattered(input, dim, index, src, 1)


@kernel(ops.scatter_src)
def _(input: Array, dim: int, index: Array, src: Array) -> Array | None:
    return _scattered(input, dim, index, src, 0)


def _call_for(name: str, input: Array, dim: int, index: Array, *options: int) -> PlannedCall | None:
    """The kernel's call for these, which lie row by row and have the same sizes but along `dim`; None for others."""
    shape, at = input.shape, dim % input.ndim
    others = (*shape[:at], index.shape[at], *shape[at + 1 :]) if index.ndim == input.ndim else None
    if index.shape != others or not index.size or index.dtype is not PLACES or not index.flags.c_contiguous:
        return None
    found: Any = planned(name) if is_dense(input) and index.flags.aligned else None
    outer, inner = math.prod(shape[:at]), math.prod(shape[at + 1 :])
    return found and found.call(_plan, outer, (shape[at], index.shape[at], inner, *options))


def _plan(outer: int, sizes: tuple[int, ...], tiles: TileSizes) -> Plan:
    return Plan(sizes, 4, outer, 2.0 * outer * sizes[1] * sizes[2])
