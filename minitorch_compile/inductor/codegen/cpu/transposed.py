"""Groups that read or write some array across the grain: a transpose, say, and what is computed with it.

Both arrays are walked through square by square, so that all cache lines of a square are at hand. What is read across
the grain is first turned over into a small array, in vector registers (see `tiles`); what is written across the grain
is computed into one and turned over afterwards. So the loop over the square itself reads and writes in order. For
y + x.t(), beside the loops over squares:

    first, second = i0_tile, i1_tile                                     a square of SIDE by SIDE
    turn_over(advance(in1, second * n + first), n, scratch0, SIDE, ...)
    for i0 in square:
        for i1 in square:  out0[n * i0 + i1] = in0[n * i0 + i1] + scratch0[...]
"""

from __future__ import annotations

from collections.abc import Mapping

from minitorch_compile.inductor.codegen.cpu.writer import CpuKernelWriter
from minitorch_compile.inductor.codegen.shared.block import Value
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import Access
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axis
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.strategy import JUMP, LoopOrder, step_cost

SIDE = 64  # a square of this side and its copy lie in the first-level cache, beside squares of other arrays
Place = tuple[Buffer, Index]


class TileWriter(CpuKernelWriter):
    """All axes but the two of the square outside, then squares, then the elements of a square: no reductions.

    The range of the kernel counts the first of the outer axes, or strips of squares if there are no outer axes.
    """

    def __init__(
        self,
        group: Group,
        internal: frozenset[Buffer],
        shared: Mapping[Buffer, Buffer],
        order: LoopOrder,
        square: tuple[Axis, Axis],
    ) -> None:
        super().__init__(group, internal, shared)
        self.rows = [axis for axis in order.rows if axis not in square]
        self.outer, self.inner = square
        self.first, self.second = (symbol(f"{axis.variable}_tile", axis.size) for axis in square)
        self.turned: dict[Place, tuple[str, Index]] = {}  # what is read from a small array, and where it is there
        self.to_turn: dict[Buffer, tuple[str, Index]] = {}  # what is written to one

    def loops(self) -> None:
        self.unstored.update(member.loop.buffer for member, _ in self.internal_members())
        self.enter_rows(self.rows)
        self.enter_squares()
        reads = [access for member in self.group.members for access in member.reads if self.is_across(access)]
        for access in {access[:2]: access for access in reads if access.buffer in self.group.inputs}.values():
            self.turn_in(access)
        writes = [member.write for member in self.group.members if self.is_across(member.write)]
        for access in writes:
            self.to_turn[access.buffer] = self.new_square(access)
        self.enter_elements()
        for member in self.group.members:
            member.loop.run(self, member.position)
        self.leave()
        self.leave()
        for access in writes:
            self.turn_out(access)
        self.leave_all()

    # ------------------------------------------------------------------------------------------ loops

    def enter_squares(self) -> None:
        bounds = f"0, {self.outer.size}, {SIDE}"
        if not self.rows:
            self.extent = -(-self.outer.size // SIDE)
            bounds = f"lo * {SIDE}, min(hi * {SIDE}, {self.outer.size}), {SIDE}"
        self.enter(f"for {self.first} in range({bounds}):", self.first.symbols)
        self.enter(f"for {self.second} in range(0, {self.inner.size}, {SIDE}):", self.second.symbols)

    def enter_elements(self) -> None:
        for axis, start in ((self.outer, self.first), (self.inner, self.second)):
            self.enter_axis(axis, f"{start}, {start} + {self.length(axis, start)}")

    def length(self, axis: Axis, start: Index) -> str:
        """How many elements of an axis are in the square."""
        return str(SIDE) if axis.size % SIDE == 0 else f"min({SIDE}, {axis.size} - {start})"

    # ------------------------------------------------------------------------------------------ turning over

    def is_across(self, access: Access) -> bool:
        """Whether the access jumps along the inner axis and goes by single steps along the outer one."""
        address = access.address
        whole = not (access.masked or address.is_indirect or address.in_digits(self.outer.variable))
        across = whole and address.coefficient(self.outer.variable) == 1 and access.buffer not in self.internal
        return across and step_cost(address, self.inner) == JUMP and not address.in_digits(self.inner.variable)

    def new_square(self, access: Access) -> tuple[str, Index]:
        place = (self.outer.variable - self.first) * SIDE + self.inner.variable - self.second
        return self.new_scratch(access.buffer.dtype, SIDE * SIDE), place

    def turn_in(self, access: Access) -> None:
        self.turned[access[:2]] = square, _ = self.new_square(access)
        start, step = self.corner(access)
        lengths = f"{self.length(self.inner, self.second)}, {self.length(self.outer, self.first)}"
        self.block.add(f"turn_over({start}, {step}, {square}, {SIDE}, {lengths})")

    def turn_out(self, access: Access) -> None:
        square, _ = self.to_turn[access.buffer]
        start, step = self.corner(access)
        lengths = f"{self.length(self.outer, self.first)}, {self.length(self.inner, self.second)}"
        self.block.add(f"turn_over({square}, {SIDE}, {start}, {step}, {lengths})")

    def corner(self, access: Access) -> tuple[str, int]:
        """A pointer to the first element of the square in memory, and the step from row to row there."""
        first = access.address.substitute({self.outer.variable: self.first, self.inner.variable: self.second})
        step = access.address.coefficient(self.inner.variable)
        return f"advance({self.pointers[access.buffer]}, {self.text_of(first)})", step

    # ------------------------------------------------------------------------------------------ memory

    def load(self, buffer: Buffer, address: Index) -> Value:
        if (buffer, address) not in self.turned:
            return super().load(buffer, address)
        pointer, place = self.turned[buffer, address]
        return self.line(self.spelling.load(pointer, self.text_of(place), buffer.dtype), buffer.dtype, index=place)

    def store(self, buffer: Buffer, address: Index, value: Value) -> None:
        if buffer not in self.to_turn:
            super().store(buffer, address, value)
            return
        self.forwarded[buffer, self.number] = value
        pointer, place = self.to_turn[buffer]
        self.block.store(self.spelling.store(pointer, self.text_of(place), value.name, buffer.dtype), buffer)
