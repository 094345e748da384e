"""What every writer of CPU kernels shares: parameters, scratch memory, and where the values of a group live."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from minitorch_compile.inductor.codegen.block import Block
from minitorch_compile.inductor.codegen.cpu_spelling import CpuSpelling
from minitorch_compile.inductor.codegen.emit import EmitHandler
from minitorch_compile.inductor.codegen.kernel_source import KernelSource, ScratchArray, kernel_title
from minitorch_compile.inductor.group import Group, Member
from minitorch_compile.inductor.ir import Buffer
from minitorch_compile.inductor.iteration import Axis
from minitorch_compile.tensor.dtype import dtype


class CpuKernelWriter(EmitHandler):
    """Writes one group. `scratch_arrays` collects the memory that the kernel asks for, `extent` how far `hi` goes."""

    def __init__(self, group: Group, internal: frozenset[Buffer], shared: Mapping[Buffer, Buffer]) -> None:
        self.group = group
        self.buffers, pointers = name_parameters(group, internal, shared)
        super().__init__(CpuSpelling(), Block(""), pointers)
        self.internal = internal
        self.stages = group.stages()
        self.scratch_arrays: list[ScratchArray] = []
        self.extent = 1

    def write(self) -> KernelSource:
        self.loops()
        names = list(dict.fromkeys(self.pointers[buffer] for buffer in self.buffers))
        title = kernel_title([m.loop.origin.prim for m in self.group.members if m.loop.origin])
        status = bool(self.checks)
        return KernelSource(title, self.buffers, names, self.root.text(), self.extent, self.scratch_arrays, status)

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

    # ------------------------------------------------------------------------------------------ loops

    def at_stage(self, stage: int, inner: bool) -> list[Member]:
        """The members of a stage that run at every point (`inner`), or once a row."""
        return [m for m, s in zip(self.group.members, self.stages) if s == stage and m.inner == inner]

    def enter_axis(self, axis: Axis, bounds: str = "") -> None:
        variable = axis.variable
        self.enter(f"for {variable} in range({bounds or axis.size}):", variable.symbols)

    def enter_rows(self, axes: Sequence[Axis]) -> None:
        """Loops over these axes, of which the outermost takes the range that the kernel was given."""
        for number, axis in enumerate(axes):
            if number == 0:
                self.extent = axis.size
            self.enter_axis(axis, "lo, hi" if number == 0 else "")

    def leave_all(self) -> None:
        """Closes every open block."""
        while self.block is not self.root:
            self.leave()


def name_parameters(
    group: Group, internal: frozenset[Buffer], shared: Mapping[Buffer, Buffer]
) -> tuple[list[Buffer], dict[Buffer, str]]:
    """The buffers that the kernel takes, and a name for each: in0, out0, or inout0 for two that share memory."""
    inputs = group.inputs
    outputs = [buffer for buffer in group.outputs if buffer not in internal]
    overwritten = set(shared.values())
    names: dict[Buffer, str] = {}
    counts = {"in": 0, "out": 0, "inout": 0}
    for buffer, prefix in [*((b, "inout" if b in overwritten else "in") for b in inputs), *((b, "out") for b in outputs)]:
        if buffer in shared:
            names[buffer] = names[shared[buffer]]
        else:
            names[buffer] = f"{prefix}{counts[prefix]}"
            counts[prefix] += 1
    return [buffer for buffer in names if buffer not in shared], names
