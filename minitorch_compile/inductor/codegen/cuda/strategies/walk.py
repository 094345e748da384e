"""Element by element: the strategy for what has no better one.

Points are dealt out to threads in strides of the whole grid. A group with a reduction gives each row to a block: its
threads share the row, and combine what they found in shared memory. If neighbouring rows, not neighbouring elements of
a row, lie side by side in memory, or rows are very short, each row is one thread's work instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.iteration import Axis, count
from minitorch_compile.inductor.ir.ordered_loops import Scan
from minitorch_compile.inductor.schedule.group import Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

SHUFFLED = ("float32", "float64", "int32", "int64")  # numbers that a warp's threads pass around


@dataclass(frozen=True)
class Walk:
    """`per_block`: a row belongs to a block of threads; else to one thread."""

    order: LoopOrder
    per_block: bool
    reason: str
    keeps_in_memory = True  # what a loop computes and a later one reads
    block = BlockShape()

    def write(self, writer: CudaKernelWriter) -> int:
        """Writes the loops; how many threads, or blocks where a row belongs to one, have something to do."""
        order = self.order
        rows = order.rows + ((order.columns,) if order.columns else ())
        if self.per_block:
            writer.leader = "thread == 0"
            writer.root.add("thread = cuda.threadIdx.x")
            declare_shared(writer)
            writer.deal_out(rows, "cuda.blockIdx.x", "cuda.gridDim.x")
        else:
            writer.deal_out(rows, "cuda.grid(1)", "cuda.gridsize(1)")
        for stage in range(max(writer.stages) + 1):
            self.stage(writer, *writer.members_of(stage))
        return count(rows)

    def stage(self, writer: CudaKernelWriter, of_row: Sequence[Member], inner: Sequence[Member]) -> None:
        writer.run(of_row)
        for member in inner:
            if member.loop.is_reduction or isinstance(member.loop, Scan):
                writer.begin(member)
        entered = self.enter_reduced(writer, self.order.reduced) if inner else 0
        writer.run(inner)
        for _ in range(entered):
            writer.leave()
        for member in inner:
            if member.loop.is_reduction:
                writer.finish(member, combined_by_block(member) if self.per_block else "")

    def enter_reduced(self, writer: CudaKernelWriter, axes: Sequence[Axis]) -> int:
        """Loops over a row's elements, shared by a block's threads or all for one; how many blocks were opened."""
        if self.per_block:
            writer.deal_out(tuple(axes), "thread", "THREADS")
            return 1
        for axis in axes:
            header = f"for {axis.variable} in range({writer.number_text(axis.size, axis)}):"
            writer.enter(header, axis.variable.symbols)
        return len(axes)


def declare_shared(writer: CudaKernelWriter) -> None:
    """Shared memory for what a block's threads combine."""
    for element in dict.fromkeys(m.loop.buffer.dtype for m in writer.group.members if m.loop.is_reduction):
        writer.root.add(f"shared_{element.name} = cuda.shared.array(THREADS, {writer.memory_name(element)})")


def combined_by_block(member: Member) -> str:
    """The call that combines the `total` of each thread of a block."""
    element = member.loop.buffer.dtype.name
    if element in SHUFFLED:
        return f"reductions.warps_{member.loop.kind}({{total}}, shared_{element}, THREADS // 32)"
    return f"reductions.block_{member.loop.kind}({{total}}, shared_{element})"
