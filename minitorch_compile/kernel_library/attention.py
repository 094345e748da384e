"""Attention without its score matrix, on the kernels that compiled graphs call (`inductor/kernels/attention.py`).

Heads may lie in memory however a view left them, as long as the numbers of a key, and those of a value, have no gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.kernel_library.attention_plan import (
    AttentionBackwardPlan,
    AttentionPlan,
    Matrices,
    Shape,
    Strides,
    parts_of_backward,
    parts_of_forward,
    shape_of,
)
from minitorch_compile.kernel_library.blas_routines import on_one_thread
from minitorch_compile.kernel_library.call_words import record_words
from minitorch_compile.kernel_library.planned_kernel import Plan
from minitorch_compile.kernel_library.replaced import FLOAT32, kernel, planned
from minitorch_compile.kernel_library.tile_sizes import TileSizes
from minitorch_compile.tensor import ops

ITEMSIZE = FLOAT32.itemsize
MULTIPLICATIONS = 40  # that a core does in a nanosecond

Array = np.ndarray
Ints = tuple[int, ...]
Layout = tuple[Ints, Ints]  # sizes, and strides in bytes


@kernel(ops.flash_attention)
def _(
    query: Array, key: Array, value: Array, mask: Array | None, is_causal: bool, scale: float, fill: float, zeros: bool
) -> Any:
    inputs = None if mask is not None else _readable([query], [key, value])
    found = planned("flash_attention") if inputs else None
    if inputs is None or found is None:
        return None
    rows = query.shape[:3]
    outputs = np.empty((*rows, value.shape[3]), FLOAT32), np.empty((*rows, 2), FLOAT32)
    call = found.call(_forward_plan, bool(is_causal), float(scale), *map(_layout, inputs))
    with on_one_thread():
        call(*inputs, query, *outputs)  # without a mask, its pointer is never followed
    return outputs


@kernel(ops.flash_attention_backward)
def _(
    grad: Array, query: Array, key: Array, value: Array, out: Array, normalizers: Array, mask: Array | None, *how: Any
) -> Any:
    inputs = None if mask is not None else _readable([grad, query], [key, value], [out])
    found = planned("flash_attention_backward") if inputs else None
    if inputs is None or found is None:
        return None
    is_causal, scale, _ = how
    outputs = tuple(np.empty(x.shape, FLOAT32) for x in (query, key, value))
    call = found.call(_backward_plan, bool(is_causal), float(scale), *map(_layout, inputs))
    with on_one_thread():
        call(*inputs, np.ascontiguousarray(normalizers), query, *outputs)
    return outputs


def _readable(rows: list[Array], matrices: list[Array], more_rows: tuple[Array, ...] | list[Array] = ()) -> Any:
    """The arrays as kernels read them, of which BLAS multiplies the `matrices`; None for what isn't float32."""
    arrays = [*rows, *(x if _is_by_rows(x) else np.ascontiguousarray(x) for x in matrices), *more_rows]
    return arrays if all(x.dtype is FLOAT32 and x.flags.aligned for x in arrays) else None


def _is_by_rows(x: Array) -> bool:
    _, _, rows, width = x.shape
    return (width == 1 or x.strides[3] == ITEMSIZE) and (rows == 1 or x.strides[2] >= width * ITEMSIZE)


# ------------------------------------------------------------------------------------------ plans


def _forward_plan(is_causal: bool, scale: float, query: Layout, key: Layout, value: Layout, tiles: TileSizes) -> Plan:
    shape = shape_of(query[0], key[0], value[0], None, (is_causal, scale, 0.0, False))
    parts, elements = parts_of_forward(shape)
    out = _in_order((*query[0][:3], value[0][3]))
    plan = AttentionPlan(shape, _strides(query), _matrices(key), _matrices(value), Strides(), out, parts)
    extent = shape.batches * shape.heads * shape.query_blocks
    return _planned(plan, shape.width + shape.value_width, 6, extent, elements)


def _backward_plan(
    is_causal: bool,
    scale: float,
    grad: Layout,
    query: Layout,
    key: Layout,
    value: Layout,
    out: Layout,
    tiles: TileSizes,
) -> Plan:
    shape = shape_of(query[0], key[0], value[0], None, (is_causal, scale, 0.0, False))
    parts, elements = parts_of_backward(shape)
    by_query, by_key, by_value = (_in_order(sizes) for sizes, _ in (query, key, value))
    plan = AttentionBackwardPlan(
        shape, _strides(query), _matrices(key), _matrices(value), grad=_strides(grad), out=_strides(out),
        grad_query=by_query, grad_key=by_key, grad_value=by_value, parts=parts,
    )  # fmt: skip
    return _planned(plan, 3 * shape.width + 2 * shape.value_width, 10, shape.batches * shape.groups, elements)


def _planned(plan: AttentionPlan | AttentionBackwardPlan, times: int, arrays: int, extent: int, elements: int) -> Plan:
    """`times`: how many multiplications each score takes."""
    shape: Shape = plan.shape
    nanoseconds = shape.scores * times / MULTIPLICATIONS
    return Plan(record_words(plan), arrays, extent, nanoseconds, elements * ITEMSIZE)


def _layout(x: Array) -> Layout:
    return x.shape, x.strides


def _strides(layout: Layout) -> Strides:
    return Strides(*[stride // ITEMSIZE for stride in layout[1]])


def _in_order(sizes: Ints) -> Strides:
    _, heads, rows, width = sizes
    return Strides(heads * rows * width, rows * width, width, 1)


def _matrices(layout: Layout) -> Matrices:
    n, h, row, _ = _strides(layout)
    return Matrices(n, h, 0, max(row, layout[0][3]))
