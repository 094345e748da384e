"""Points, several neighbouring ones for a thread at a time: 16 bytes of each array in one access, and some of these
under way before the first of them is needed.

A block takes a chunk after the other: its threads' first vectors, which lie side by side, then their second ones.

    chunk 0                                           chunk 1
    | step 0: thread 0 | thread 1 | ... | step 1: ... |

What is left over, less than a chunk, or all if an array begins at an odd place, is done element by element.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import K, Lanes, inner_accesses, steps_by_one, width_along
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import accesses_of
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axes, Axis, count
from minitorch_compile.inductor.schedule.group import Group

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

MOST_STEPS, VECTORS_UNDER_WAY = 4, 4
MOST_OPERATIONS = 1280  # of a thread in a chunk: of more, it has enough to do while little is under way
OPERATIONS_OF_EXPENSIVE = 16  # of exp, say


@dataclass(frozen=True)
class Points:
    """`rows`: the axes, the one last along which memory is walked. A thread takes `steps` vectors of a chunk."""

    rows: Axes
    width: int
    steps: int
    reason: str
    keeps_in_memory = True
    block = BlockShape(each=True)

    @staticmethod
    def of(group: Group, rows: Axes, internal: Iterable[Buffer]) -> Points | None:
        """The strategy for points whose neighbours in memory are neighbours."""
        if not rows:
            return None
        axis = rows[-1]
        width = width_along(group, axis, internal)
        if width == 1 or axis.size < width or (len(rows) > 1 and axis.size % width):
            return None
        vectors = max(1, len(read_side_by_side(group, axis)))
        steps = max(1, min(MOST_STEPS, VECTORS_UNDER_WAY // vectors, MOST_OPERATIONS // (width * operations_of(group))))
        steps = 1 << (steps.bit_length() - 1)
        reason = f"{steps} x {width} neighbouring elements of {axis.variable} a thread at a time"
        return Points(rows, width, steps, reason)

    @property
    def axis(self) -> Axis:
        return self.rows[-1]

    def write(self, writer: CudaKernelWriter) -> int:
        axis, width, steps = self.axis, self.width, self.steps
        groups = (*self.rows[:-1], Axis(symbol("group", axis.size // width), axis.size // width, False))
        lanes = writer.lanes = Lanes(axis, width, "True", symbol("place", width * steps))
        whole = writer.number_text(count(groups), groups)
        writer.root.add("thread = cuda.threadIdx.x")
        writer.enter("for chunk in range(cuda.blockIdx.x, whole, cuda.gridDim.x):")
        self.enter_steps(writer, groups, lanes)
        for buffer, address in read_side_by_side(writer.group, axis):
            name = lanes.held[buffer, address] = lanes.array(writer, buffer, steps * width, "row")
            lanes.fetch(writer, writer.block, name, f"{width} * step", buffer, address)
        writer.leave()
        self.enter_steps(writer, groups, lanes)
        writer.enter(f"for k in range({width}):", K.symbols | lanes.place.symbols | axis.variable.symbols)
        writer.block.add(f"{axis.variable}, place = first + k, {width} * step + k")
        writer.run(writer.group.members)
        writer.leave()
        lanes.flush(writer)
        writer.leave()
        writer.root.add(f"whole = {whole} // ({steps} * THREADS) if {lanes.alignment()} else 0")
        writer.leave()
        writer.lanes = None
        writer.deal_out(self.rows, f"{steps * width} * THREADS * whole + cuda.grid(1)", "cuda.gridsize(1)")
        writer.run(writer.group.members)
        return -(-count(self.rows) // (width * steps))

    def enter_steps(self, writer: CudaKernelWriter, groups: Axes, lanes: Lanes) -> None:
        """A loop over a thread's vectors of a chunk."""
        symbols = frozenset().union(*(axis.variable.symbols for axis in groups))
        writer.enter(f"for step in range({self.steps}):", symbols | lanes.first.symbols)
        number = "group" if len(groups) == 1 else "row"
        writer.block.add(f"{number} = ({self.steps} * chunk + step) * THREADS + thread")
        writer.find(groups, number)
        writer.block.add(f"first = {self.width} * group")


def operations_of(group: Group) -> int:
    """What a point of a group takes, roughly, counted in additions."""
    found = [accesses_of(member.loop) for member in group.members]
    return max(1, sum(each.operations + OPERATIONS_OF_EXPENSIVE * each.expensive for each in found))


def read_side_by_side(group: Group, axis: Axis) -> list[tuple[Buffer, Index]]:
    """What is read of arrays along an axis, each once."""
    found = [a for a in inner_accesses(group) if a.buffer not in group.outputs and steps_by_one(a.address, axis)]
    return list(dict.fromkeys((access.buffer, access.address) for access in found))
