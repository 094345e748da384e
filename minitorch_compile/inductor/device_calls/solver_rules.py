"""Factorizations and systems of equations as calls of cuSOLVER and cuBLAS, where these are there.

A stack is copied to where its matrices lie by columns, unless they do, and each is worked on in turn. An algorithm
leaves half a matrix as it was; what is read of it is a triangle. Rows and columns change places where cuSOLVER wants as
many rows as columns: what lies by rows is the transpose of one that lies by columns.

What cuSOLVER has no way to say in advance, that a matrix is singular, it says when it is done: so these calls wait, as
PyTorch's do, and raise LinAlgError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile import prims
from minitorch_compile.cuda_runtime.cusolver import TYPES
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.one_op_graph import NoKernelError
from minitorch_compile.inductor.device_calls.solver_launches import (
    CHOLESKY,
    EIGH,
    LU_FACTOR,
    QR,
    SOLVE,
    SOLVE_TRIANGULAR,
    SVD,
)
from minitorch_compile.inductor.ir.buffer import Buffer, Ints, Position
from minitorch_compile.inductor.ir.extern_call import StridedView
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.shape import reindexed, within
from minitorch_compile.inductor.lowering.stored_views import contiguous_view, dense_view
from minitorch_compile.inductor.lowering.table import WITHOUT_A_KERNEL, Rule
from minitorch_compile.prims import Prim
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel
from minitorch_compile.tensor.numerics.dtype import int32

SOLVERS: dict[Prim, Callable[..., Any]] = {}


def solved_by(prim: Prim) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def declare(rule: Callable[..., Any]) -> Callable[..., Any]:
        SOLVERS[prim] = rule
        return rule

    return declare


def solver_rules(libraries: Libraries) -> dict[str, Rule]:
    """The rules of all prims that have one."""
    return {prim.name: _rule(prim, compute, libraries) for prim, compute in SOLVERS.items()}


def _rule(prim: Prim, compute: Callable[..., Any], libraries: Libraries) -> Rule:
    def rule(graph: GraphLowering, a: TensorBox, *others: Any) -> Any:
        if libraries.solver is None:
            raise NoKernelError(WITHOUT_A_KERNEL[prim.name])
        if a.dtype.name not in TYPES:
            raise NoKernelError(f"cuSOLVER is asked for float32 and float64, not {a.dtype}")
        if any(0 in x.sizes for x in (a, *others) if isinstance(x, TensorBox)):
            raise NoKernelError("cuSOLVER takes no matrices without elements")
        return compute(graph, a, *others)

    return rule


# ------------------------------------------------------------------------------------------ factorizations


@solved_by(prims.cholesky)
def _(graph: GraphLowering, a: TensorBox) -> TensorBox:
    factor, _ = _called(graph, CHOLESKY, [_by_columns(graph, a)], [_matrices(graph, a, *a.sizes[-2:])])
    return triangle(factor, upper=False)


@solved_by(prims.lu_factor)
def _(graph: GraphLowering, a: TensorBox) -> tuple[TensorBox, ...]:
    m, n = a.sizes[-2:]
    outputs = [_matrices(graph, a, m, n), graph.new_buffer((*a.sizes[:-2], min(m, n)), int32)]
    return _called(graph, LU_FACTOR, [_by_columns(graph, a)], outputs)[:2]


@solved_by(prims.qr)
def _(graph: GraphLowering, a: TensorBox, complete: bool) -> tuple[TensorBox, ...]:
    (m, n), k = a.sizes[-2:], min(a.sizes[-2:])
    columns = m if complete else k
    scales = graph.new_buffer((*a.sizes[:-2], k), a.dtype)
    outputs = [_matrices(graph, a, m, columns), _matrices(graph, a, m, n), scales]
    q, factored, *_ = _called(graph, QR, [_by_columns(graph, a)], outputs)
    r = reindexed(factored, (*a.sizes[:-2], columns, n), lambda at: at)  # its first rows
    return q, triangle(r, upper=True)


@solved_by(prims.eigh)
def _(graph: GraphLowering, a: TensorBox, upper: bool) -> tuple[TensorBox, ...]:
    outputs = [graph.new_buffer(a.sizes[:-1], a.dtype), _matrices(graph, a, *a.sizes[-2:])]
    return _called(graph, EIGH, [_by_columns(graph, a)], outputs, upper)[:2]


@solved_by(prims.svd)
def _(graph: GraphLowering, a: TensorBox, full_matrices: bool) -> tuple[TensorBox, ...]:
    """Of the transposes where there are more columns than rows: u and vh change places, and lie by rows."""
    (m, n), k = a.sizes[-2:], min(a.sizes[-2:])
    left, right = (m, n) if full_matrices else (k, k)
    wide = m < n
    place = _matrices_by_rows if wide else _matrices
    u, vh, work = (place(graph, a, *sizes) for sizes in ((m, left), (right, n), (m, n)))
    outputs = [u, graph.new_buffer((*a.sizes[:-2], k), a.dtype), vh, work]
    view = contiguous_view(graph, a) if wide else _by_columns(graph, a)
    return _called(graph, SVD, [view], outputs, full_matrices)[:3]


# ------------------------------------------------------------------------------------------ systems of equations


@solved_by(prims.solve)
def _(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox:
    n = a.sizes[-1]
    outputs = [_matrices(graph, b, *b.sizes[-2:]), _matrices(graph, a, n, n), graph.new_buffer(a.sizes[:-1], int32)]
    return _called(graph, SOLVE, [_by_columns(graph, a), _by_columns(graph, b)], outputs)[0]


@solved_by(prims.solve_triangular)
def _(graph: GraphLowering, a: TensorBox, b: TensorBox, upper: bool, unitriangular: bool) -> TensorBox:
    inputs, outputs = [_by_columns(graph, a), _by_columns(graph, b)], [_matrices(graph, b, *b.sizes[-2:])]
    return graph.extern(SOLVE_TRIANGULAR, inputs, outputs, upper, unitriangular)[0]


# ------------------------------------------------------------------------------------------ matrices


def _called(
    graph: GraphLowering, name: str, inputs: list[StridedView], outputs: list[Buffer], *parameters: Any
) -> tuple[TensorBox, ...]:
    """The results of a call, and behind them what it has to say of each matrix."""
    batch = inputs[0].sizes[:-2]
    return tuple(graph.extern(name, inputs, [*outputs, graph.new_buffer((numel(batch),), int32)], *parameters))


def by_columns(sizes: Ints) -> Ints:
    """The strides of matrices, one after another, whose columns are contiguous.

    >>> by_columns((2, 3, 4))
    (12, 1, 3)
    """
    *batch, rows, columns = sizes
    *outer, step, one = contiguous_strides((*batch, columns, rows))
    return (*outer, one, step)


def _by_columns(graph: GraphLowering, a: TensorBox) -> StridedView:
    return dense_view(graph, a, by_columns(a.sizes))


def _matrices(graph: GraphLowering, like: TensorBox, rows: int, columns: int) -> Buffer:
    """Room for as many matrices of other sizes, by columns."""
    sizes = (*like.sizes[:-2], rows, columns)
    return graph.new_buffer(sizes, like.dtype, by_columns(sizes))


def _matrices_by_rows(graph: GraphLowering, like: TensorBox, rows: int, columns: int) -> Buffer:
    return graph.new_buffer((*like.sizes[:-2], rows, columns), like.dtype)


def triangle(a: TensorBox, upper: bool) -> TensorBox:
    """One half of each matrix, with its diagonal; zeros in the other."""
    longest = max(a.sizes[-2:])

    def inner(ops: Handler, at: Position) -> object:
        above = at[-1] - at[-2] if upper else at[-2] - at[-1]
        condition = within(ops, above, 0, longest)
        return a.load(ops, at) if condition is None else ops.masked(condition, lambda: a.load(ops, at), 0, a.dtype)

    return TensorBox(a.sizes, a.dtype, inner, inputs=[a], operations=1)
