"""Groups as numba.cuda kernels.

How the points and rows of a group are dealt out to threads is up to a strategy (`strategies/`), chosen by the shape of
the group, its sizes, and how its arrays lie in memory. The writer does what they have in common: it runs the bodies of
loops, and knows where each value is.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, best = Buffer.contiguous("x", (4, 30), float32), Buffer.contiguous("best", (4,), float32)
>>> group = Group.of(Loop(best, (4, 30), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))), (1,), "amax"))
>>> writer = CudaKernelWriter(group.merged(), frozenset())
>>> writer.strategy.reason
'rows of 30 in the registers of a warp: 1 x 1 elements a thread'
>>> print(writer.write().body)
thread = cuda.threadIdx.x % 32
row0 = cuda.local.array(1, float32)
for i0 in range(cuda.grid(1) // 32, 4, cuda.gridsize(1) // 32):
    best0 = float32(-inf)
    for step in range(1):
        r0 = thread + step * 32
        if r0 < 30:
            row0[step] = in0[30 * i0 + r0]
    for step in range(1):
        r0 = thread + step * 32
        inside = r0 < 30
        r0 = r0 if inside else 0
        t0 = row0[step]
        t1 = float32(device_functions.exp(t0))
        best0 = float32(device_functions.maximum(best0, (t1 if inside else float32(-inf))))
    t2 = reductions.warp_amax(best0)
    if thread == 0:
        out0[i0] = t2
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count as count_from

from minitorch_compile.inductor.codegen.cpu.spelling import HALF
from minitorch_compile.inductor.codegen.cuda.arithmetic import CudaArithmetic
from minitorch_compile.inductor.codegen.cuda.spelling import CudaSpelling
from minitorch_compile.inductor.codegen.cuda.strategies.choose import Strategy, choose_strategy
from minitorch_compile.inductor.codegen.cuda.strategies.shared_columns import goes_down_once
from minitorch_compile.inductor.codegen.shared.accumulators import COMBINING, combine_in_order, scan_dtype, start
from minitorch_compile.inductor.codegen.shared.block import Block, Value
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource, kernel_title, name_parameters
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.inductor.ir.iteration import Axes, count
from minitorch_compile.inductor.ir.ordered_loops import Scan
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import SHORTEST_COLUMNS, choose_order
from minitorch_compile.tensor.numerics.dtype import bool_, dtype

THREADS = 256  # of a block, unless a launcher has others
LONG = 1 << 31  # positions, from which on their numbers need more than 32 bits


class CudaKernelWriter(CudaArithmetic):
    """Writes one group, for blocks of so many threads.

    How its points and rows are dealt out is up to a strategy. `leader`: the condition for the one thread, of several to
    whom a row belongs, that writes what belongs to the row; empty if a row is one thread's. `within`: the condition for
    an element to be one of the row, where some threads have none.
    """

    def __init__(self, group: Group, internal: frozenset[Buffer], threads: int = THREADS) -> None:
        self.group, self.threads = group, threads
        self.stages = group.stages(scans_are_loops=False)
        self.later = read_by_later_loops(group, self.stages)
        self.order = choose_order(group, 1 if goes_down_once(group, self.later) else SHORTEST_COLUMNS)
        self.strategy = self.choose(internal)
        in_memory = self.later if self.strategy.keeps_in_memory else set()
        self.internal = frozenset(buffer for buffer in internal if buffer not in in_memory)
        self.buffers, pointers = name_parameters(group, self.internal, {})
        is_rounded = all(buffer.dtype in HALF for buffer in group.outputs if buffer not in self.internal)
        super().__init__(CudaSpelling(), Block(""), pointers, group.has_reduction, is_rounded)
        self.unstored = set(self.internal)
        self.totals: dict[Buffer, str] = {}
        self.leader = ""
        self.within = ""
        self.arrays = 0  # of registers
        self.tiles: dict[tuple[Buffer, Index], str] = {}  # what is read from arrays in shared memory

    def choose(self, internal: frozenset[Buffer]) -> Strategy:
        return choose_strategy(self.group, self.order, internal, self.later, self.threads)

    def write(self) -> KernelSource:
        extent = self.strategy.write(self)
        while self.block is not self.root:
            self.leave()
        title = kernel_title([m.loop.origin.prim for m in self.group.members if m.loop.origin])
        names = list(dict.fromkeys(self.pointers[buffer] for buffer in self.buffers))
        return KernelSource(
            *(title, self.buffers, names, self.root.text(), extent),
            uses_status=bool(self.checks),
            block=self.strategy.block,
            reason=self.strategy.reason,
        )

    def memory_name(self, element: dtype) -> str:
        """What an element in memory is called in kernels."""
        return "boolean" if element is bool_ else element.name

    # ------------------------------------------------------------------------------------------ loops

    def deal_out(self, axes: Axes, first: str, step: str, end: str = "") -> None:
        """A loop over all positions of these axes from `first` on, or those before `end`; the variables of several are
        found by division."""
        symbols = frozenset().union(*(axis.variable.symbols for axis in axes))
        end = end or self.number_text(count(axes), axes)
        if len(axes) <= 1:
            variable = str(axes[0].variable) if axes else "once"
            self.enter(f"for {variable} in range({first}, {end}, {step}):", symbols)
            self.block.confines = not axes  # other threads mustn't read what the one that has the point overwrites
            return
        number = "row" if axes[0].reduced is False else "place"
        self.enter(f"for {number} in range({first}, {end}, {step}):", symbols)
        self.find(axes, number)

    def find(self, axes: Axes, number: str) -> None:
        """The variables of several axes, from the number of a position."""
        if len(axes) <= 1:
            return
        left = number
        for axis in reversed(axes[1:]):
            rest = f"rest_of_{axis.variable}" if axis is not axes[1] else str(axes[0].variable)
            size = self.number_text(axis.size, axis)
            parts = f"indices.split({left}, {size})" if count(axes) < LONG else f"{left} // {size}, {left} % {size}"
            self.block.add(f"{rest}, {axis.variable} = {parts}")
            left = rest

    def members_of(self, stage: int) -> tuple[list[Member], list[Member]]:
        """Those of a stage that run once a row, and those that run at every point."""
        members = [m for m, s in zip(self.group.members, self.stages) if s == stage]
        return [m for m in members if not m.inner], [m for m in members if m.inner]

    def run(self, members: Sequence[Member]) -> None:
        for member in members:
            member.loop.run(self, member.position)

    # ------------------------------------------------------------------------------------------ memory

    def load(self, buffer: Buffer, address: Index) -> Value:
        known = self.forwarded.get((buffer, self.number))
        is_known = buffer in self.scratch or (known is not None and known.block in self.block.around())
        if (buffer, address) in self.tiles and not is_known:
            text = self.spelling.load(self.tiles[buffer, address], "line, lane", buffer.dtype)
            return self.line(text, buffer.dtype, index=address)
        fetched = None if self.lanes is None or is_known else self.lanes.fetched(self, buffer, address)
        if fetched is None:
            return super().load(buffer, address)
        name, place = fetched
        return self.line(self.spelling.load(name, self.text_of(place), buffer.dtype), buffer.dtype, index=place)

    def store(self, buffer: Buffer, address: Index, value: Value) -> None:
        """As usual, but what belongs to a row that threads share is written by one of them only, and what lies side by
        side together."""
        member = self.group.writer(buffer)
        of_row = member is not None and (member.loop.is_reduction or not member.inner)
        self.forwarded[buffer, self.number] = value
        if buffer in self.scratch:
            name, place = self.scratch[buffer]
            self.block.store(self.spelling.store(name, self.text_of(place), value.name, buffer.dtype))
        if buffer in self.unstored or buffer in self.internal:
            return
        together = None if self.lanes is None else self.lanes.stored(self, buffer, address)
        if together is not None:
            self.block.store(self.spelling.store(together[0], self.text_of(together[1]), value.name, buffer.dtype))
            return
        line = self.spelling.store(self.pointers[buffer], self.text_of(address), value.name, buffer.dtype)
        condition = self.leader if of_row else self.within
        if condition:
            self.block.store(f"if {condition}:", buffer)
            line = f"    {line}"
        self.block.store(line, buffer)

    # ------------------------------------------------------------------------------------------ results

    def begin(self, member: Member) -> None:
        kind, buffer = member.loop.kind, member.loop.buffer
        prefix = {"sum": "total", "prod": "product"}.get(kind, "best")
        number = next(n for n in count_from(len(self.totals)) if f"{prefix}{n}" not in self.totals.values())
        self.totals[buffer] = f"{prefix}{number}"  # one that was begun before, for other elements, has a name already
        wide = scan_dtype(buffer, kind) if isinstance(member.loop, Scan) else buffer.dtype
        self.block.add(f"{self.totals[buffer]} = {start(kind, wide, self.spelling)}")

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        total = self.totals[buffer]
        neutral = start(kind, buffer.dtype, self.spelling)
        new = f"({value.name} if {self.within} else {neutral})" if self.within else value.name
        self.block.add(f"{total} = {self.spelling.apply(COMBINING[kind], buffer.dtype, [total, new])}")

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        """A thread goes along its row and carries the result."""
        total, wide = self.totals[buffer], scan_dtype(buffer, kind)
        new = self.convert(value, wide) if value.dtype is not wide else value
        self.block.add(f"{total} = {combine_in_order(kind, wide, total, new.name, self.spelling)}")
        name = self.fresh()
        self.block.add(f"{name} = {self.spelling.convert(total, wide, buffer.dtype)}")
        self.store(buffer, address, Value(name, buffer.dtype, self.block))

    def finish(self, member: Member, together: str = "") -> None:
        """Stores a reduction's result. `together`: the call that combines what several threads found."""
        buffer = member.loop.buffer
        name = self.totals[buffer]
        if together:
            name = self.fresh()
            self.block.add(f"{name} = {together.format(total=self.totals[buffer])}")
        self.store(buffer, member.write.address, Value(name, buffer.dtype, self.block))

    def finish_two(self, members: Sequence[Member], together: str) -> None:
        """The same for two. `together`: the call that combines what threads found for both."""
        names = [self.fresh() for _ in members]
        totals = ", ".join(self.totals[member.loop.buffer] for member in members)
        self.block.add(f"{', '.join(names)} = {together.format(totals=totals)}")
        for name, member in zip(names, members):
            buffer = member.loop.buffer
            self.store(buffer, member.write.address, Value(name, buffer.dtype, self.block))


def read_by_later_loops(group: Group, stages: Sequence[int]) -> set[Buffer]:
    """What a loop over a row's elements computes and a later loop reads. `stages`: of each member."""
    stage_of = dict(zip((member.loop.buffer for member in group.members), stages))
    found = set()
    for member, stage in zip(group.members, stages):
        for access in member.reads:
            writer = group.writer(access.buffer)
            if writer and writer.inner and not writer.loop.is_reduction and stage > stage_of[access.buffer]:
                found.add(access.buffer)
    return found


def write_cuda_kernel(group: Group, internal: frozenset[Buffer], threads: int = THREADS) -> KernelSource:
    """The kernel of a group whose `internal` buffers need no memory, unless a later loop of the kernel reads them; for
    blocks of so many threads."""
    return CudaKernelWriter(group, internal, threads).write()
