"""What every writer of CPU kernels shares: parameters, scratch memory, and where the values of a group live."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence

from minitorch_compile.inductor.codegen.cpu.spelling import QUICK_INTEGER_FUNCTIONS, CpuSpelling
from minitorch_compile.inductor.codegen.shared.block import Block, Value
from minitorch_compile.inductor.codegen.shared.emit import EmitHandler
from minitorch_compile.inductor.codegen.shared.kernel_source import (
    KernelSource,
    ScratchArray,
    kernel_title,
    name_parameters,
)
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.handler import Number
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axis, count
from minitorch_compile.inductor.machine import current
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.tensor.numerics.dtype import dtype, int64

# LLVM unrolls a loop of a known length between these completely, before it would vectorise it: a sum over 64 columns
# takes three times as long then as if the length is a parameter. Shorter ones are better unrolled. Loops that compute
# a function such as exp are too much for it to unroll, and softmax over 48 columns takes three quarters of the time
# with a number; but of a number it leaves what fills no vector to scalar code (over 20 columns: twice the time).
UNROLLED, VECTORISED = 16, 96


# What asks whether a quick function is out of its depth.
DOUBTFUL = {"sin": "far_angle", "cos": "far_angle", "remainder": "far_quotient", "fmod": "far_quotient"}


class CpuKernelWriter(EmitHandler):
    """Writes one group. `scratch_arrays` collects the memory that the kernel asks for, `extent` how far `hi` goes."""

    scans_are_loops = True  # whether running results are computed after the loop that computes what they combine

    def __init__(self, group: Group, internal: frozenset[Buffer], shared: Mapping[Buffer, Buffer]) -> None:
        self.group = group
        self.buffers, pointers = name_parameters(group, internal, shared)
        super().__init__(CpuSpelling(), Block(""), pointers)
        self.doubted: set[str] = set()  # variables whose values are looked at, see `doubt`
        self.internal = internal
        self.stages = group.stages(self.scans_are_loops)
        self.scratch_arrays: list[ScratchArray] = []
        self.sizes: dict[str, int] = {}
        self.extent = 1

    def write(self, careful: bool = False) -> KernelSource:
        """The kernel; if `careful`, one that is right for all numbers, and says which index is out of range."""
        self.spelling = CpuSpelling(careful)
        self.careful = careful
        self.loops()
        names = list(dict.fromkeys(self.pointers[buffer] for buffer in self.buffers))
        title = kernel_title([m.loop.origin.prim for m in self.group.members if m.loop.origin])
        status = bool(self.checks or self.doubted)
        body = self.root.text()
        if self.doubted:
            body = f"doubt = False\n{body}\nif doubt:\n    status[0] = DOUBT"
        cost = estimated_nanoseconds(self.group, self.buffers)
        return KernelSource(
            title, self.buffers, names, body, self.extent, self.scratch_arrays, self.sizes, status, cost
        )

    @abstractmethod
    def loops(self) -> None:
        """Writes the loops of the group into `root`."""

    # ------------------------------------------------------------------------------------------ where values live

    def internal_members(self) -> list[tuple[Member, bool]]:
        """The members whose buffers need no memory outside the kernel, and whether a later stage reads them."""
        result = []
        for member, stage in zip(self.group.members, self.stages):
            buffer = member.loop.buffer
            if buffer in self.internal:
                later = [s for m, s in zip(self.group.members, self.stages) if any(a.buffer is buffer for a in m.reads)]
                result.append((member, max(later, default=0) > stage))
        return result

    def new_scratch(self, element: dtype, length: int) -> str:
        array = ScratchArray(f"scratch{len(self.scratch_arrays)}", element, length)
        self.scratch_arrays.append(array)
        return array.name

    # ------------------------------------------------------------------------------------------ doubts

    def apply(self, prim: str, *operands: Value) -> Value:
        value = super().apply(prim, *operands)
        if prim in DOUBTFUL and value.dtype.is_floating_point:
            function = f"{DOUBTFUL[prim]}_{value.dtype.name}"
            self.doubt(value, f"{function}({', '.join(operand.name for operand in operands)})")
        if prim in QUICK_INTEGER_FUNCTIONS and value.dtype is int64:
            self.doubt(value, f"far_numerator({operands[0].name})")
        return value

    def indirect(self, value: Value, size: int, wrap: bool) -> Index:
        """An index out of range is noted and replaced by 0: there is no branch, so such loops vectorise, too."""
        if self.careful:
            return super().indirect(value, size, wrap)
        at = [value]
        place = self.line(f"from_the_end({value.name}, int64({size}))", value.dtype, at) if wrap else value
        inside = self.line(f"index_inside({place.name}, int64({size}))", value.dtype, [place])
        self.doubt(inside, f"({inside.name} != {place.name})")
        return self.bind(symbol(inside.name, size, indirect=True), inside)

    def doubt(self, value: Value, condition: str) -> None:
        """Notes that a value, computed by the line before, is not right where the condition holds (`fast_path`)."""
        if not self.careful and value.name not in self.doubted:
            self.doubted.add(value.name)
            value.block.add(f"doubt = doubt | {condition}")

    def constant(self, value: Number, dtype: dtype) -> Value:
        """As usual, but LLVM is not shown the numbers with which it would do what the processor doesn't: `unfolded`."""
        if dtype.is_floating_point and (value == -1 or not math.isfinite(value)):
            return self.line(f"unfolded({self.spelling.constant(value, dtype)}, lo)", dtype)
        return super().constant(value, dtype)

    # ------------------------------------------------------------------------------------------ loops

    def at_stage(self, stage: int, inner: bool) -> list[Member]:
        """The members of a stage that run at every point (`inner`), or once a row."""
        return [m for m, s in zip(self.group.members, self.stages) if s == stage and m.inner == inner]

    def enter_axis(self, axis: Axis, bounds: str = "", body: Sequence[Member] = ()) -> None:
        """A loop over an axis; `body` is what it does, if there are no other loops inside."""
        variable = axis.variable
        self.enter(f"for {variable} in range({bounds or self.size_text(axis.size, body)}):", variable.symbols)

    def size_text(self, size: int, body: Sequence[Member] = ()) -> str:
        """A loop's length: a number, or a parameter if LLVM would do harm by knowing the number."""
        is_long = size % (current().vector_bytes // 4) == 0 and any(member.accesses.expensive for member in body)
        if is_long or not UNROLLED < size < VECTORISED:
            return str(size)
        name = f"n{size}"
        self.sizes[name] = size
        return name

    def enter_rows(self, axes: Sequence[Axis], body: Sequence[Member] = ()) -> None:
        """Loops over these axes, of which the outermost takes the range that the kernel was given."""
        for number, axis in enumerate(axes):
            if number == 0:
                self.extent = axis.size
            self.enter_axis(axis, "lo, hi" if number == 0 else "", body if axis is axes[-1] else ())

    def leave_all(self) -> None:
        """Closes every open block."""
        while self.block is not self.root:
            self.leave()


def estimated_nanoseconds(group: Group, buffers: list[Buffer]) -> float:
    """Roughly what a kernel takes on one core: a twentieth of a nanosecond an operation, and 50 bytes a nanosecond."""
    points = count(group.axes)
    return 0.05 * group.operations * points + 0.02 * sum(buffer.nbytes for buffer in buffers)
