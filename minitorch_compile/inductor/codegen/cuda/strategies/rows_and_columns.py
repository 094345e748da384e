"""Rows in a block's registers, and sums down their columns in more of them (`schedule/rows_and_columns.py`).

A block has a piece of neighbouring rows and takes one after the other as `HeldRows` does. What it finds for a column on
the way, the thread that has the column keeps from row to row, and writes at the end:

    for i0 in range(cuda.blockIdx.x, n0, cuda.gridDim.x):            # pieces
        for n in range(8):
            sums0[n] = 0
        for i1 in range(0, n1, 1):                                   # rows of it
            ...
            sums0[place] = sums0[place] + t3
        vectors.store_4(...)                                         # sums0

So arrays that both read are read once. A row has few threads, so that each has much of it beside what a row takes
anyway, and several blocks share a multiprocessor: while one waits for its threads to meet, another one reads. Of small
elements, of which two share a register, the next row is under way meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cpu.spelling import HALF
from minitorch_compile.inductor.codegen.cuda.strategies import next_row
from minitorch_compile.inductor.codegen.cuda.strategies.held_rows import HeldRows, held_inputs
from minitorch_compile.inductor.codegen.cuda.strategies.row_shapes import (
    FEWEST_THREADS,
    MOST_OF_THREAD,
    STEPS,
    TIMES,
    row_width,
    sizes_of,
)
from minitorch_compile.inductor.codegen.shared.accumulators import start
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import symbol
from minitorch_compile.inductor.ir.iteration import Axis
from minitorch_compile.inductor.schedule.rows_and_columns import RowsAndColumns
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

WORDS = 64  # of a thread for its part of a row and of the sums: of more, a row takes more threads
BLOCKS = 2  # of the usual number of threads, on a multiprocessor: 128 registers for each thread


@dataclass(frozen=True)
class RowsBesideColumns(HeldRows):
    """Rows are blocks'; `piece` is the axis that counts pieces of them, `down` what is summed over one."""

    piece: Axis = Axis(symbol("i0", 1), 1, False)

    @staticmethod
    def beside(
        group: RowsAndColumns, internal: Iterable[Buffer], later: Set[Buffer], threads: int
    ) -> RowsBesideColumns | None:
        """The strategy for a group, if its rows are of whole vectors and fit into the registers of a block."""
        piece, row, axis = group.axes
        width, has_ends = row_width(group, axis, internal)
        if width == 1 or has_ends:
            return None
        inputs = held_inputs(group, axis)
        ahead = tuple(inputs) if all(buffer.dtype in HALF for buffer, _ in inputs) else ()
        kept = sizes_of((*inputs, *ahead, *((buffer, None) for buffer in (*later, *group.down))))
        found = fewest_threads(axis.size, width, sum(kept) / 4, threads)
        if found is None:
            return None
        times, steps = found
        reason = f"rows of {axis.size} in the registers of a block of {times} times the usual threads: {steps} x"
        reason += f" {width} elements a thread, and sums down {row.size} rows beside them"
        order, is_full = LoopOrder((row,), (axis,)), axis.size == steps * width * int(threads * times)
        block = BlockShape(times, max(1, int(BLOCKS / times)), each=True)
        reason += ", the next one under way" if ahead else ""
        shape = (order, width, steps, times, 0, False, is_full, ahead, block, reason)
        return RowsBesideColumns(*shape, group.down, piece)

    def write(self, writer: CudaKernelWriter) -> int:
        lanes = self.begin_write(writer)
        down = [member for member in writer.group.members if member.loop.buffer in self.down]
        sums = [lanes.array(writer, member.loop.buffer, self.held, "sums") for member in down]
        writer.deal_out((self.piece,), "cuda.blockIdx.x", "cuda.gridDim.x")
        writer.enter(f"for n in range({self.held}):")
        for member, name in zip(down, sums):
            writer.totals[member.loop.buffer] = f"{name}[place]"
            writer.block.add(f"{name}[n] = {start(member.loop.kind, member.loop.buffer.dtype, writer.spelling)}")
        writer.leave()
        lanes.pointers.update(dict.fromkeys(writer.pointers[member.loop.buffer] for member in down))
        fetched = next_row.fetch_first(self, writer, lanes, "0") if self.ahead else {}
        writer.deal_out(self.order.rows, "0", "1")
        if fetched:
            next_row.fetch_next(self, writer, lanes, fetched, "1")
        for stage in range(max(writer.stages) + 1):
            self.stage(writer, lanes, *writer.members_of(stage))
        writer.leave()
        self.enter_elements(writer, lanes)
        for member in down:
            writer.finish(member)
        self.leave_elements(writer, lanes)
        if not fetched:
            writer.root.add(f"aligned = {lanes.alignment()}")
        return self.piece.size


def fewest_threads(length: int, width: int, words: float, threads: int) -> tuple[float, int] | None:
    """The multiple of threads and how many vectors each has, for rows of a length of which an element takes so many
    words of registers: as few threads as can hold it, since what each does beside is the same. None if none can.

    >>> fewest_threads(4096, 4, 4, 256), fewest_threads(4096, 8, 2, 256), fewest_threads(1 << 20, 4, 4, 256)
    ((1, 4), (0.5, 4), None)
    """
    for times in TIMES:
        steps = next((n for n in STEPS if n * width * int(threads * times) >= length), 0)
        is_small = times < 1 and threads * times < FEWEST_THREADS
        if steps == 1 and 2 * length < width * int(threads * times):
            return None  # most threads would have nothing of a row
        if steps and not is_small and steps * width <= MOST_OF_THREAD and steps * width * words <= WORDS:
            return times, steps
    return None
