"""The innermost loop over neighbouring elements that one thread takes at once, while it is being written.

    first = 4 * (thread + step * THREADS)
    vectors.load_4(near0, 0, in0, n1 * i0 + first, aligned)     # before the loop
    for k in range(4):
        r0 = first + k
        t0 = near0[k]                                           # what the body reads
        ...
        near1[k] = t3
    vectors.store_4(near1, 0, out0, n1 * i0 + first, aligned)   # behind it

Only what lies side by side along the axis is accessed so, and only if all its vectors begin at multiples of their size;
or wherever, where rows are of odd lengths and the strategy says which begin well (`HeldRows`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.shared.accumulators import COMBINING, start
from minitorch_compile.inductor.codegen.shared.block import Block
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import Access
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axis
from minitorch_compile.inductor.schedule.group import Group, Member

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

WIDEST, MOST = 16, 16  # bytes of an access, and elements in it
K = symbol("k", MOST)


def steps_by_one(address: Index, axis: Axis) -> bool:
    """Whether neighbouring positions of an axis are neighbours in memory."""
    variable = axis.variable
    return address.coefficient(variable) == 1 and not address.in_digits(variable) and not address.is_indirect


def is_whole(address: Index, axis: Axis, width: int) -> bool:
    """Whether vectors of this width along an axis begin at multiples of it, wherever the other axes are.

    >>> i, j = symbol("i", 8), symbol("j", 12)
    >>> is_whole(12 * i + j, Axis(j, 12, False), 4), is_whole(10 * i + j, Axis(j, 10, False), 4)
    (True, False)
    """
    rest = address - axis.variable
    return rest.constant % width == 0 and all(step % width == 0 for _, step in rest.terms)


def inner_accesses(group: Group) -> list[Access]:
    """What is accessed at every point, not under a condition that may forbid it."""
    found: list[Access] = []
    for member in group.members:
        if member.inner:
            written = [] if member.loop.is_reduction else [member.write]
            found += [access for access in [*member.reads, *written] if not access.masked]
    return found


def width_along(group: Group, axis: Axis, internal: Iterable[Buffer] = ()) -> int:
    """How many elements a thread takes at once along an axis: as the widest access holds of the largest; 1 if most
    accesses along it can't be whole."""
    width = widest_along(group, axis, internal)
    along = [a for a in inner_accesses(group) if a.buffer not in internal and steps_by_one(a.address, axis)]
    return width if all(is_whole(access.address, axis, width) for access in along) else 1


def widest_along(group: Group, axis: Axis, internal: Iterable[Buffer] = ()) -> int:
    """The same where vectors may begin anywhere; 1 for complex numbers, which LLVM has no vectors of."""
    along = [a for a in inner_accesses(group) if a.buffer not in internal and steps_by_one(a.address, axis)]
    sizes = [access.buffer.dtype.itemsize for access in along]
    if not sizes or max(sizes) > WIDEST // 2 or any(access.buffer.dtype.is_complex for access in along):
        return 1
    return min(WIDEST // max(sizes), MOST)


class Lanes:
    """`width` neighbouring elements along `axis` from the one at `first` on; those of a row that is held in registers
    lie at `place`. `aligned`: whether vectors begin where they may, as text; of rows that begin `anywhere`, some do.
    `stays`: what doesn't move in a loop is fetched before it."""

    def __init__(
        self, axis: Axis, width: int, aligned: str, place: Index = K, anywhere: bool = False, stays: bool = False
    ) -> None:
        self.axis, self.width, self.aligned, self.place, self.anywhere = axis, width, aligned, place, anywhere
        self.stays = stays
        self.first = symbol("first", max(axis.size, 1)) if width > 1 else axis.variable
        self.held: dict[tuple[Buffer, Index], str] = {}  # arrays of a row's registers
        self.near: dict[tuple[Buffer, Index], str] = {}  # those of one vector
        self.stores: list[tuple[str, str, Buffer, Index]] = []
        self.pointers: dict[str, None] = {}  # that vectors are accessed behind

    def takes(self, writer: CudaKernelWriter, address: Index) -> bool:
        """Whether an access is one of vectors: not where a condition decides about each element."""
        inside = next((b for b in writer.block.around() if b.confines or K.symbols & b.variables), None)
        if self.width == 1 or inside is None or inside.confines:
            return False
        if self.anywhere:  # what all rows share begins elsewhere than a row
            return steps_by_one(address, self.axis) and bool(address.symbols - self.axis.variable.symbols)
        return steps_by_one(address, self.axis) and is_whole(address, self.axis, self.width)

    def begin(self, address: Index) -> Index:
        """The address of a vector's first element."""
        return address.substitute({self.axis.variable: self.first})

    def array(self, writer: CudaKernelWriter, buffer: Buffer, length: int, name: str) -> str:
        """A new array of registers."""
        name = f"{name}{writer.arrays}"
        writer.arrays += 1
        writer.root.add(f"{name} = cuda.local.array({length}, {writer.memory_name(buffer.dtype)})")
        return name

    def words(self, writer: CudaKernelWriter, length: int, name: str) -> str:
        """The same, of words."""
        name = f"{name}{writer.arrays}"
        writer.arrays += 1
        writer.root.add(f"{name} = cuda.local.array({length}, uint32)")
        return name

    def fetched(self, writer: CudaKernelWriter, buffer: Buffer, address: Index) -> tuple[str, Index] | None:
        """The array in which an element was fetched, and its place there; None if it isn't."""
        if (buffer, address) in self.held:
            return self.held[buffer, address], self.place
        if not self.takes(writer, address):
            return None
        if (buffer, address) not in self.near:
            name = self.near[buffer, address] = self.array(writer, buffer, self.width, "near")
            self.fetch(writer, self.around(writer, address), name, "0", buffer, address)
        return self.near[buffer, address], K

    def around(self, writer: CudaKernelWriter, address: Index) -> Block:
        """The block around the loop over the vector's elements, or around the loops in which it stays the same."""
        block = next(b.parent for b in writer.block.around() if K.symbols & b.variables)
        assert block is not None
        while self.stays and block.parent is not None and block.variables.isdisjoint(self.begin(address).symbols):
            block = block.parent
        return block

    def fetch(
        self,
        writer: CudaKernelWriter,
        block: Block,
        name: str,
        place: str,
        buffer: Buffer,
        address: Index,
        how: str = "load",
    ) -> None:
        """A line that brings a vector into registers, or with `how` into whole words of them."""
        pointer, start = writer.pointers[buffer], writer.text_of(self.begin(address))
        if self.width == 1:
            block.add(f"{name}[{place}] = {pointer}[{start}]")
            return
        self.pointers[pointer] = None
        line = f"vectors.{how}_{self.width}({name}, {place}, {pointer}, {start}, {self.aligned})"
        block.add(line)

    def stored(self, writer: CudaKernelWriter, buffer: Buffer, address: Index) -> tuple[str, Index] | None:
        """The array from which a vector will be written, and the element's place there; None if it is none."""
        if not self.takes(writer, address):
            return None
        name = self.array(writer, buffer, self.width, "near")
        self.stores.append((name, "0", buffer, address))
        return name, K

    def flush(self, writer: CudaKernelWriter, condition: str = "") -> None:
        """The lines that write vectors, behind the loop over their elements."""
        if condition and self.stores:
            writer.enter(f"if {condition}:")
        for name, place, buffer, address in self.stores:
            pointer, start = writer.pointers[buffer], writer.text_of(self.begin(address))
            self.pointers[pointer] = None
            writer.block.add(f"vectors.store_{self.width}({name}, {place}, {pointer}, {start}, {self.aligned})")
        if condition and self.stores:
            writer.leave()
        self.stores.clear()
        self.near.clear()

    def alignment(self) -> str:
        """Whether all that vectors are accessed behind begins where they may, as text."""
        return " and ".join(f"vectors.is_aligned({pointer})" for pointer in self.pointers) or "True"


def begin_each(writer: CudaKernelWriter, lanes: Lanes, member: Member) -> None:
    """A result of a reduction for each place of a vector: the next element needn't wait for the one before."""
    buffer = member.loop.buffer
    name = lanes.array(writer, buffer, lanes.width, "totals")
    writer.totals[buffer] = f"{name}[k]"
    writer.enter(f"for k in range({lanes.width}):", K.symbols)
    writer.block.add(f"{name}[k] = {start(member.loop.kind, buffer.dtype, writer.spelling)}")
    writer.leave()


def combine_each(writer: CudaKernelWriter, lanes: Lanes, member: Member) -> None:
    """One result from those."""
    buffer, kind = member.loop.buffer, member.loop.kind
    each = writer.totals[buffer]
    total = writer.totals[buffer] = each.removesuffix("[k]").replace("totals", "total")
    writer.block.add(f"{total} = {each.replace('[k]', '[0]')}")
    writer.enter(f"for k in range(1, {lanes.width}):", K.symbols)
    writer.block.add(f"{total} = {writer.spelling.apply(COMBINING[kind], buffer.dtype, [total, each])}")
    writer.leave()
