"""Groups as numba.cuda kernels.

Points are dealt out to threads in strides of the whole grid, so neighbouring threads touch neighbouring elements. A
group with a reduction gives each row to a block: its threads share the row, and combine what they found in shared
memory. If neighbouring rows, not neighbouring elements of a row, lie side by side in memory, or rows are very short,
each row is one thread's work instead.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, best = Buffer.contiguous("x", (4, 32), float32), Buffer.contiguous("best", (4,), float32)
>>> group = Group.of(Loop(best, (4, 32), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))), (1,), "amax"))
>>> print(write_cuda_kernel(group.merged(), frozenset()).body)
thread = cuda.threadIdx.x
shared_float32 = cuda.shared.array(THREADS, float32)
for i0 in range(cuda.blockIdx.x, 4, cuda.gridDim.x):
    best0 = float32(-inf)
    for r0 in range(thread, 32, THREADS):
        t0 = in0[32 * i0 + r0]
        t1 = float32(device_functions.exp(t0))
        best0 = float32(device_functions.maximum(best0, t1))
    t2 = reductions.block_amax(best0, shared_float32)
    if thread == 0:
        out0[i0] = t2
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.inductor.codegen.cuda.spelling import CudaSpelling
from minitorch_compile.inductor.codegen.shared.accumulators import COMBINING, combine_in_order, scan_dtype, start
from minitorch_compile.inductor.codegen.shared.block import Block, Value
from minitorch_compile.inductor.codegen.shared.emit import EmitHandler
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource, kernel_title, name_parameters
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.inductor.ir.iteration import Axes, Axis, count
from minitorch_compile.inductor.ir.ordered_loops import Scan
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import choose_order

SHORTEST_SHARED = 16  # fewer elements of a row are one thread's work: most of a block would have none


class CudaKernelWriter(EmitHandler):
    """Writes one group. `per_block`: a row belongs to a block of threads; else to one thread."""

    def __init__(self, group: Group, internal: frozenset[Buffer]) -> None:
        self.group = group
        self.stages = group.stages(scans_are_loops=False)
        self.order = choose_order(group)
        short = bool(self.order.rows) and count(self.order.reduced) < SHORTEST_SHARED
        self.per_block = group.has_reduction and self.order.columns is None and not group.has_scan and not short
        in_memory = self.read_by_later_loops()
        self.internal = frozenset(buffer for buffer in internal if buffer not in in_memory)
        self.buffers, pointers = name_parameters(group, self.internal, {})
        super().__init__(CudaSpelling(), Block(""), pointers)
        self.unstored = set(self.internal)
        self.totals: dict[Buffer, str] = {}

    def read_by_later_loops(self) -> set[Buffer]:
        """What a loop over a row's elements computes and a later loop reads: it goes through memory."""
        stage_of = dict(zip((member.loop.buffer for member in self.group.members), self.stages))
        found = set()
        for member, stage in zip(self.group.members, self.stages):
            for access in member.reads:
                writer = self.group.writer(access.buffer)
                if writer and writer.inner and not writer.loop.is_reduction and stage > stage_of[access.buffer]:
                    found.add(access.buffer)
        return found

    def write(self) -> KernelSource:
        rows = self.order.rows + ((self.order.columns,) if self.order.columns else ())
        if self.per_block:
            self.root.add("thread = cuda.threadIdx.x")
            for name in dict.fromkeys(m.loop.buffer.dtype.name for m in self.group.members if m.loop.is_reduction):
                self.root.add(f"shared_{name} = cuda.shared.array(THREADS, {'boolean' if name == 'bool' else name})")
            self.deal_out(rows, "cuda.blockIdx.x", "cuda.gridDim.x")
        else:
            self.deal_out(rows, "cuda.grid(1)", "cuda.gridsize(1)")
        for stage in range(max(self.stages) + 1):
            self.stage([m for m, s in zip(self.group.members, self.stages) if s == stage])
        while self.block is not self.root:
            self.leave()
        title = kernel_title([m.loop.origin.prim for m in self.group.members if m.loop.origin])
        names = list(dict.fromkeys(self.pointers[buffer] for buffer in self.buffers))
        return KernelSource(title, self.buffers, names, self.root.text(), count(rows), uses_status=bool(self.checks))

    # ------------------------------------------------------------------------------------------ loops

    def deal_out(self, axes: Axes, first: str, step: str) -> None:
        """A loop over all positions of these axes from `first` on; the variables of several are found by division."""
        symbols = frozenset().union(*(axis.variable.symbols for axis in axes))
        end = self.number_text(count(axes), axes)
        if len(axes) <= 1:
            variable = str(axes[0].variable) if axes else "once"
            self.enter(f"for {variable} in range({first}, {end}, {step}):", symbols)
            return
        number = "row" if axes[0].reduced is False else "place"
        self.enter(f"for {number} in range({first}, {end}, {step}):", symbols)
        left = number
        for axis in reversed(axes[1:]):
            size = self.number_text(axis.size, axis)
            self.block.add(f"{axis.variable} = {left} % {size}")
            self.block.add(f"rest_of_{axis.variable} = {left} // {size}")
            left = f"rest_of_{axis.variable}"
        self.block.add(f"{axes[0].variable} = {left}")

    def stage(self, members: Sequence[Member]) -> None:
        for member in members:
            if not member.inner:
                member.loop.run(self, member.position)
        inner = [member for member in members if member.inner]
        reductions = [member for member in inner if member.loop.is_reduction]
        for member in inner:
            if member.loop.is_reduction or isinstance(member.loop, Scan):
                self.begin(member)
        entered = self.enter_reduced(self.order.reduced) if inner else 0
        for member in inner:
            member.loop.run(self, member.position)
        for _ in range(entered):
            self.leave()
        for member in reductions:
            self.finish(member)

    def enter_reduced(self, axes: Sequence[Axis]) -> int:
        """Loops over a row's elements, shared by a block's threads or all for one; how many blocks were opened."""
        if self.per_block:
            self.deal_out(tuple(axes), "thread", "THREADS")
            return 1
        for axis in axes:
            self.enter(f"for {axis.variable} in range({self.number_text(axis.size, axis)}):", axis.variable.symbols)
        return len(axes)

    # ------------------------------------------------------------------------------------------ results

    def begin(self, member: Member) -> None:
        kind, buffer = member.loop.kind, member.loop.buffer
        prefix = {"sum": "total", "prod": "product"}.get(kind, "best")
        self.totals[buffer] = f"{prefix}{len(self.totals)}"
        wide = scan_dtype(buffer, kind) if isinstance(member.loop, Scan) else buffer.dtype
        self.block.add(f"{self.totals[buffer]} = {start(kind, wide, self.spelling)}")

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        total = self.totals[buffer]
        self.block.add(f"{total} = {self.spelling.apply(COMBINING[kind], buffer.dtype, [total, value.name])}")

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        """A thread goes along its row and carries the result."""
        total, wide = self.totals[buffer], scan_dtype(buffer, kind)
        new = self.convert(value, wide) if value.dtype is not wide else value
        self.block.add(f"{total} = {combine_in_order(kind, wide, total, new.name, self.spelling)}")
        name = self.fresh()
        self.block.add(f"{name} = {self.spelling.convert(total, wide, buffer.dtype)}")
        self.store(buffer, address, Value(name, buffer.dtype, self.block))

    def finish(self, member: Member) -> None:
        buffer = member.loop.buffer
        name = self.totals[buffer]
        if self.per_block:
            name = self.fresh()
            shared = f"shared_{buffer.dtype.name}"
            self.block.add(f"{name} = reductions.block_{member.loop.kind}({self.totals[buffer]}, {shared})")
        self.store(buffer, member.write.address, Value(name, buffer.dtype, self.block))

    def store(self, buffer: Buffer, address: Index, value: Value) -> None:
        """As usual, but what belongs to a row that a block shares is written by its first thread only."""
        member = self.group.writer(buffer)
        of_row = member is not None and (member.loop.is_reduction or not member.inner)
        if not (self.per_block and of_row) or buffer in self.unstored:
            super().store(buffer, address, value)
            return
        self.forwarded[buffer, self.number] = value
        line = self.spelling.store(self.pointers[buffer], self.text_of(address), value.name, buffer.dtype)
        self.block.store("if thread == 0:")
        self.block.store(f"    {line}")


def write_cuda_kernel(group: Group, internal: frozenset[Buffer]) -> KernelSource:
    """The kernel of a group whose `internal` buffers need no memory, unless a later loop of the kernel reads them."""
    return CudaKernelWriter(group, internal).write()
