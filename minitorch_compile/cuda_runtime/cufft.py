"""Fourier transforms by cuFFT, by way of the bindings of nvmath-python: one dimension after another.

cuFFT is told steps, so no tensor is copied to have its dimension at the end: the elements of a transform lie a step
apart, and the transforms of a batch, too. One batch is one call; over the dimensions that are left calls are repeated.
Only real numbers that begin at an odd place are copied to other memory: it wants them where complex ones may begin.

>>> axes = [Axis(4, 24, 24), Axis(3, 8, 8), Axis(8, 1, 1)]
>>> one_dimension("c2c", axes, 2)            # the last of a contiguous (4, 3, 8): one batch of 12
Pass(kind='c2c', length=8, batch=12, before=(1, 8), after=(1, 8), offsets=((0, 0),))
>>> one_dimension("c2c", axes, 1).offsets    # the middle: a batch of 8 for each of 4
((0, 0), (24, 24), (48, 48), (72, 72))
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.stream_workspaces import StreamWorkspaces

# cufftType_t, for elements of four and of eight bytes.
TYPES = {"c2c": (0x29, 0x69), "r2c": (0x2A, 0x6A), "c2r": (0x2C, 0x6C)}
CALLS = {"c2c": ("exec_c2c", "exec_z2z"), "r2c": ("exec_r2c", "exec_d2z"), "c2r": ("exec_c2r", "exec_z2d")}
FORWARD, INVERSE = -1, 1
ALIGNMENT = 16  # of any number's memory, in bytes


class Axis(NamedTuple):
    """A dimension: its size, and its steps where it is read and where it is written."""

    size: int
    before: int
    after: int


class Pass(NamedTuple):
    """Transforms along one dimension. `before`, `after`: steps within a transform, and from one to the next, where it
    is read and where it is written; `offsets`: where each batch begins there."""

    kind: str
    length: int
    batch: int
    before: tuple[int, int]
    after: tuple[int, int]
    offsets: tuple[tuple[int, int], ...]


def one_dimension(kind: str, axes: Sequence[Axis], dim: int) -> Pass:
    """The transforms along `dim`, whose size is that of the real or complex numbers that are transformed."""
    length, before, after = axes[dim]
    others = _joined([axis for d, axis in enumerate(axes) if d != dim and axis.size > 1])
    batch = max(others, key=lambda axis: axis.size, default=Axis(1, 1, 1))
    rest = [axis for axis in others if axis is not batch]
    places = itertools.product(*(range(axis.size) for axis in rest))
    offsets = tuple(
        (sum(n * axis.before for n, axis in zip(at, rest)), sum(n * axis.after for n, axis in zip(at, rest)))
        for at in places
    )
    return Pass(kind, length, batch.size, (before, batch.before), (after, batch.after), offsets)


def _joined(axes: Sequence[Axis]) -> list[Axis]:
    """Neighbours that lie as one dimension, on both sides, are one."""
    joined: list[Axis] = []
    for axis in axes:
        outer = joined[-1] if joined else None
        if outer and (outer.before, outer.after) == (axis.size * axis.before, axis.size * axis.after):
            joined[-1] = Axis(outer.size * axis.size, axis.before, axis.after)
        else:
            joined.append(axis)
    return joined


class CuFft:
    """The library."""

    def __init__(self, driver: Any, workspaces: StreamWorkspaces, bindings: Any) -> None:
        self.driver, self.workspaces, self.bindings = driver, workspaces, bindings


class PreparedPass:
    """A pass without its addresses; `wide`: its real numbers have eight bytes. A plan belongs to a device."""

    def __init__(self, library: CuFft, described: Pass, wide: bool, forward: bool) -> None:
        self.library, self.described, self.wide = library, described, wide
        self.direction = FORWARD if forward else INVERSE
        self.plans: dict[int, tuple[int, int]] = {}  # plan and bytes that it works in, by device
        real, number = (8, 16) if wide else (4, 8)
        self.bytes_before = real if described.kind == "r2c" else number
        self.bytes_after = real if described.kind == "c2r" else number
        directed = (self.direction,) if described.kind == "c2c" else ()
        call = getattr(library.bindings, CALLS[described.kind][wide])
        self.execute = lambda plan, source, target: call(plan, source, target, *directed)

    def __call__(self, source: int, target: int, stream: StreamHandle) -> None:
        with self.library.workspaces.turn:  # a plan is told stream and memory, and then run
            self.run(source, target, stream)

    def run(self, source: int, target: int, stream: StreamHandle) -> None:
        library = self.library
        library.driver.enter(stream.device)
        plan, nbytes = self.plans.get(stream.device) or self.make(stream.device)
        library.bindings.set_stream(plan, stream.handle)
        places = [
            (source + before * self.bytes_before, target + after * self.bytes_after)
            for before, after in self.described.offsets
        ]
        beside = 0 if all(map(self.is_aligned, places)) else self.bytes_spanned()
        if nbytes + beside:
            area = library.workspaces.of(stream, nbytes + beside + ALIGNMENT)
            library.bindings.set_work_area(plan, area)
            beside = -(-(area + nbytes) // ALIGNMENT) * ALIGNMENT
        for place in places:
            if self.is_aligned(place):
                self.execute(plan, *place)
            else:
                self.execute_beside(plan, place, beside, stream)

    def is_aligned(self, place: tuple[int, int]) -> bool:
        """Whether the real numbers among what is read and written begin where cuFFT wants them: where complex ones
        may."""
        number = max(self.bytes_before, self.bytes_after)
        return not (place[0] % number or place[1] % number)

    def bytes_spanned(self) -> int:
        """From the first of the real numbers of a batch to behind its last."""
        described = self.described
        step, next_one = described.before if described.kind == "r2c" else described.after
        real = min(self.bytes_before, self.bytes_after)
        return real * ((described.length - 1) * step + (described.batch - 1) * next_one + 1)

    def execute_beside(self, plan: int, place: tuple[int, int], beside: int, stream: StreamHandle) -> None:
        """Transforms with the real numbers, and what lies between them, in other memory, which is aligned."""
        copy, nbytes, (source, target) = self.library.driver.copy_device_to_device, self.bytes_spanned(), place
        reads = self.described.kind == "r2c"
        copy(beside, source if reads else target, nbytes, stream)
        self.execute(plan, *((beside, target) if reads else (source, beside)))
        if not reads:
            copy(target, beside, nbytes, stream)

    def make(self, device: int) -> tuple[int, int]:
        """The plan for a device, which must be this thread's."""
        bindings, described = self.library.bindings, self.described
        plan = bindings.create()
        bindings.set_auto_allocation(plan, 0)
        sizes = [described.length]
        layouts = (
            sizes,
            *described.before,
            sizes,
            *described.after,
        )  # sizes: those of padded memory, of no account here
        kind = TYPES[described.kind][self.wide]
        nbytes = bindings.make_plan_many(plan, 1, sizes, *layouts, kind, described.batch)
        self.plans[device] = plan, nbytes
        return self.plans[device]

    def __del__(self) -> None:
        for plan, _ in self.__dict__.get("plans", {}).values():
            self.library.bindings.destroy(plan)
