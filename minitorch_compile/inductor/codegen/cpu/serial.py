"""Loops whose positions run in order, one after the other, and may write anywhere: scatters."""

from __future__ import annotations

from minitorch_compile.inductor.codegen.cpu.writer import CpuKernelWriter
from minitorch_compile.inductor.codegen.shared.accumulators import COMBINING
from minitorch_compile.inductor.codegen.shared.block import Value
from minitorch_compile.inductor.ir.dependencies import loop_variables
from minitorch_compile.inductor.ir.iteration import own_axes
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.ir.ordered_loops import Scatter


class ScatterWriter(CpuKernelWriter):
    """First the initial values, then, position by position, what is stored or added."""

    def loops(self) -> None:
        (member,) = self.group.members
        scatter = member.loop
        assert isinstance(scatter, Scatter)
        self.fill(scatter)
        position = loop_variables(scatter)
        for axis, variable in zip(own_axes(scatter.sizes, ()), (v for v in position if not v.is_constant)):
            self.enter_axis(axis._replace(variable=variable))
        value = scatter.inner_fn(self, position)
        place = self.text_of(scatter.buffer.address(scatter.target(self, position)))
        if scatter.combine:
            old = self.fresh()
            self.block.add(f"{old} = {self.spelling.load(self.pointers[scatter.buffer], place, scatter.buffer.dtype)}")
            value = self.apply(COMBINING[scatter.combine], Value(old, scatter.buffer.dtype, self.block), value)
        self.block.store(self.spelling.store(self.pointers[scatter.buffer], place, value.name, scatter.buffer.dtype))
        self.leave_all()

    def fill(self, scatter: Scatter) -> None:
        buffer = scatter.buffer
        loop = Loop(buffer, buffer.sizes, scatter.initial)
        position = loop_variables(loop)
        for axis, variable in zip(own_axes(buffer.sizes, ()), (v for v in position if not v.is_constant)):
            self.enter_axis(axis._replace(variable=variable))
        loop.run(self, position)
        self.leave_all()
        self.block.flush()  # a single element needs no loop: its store must not wait for the end of the kernel
