"""Which kernel an operation on its own gets for many elements: the one for all sizes at first, then a faster one.

A kernel that takes several neighbours at a time takes four times as long to compile as one that goes element by
element, and there is one for each kind of size. So a new size is computed by the kernel that is at hand, or soon is,
until so much was computed that the faster one pays. What is on disk is taken at once. Both give the same: each element
is computed as before. The sum of a row depends on the order in which it is added up, so reductions don't change their
kernel on the way.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y = Buffer.contiguous("x", (1 << 20,), float32), Buffer.contiguous("y", (1 << 20,), float32)
>>> group = Group.of(Loop(y, y.sizes, lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))))).merged()
>>> warm_up = WarmUp(is_at_hand=lambda kernel: False)
>>> def reason():
...     first = warm_up.first_kernels()
...     return first(group, frozenset()).source.reason, warm_up.is_due(first.waits)
>>> [reason() for _ in range(ENOUGH >> 20)][-1]
('element by element, whatever the sizes', True)
>>> reason()
('4 x 4 neighbouring elements of i0 a thread at a time', False)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from minitorch_compile.inductor.codegen.cuda.kernels import THREADS
from minitorch_compile.inductor.device_calls import lifted_kernel
from minitorch_compile.inductor.device_calls.lifted_kernel import LiftedKernel, write_lifted_kernel
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.iteration import count
from minitorch_compile.inductor.schedule.group import Group

ENOUGH = 1 << 30  # elements: in the time that one pass over them takes, a kernel is compiled


@dataclass
class WarmUp:
    """`is_at_hand`: whether a kernel needn't be compiled. `work`: how many elements were computed without one."""

    is_at_hand: Callable[[LiftedKernel], bool]
    work: Counter[str] = field(default_factory=Counter)

    def first_kernels(self) -> FirstKernels:
        """Writes the kernels of one call."""
        return FirstKernels(self)

    def is_due(self, waits: Mapping[str, int]) -> bool:
        """Notes that a call ran; whether it should be made ready again, with a faster kernel."""
        self.work.update(waits)
        return any(self.work[text] >= ENOUGH for text in waits)


@dataclass
class FirstKernels:
    """`waits`: the faster kernels, and how many elements the call computes without each. `written`: those it has."""

    warm_up: WarmUp
    waits: dict[str, int] = field(default_factory=dict)
    written: list[LiftedKernel] = field(default_factory=list)

    def __call__(self, group: Group, internal: frozenset[Buffer], threads: int = THREADS) -> LiftedKernel:
        self.written.append(self.chosen(group, internal, threads))
        return self.written[-1]

    def chosen(self, group: Group, internal: frozenset[Buffer], threads: int) -> LiftedKernel:
        best, points = write_lifted_kernel(group, internal, threads), count(group.axes)
        if points < lifted_kernel.FEW or group.has_reduction or group.has_scan:
            return best
        name = best.source.structure
        if self.warm_up.work[name] >= ENOUGH or self.warm_up.is_at_hand(best):
            return best
        plain = write_lifted_kernel(group, internal, threads, whatever_the_sizes=True)
        if plain.source.body == best.source.body:
            return best
        self.waits[name] = points
        return plain
