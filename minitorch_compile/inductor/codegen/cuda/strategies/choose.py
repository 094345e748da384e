"""Which strategy a group has: decided by its shape, its sizes and how its arrays lie in memory."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Protocol

from minitorch_compile.inductor.codegen.cuda.strategies.columns import Columns
from minitorch_compile.inductor.codegen.cuda.strategies.held_rows import HeldRows
from minitorch_compile.inductor.codegen.cuda.strategies.long_rows import LongRows
from minitorch_compile.inductor.codegen.cuda.strategies.points import Points
from minitorch_compile.inductor.codegen.cuda.strategies.rows_and_columns import RowsBesideColumns
from minitorch_compile.inductor.codegen.cuda.strategies.shared_columns import SharedColumns
from minitorch_compile.inductor.codegen.cuda.strategies.squares import Squares
from minitorch_compile.inductor.codegen.cuda.strategies.strips import Strips
from minitorch_compile.inductor.codegen.cuda.strategies.walk import Walk
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.iteration import count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.rows_and_columns import RowsAndColumns
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

MANY_COLUMNS, LONG_COLUMN = 1 << 15, 1 << 5  # that keep a GPU's threads busy; elements to share out
SHORTEST_SHARED = 16  # fewer elements of a row are one thread's work: most of a block would have none


class Strategy(Protocol):
    """How points and rows are dealt out. `reason`: in words. `keeps_in_memory`: what a loop over a row's elements
    computes and a later one reads goes through memory, not registers."""

    @property
    def reason(self) -> str: ...

    @property
    def keeps_in_memory(self) -> bool: ...

    @property
    def block(self) -> BlockShape: ...

    def write(self, writer: CudaKernelWriter) -> int:
        """Writes the loops; how many threads, or blocks where a row belongs to one, have something to do."""


def choose_strategy(
    group: Group, order: LoopOrder, internal: Iterable[Buffer], later: Set[Buffer], threads: int
) -> Strategy:
    """The strategy of a group. `later`: what a loop computes and a later one reads."""
    if isinstance(group, RowsAndColumns):
        found = RowsBesideColumns.beside(group, internal, later, threads)
        assert found is not None, "groups are put beside each other where there is a strategy for it"
        return found
    if not group.has_reduction:
        return points_strategy(group, order, internal, threads)
    if group.has_scan:
        return Walk(order, False, "running results: each thread goes along a row")
    if order.columns is not None:
        return columns_strategy(group, order, internal, later, threads)
    if order.rows and count(order.reduced) < SHORTEST_SHARED:
        return Walk(order, False, f"rows of {count(order.reduced)}: each is one thread's")
    held = HeldRows.of(group, order, internal, later, threads)
    return (
        held or LongRows.of(group, order, internal, later, threads) or Walk(order, True, "each block goes along a row")
    )


def columns_strategy(
    group: Group, order: LoopOrder, internal: Iterable[Buffer], later: Set[Buffer], threads: int
) -> Strategy:
    """Few columns leave threads without one, which share out their lines; and long ones are better shared out."""
    assert order.columns is not None
    columns = Columns.of(group, order, internal, later)
    shared = Strips.of(group, order, internal, later, threads) or SharedColumns.of(group, order, later)
    found, lines = count((*order.rows, order.columns)), count(order.reduced)
    alone = found >= MANY_COLUMNS and (lines < LONG_COLUMN or found >= 4 * MANY_COLUMNS)
    for strategy in (columns, shared) if alone else (shared, columns):
        if strategy is not None:
            return strategy
    return Walk(order, False, "each thread goes down a column")


def strategy_of_few(group: Group, order: LoopOrder, later: Set[Buffer]) -> Strategy:
    """Of few elements: the strategy does for all sizes, wherever they lie in memory."""
    shared = SharedColumns.of(group, order, later) if group.has_reduction and not group.has_scan else None
    return shared or walk_strategy(group, order, "element by element, whatever the sizes")


def walk_strategy(group: Group, order: LoopOrder, reason: str) -> Walk:
    """Element by element, of whatever sizes and wherever they lie."""
    is_short = bool(order.rows) and count(order.reduced) < SHORTEST_SHARED
    per_block = group.has_reduction and not group.has_scan and order.columns is None and not is_short
    return Walk(order, per_block, reason)


def points_strategy(group: Group, order: LoopOrder, internal: Iterable[Buffer], threads: int) -> Strategy:
    squares = Squares.of(group, order, internal, threads)
    if squares is not None:
        return squares
    points = Points.of(group, order.rows, internal)
    return points or Walk(order, False, "element by element: nothing lies side by side that vectors could take")
