"""Scatters on a GPU: values go where indices say, and several may want one place.

Which kernels that takes depends on how they combine, and on what the device can do in one step:

- all that the device can combine or swap (numbers of four and eight bytes): the places are filled, then every thread
  combines its value atomically. Where there is no instruction for that, it computes what is to be there, and swaps
  it in unless another thread came first: then it tries again. Sums and products of floats depend on the order, in
  their last bits.
- stored values: each place finds out which value stays, the last one, and then fetches it.
- everything else, and sums and products of floats under `use_deterministic_algorithms`: values that can't meet, as
  the columns of an embedding, have a thread each; those that can, come to it one after the other.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.schedule.group import Group
>>> from minitorch_compile.tensor.numerics.dtype import float32, int64
>>> rows, values = Buffer.contiguous("rows", (8,), int64), Buffer.contiguous("values", (8, 4), float32)
>>> table = Buffer.contiguous("table", (3, 4), float32)
>>> added = Scatter(
...     table, (8, 4), lambda ops, at: ops.load(values, values.address(at)), combine="sum",
...     initial=lambda ops, at: ops.constant(0, float32),
...     target=lambda ops, at: [ops.indirect(ops.load(rows, at[0]), 3, wrap=False), at[1]],
... )
>>> fill, add = scatter_kernels(Group.of(added), frozenset(), deterministic=False)
>>> print(add.source.body)
for row in range(cuda.grid(1), n0, cuda.gridsize(1)):
    i0, i1 = indices.split(row, n1)
    t0 = in1[n2 * i0 + i1]
    t1 = in0[i0]
    t2 = device_functions.checked_index(t1, int64(n3), status)
    cuda.atomic.add(out0, n4 * t2 + i1, t0)
>>> fill, in_turns = scatter_kernels(Group.of(added), frozenset(), deterministic=True)
>>> print(in_turns.source.body)
for i1 in range(cuda.grid(1), n0, cuda.gridsize(1)):
    for i0 in range(n1):
        t0 = in1[n2 * i0 + i1]
        t1 = in0[i0]
        t2 = device_functions.checked_index(t1, int64(n3), status)
        t3 = out0[n4 * t2 + i1]
        t4 = t3 + t0
        out0[n4 * t2 + i1] = t4
"""

from __future__ import annotations

from dataclasses import replace

from minitorch_compile.inductor.codegen.cuda.kernels import THREADS
from minitorch_compile.inductor.codegen.shared.accumulators import COMBINING
from minitorch_compile.inductor.codegen.shared.block import Value
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource
from minitorch_compile.inductor.device_calls.lifted_kernel import (
    LiftedKernel,
    LiftedKernelWriter,
    Write,
    write_lifted_kernel,
)
from minitorch_compile.inductor.ir.buffer import Buffer, Position
from minitorch_compile.inductor.ir.dependencies import AccessHandler, loop_variables
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import flatten, unflatten
from minitorch_compile.inductor.ir.iteration import Axes, Axis, count
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.ir.ordered_loops import Scatter
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import dtype, float32, float64, int32, int64

INTEGERS, FLOATS = (int32, int64), (float32, float64)  # that the device changes in one step
SWAPPED_AS = {float32: int32, float64: int64}
ATOMIC = {"sum": "add", "amax": "max", "amin": "min"}


def scatter_kernels(
    group: Group,
    internal: frozenset[Buffer],
    deterministic: bool,
    threads: int = THREADS,
    write: Write = write_lifted_kernel,
) -> list[LiftedKernel]:
    """The kernels of a group that is a scatter, for blocks of so many threads. `write`: what writes those that only
    fill and fetch."""
    (member,) = group.members
    scatter = member.loop
    assert isinstance(scatter, Scatter)
    if not scatter.combine:
        return _kernels_that_store(scatter, internal, threads, write)
    fill = Loop(scatter.buffer, scatter.buffer.sizes, scatter.initial, origin=scatter.origin)
    atomic = is_atomic(scatter.combine, scatter.buffer.dtype, deterministic)
    return [write(Group.of(fill).merged(), internal, threads), _scattering(scatter, internal, atomic)]


def is_atomic(combine: str, element: dtype, deterministic: bool) -> bool:
    """Whether the device combines such elements in one step, in any order.

    >>> is_atomic("sum", float32, False), is_atomic("sum", float32, True), is_atomic("amax", float32, True)
    (True, False, True)
    """
    if element in INTEGERS:
        return True
    return element in FLOATS and (combine in ("amax", "amin") or not deterministic)


def has_instruction(combine: str, element: dtype) -> bool:
    """Whether an instruction combines such elements; those for extremes of floats skip NaN."""
    return combine == "sum" or (combine in ATOMIC and element in INTEGERS)


def _scattering(scatter: Scatter, internal: frozenset[Buffer], atomic: bool) -> LiftedKernel:
    """The kernel that combines values with what is there already."""
    alone = replace(scatter, initial=lambda ops, at: ops.constant(0, scatter.buffer.dtype))
    writer = ScatterWriter(Group.of(alone), internal, atomic)
    source = writer.write()
    source.sizes = writer.sizes
    return LiftedKernel(source, writer.numbers, writer.changed_as)


def _kernels_that_store(
    scatter: Scatter, internal: frozenset[Buffer], threads: int, write: Write
) -> list[LiftedKernel]:
    """The number of the last value that wants a place, -1 if none does; then the value, or what was there."""
    buffer = scatter.buffer
    winners = Buffer.contiguous(f"{buffer.name}_winners", buffer.sizes, int64)
    number = lambda ops, at: ops.index_value(flatten(at, scatter.sizes), int64)
    search = replace(scatter, buffer=winners, inner_fn=number, combine="amax")

    def chosen(ops: Handler, at: Position) -> object:
        winner = ops.load(winners, winners.address(at))
        is_there = ops.apply("ge", winner, ops.constant(0, int64))
        place = lambda: unflatten(ops.indirect(winner, numel(scatter.sizes), wrap=False), scatter.sizes)
        value = ops.masked(is_there, lambda: scatter.inner_fn(ops, place()), 0, buffer.dtype)
        return ops.apply("where", is_there, value, scatter.initial(ops, at))

    none = Loop(winners, buffer.sizes, lambda ops, at: ops.constant(-1, int64), origin=scatter.origin)
    fetch = Loop(buffer, buffer.sizes, chosen, origin=scatter.origin)
    nowhere: frozenset[Buffer] = frozenset()
    first, last = (write(Group.of(x).merged(), out, threads) for x, out in ((none, nowhere), (fetch, internal)))
    return [first, _scattering(search, nowhere, atomic=True), last]


class ScatterWriter(LiftedKernelWriter):
    """Combines values with what is at their places, all at once or those that may meet in turns."""

    def __init__(self, group: Group, internal: frozenset[Buffer], atomic: bool) -> None:
        super().__init__(group, internal)
        self.atomic = atomic
        (member,) = group.members
        element, combine = member.loop.buffer.dtype, getattr(member.loop, "combine", "")
        self.by_instruction = has_instruction(combine, element)
        self.changed_as = None if not atomic else element if self.by_instruction else SWAPPED_AS.get(element, element)

    def write(self) -> KernelSource:
        (member,) = self.group.members
        scatter = member.loop
        assert isinstance(scatter, Scatter)
        position = loop_variables(scatter)
        axes = tuple(Axis(v, size, False) for v, size in zip(position, scatter.sizes) if size != 1)
        apart = axes if self.atomic else tuple(axis for axis in axes if axis in axes_that_stay(scatter, axes))
        self.deal_out(apart, "cuda.grid(1)", "cuda.gridsize(1)")
        for axis in axes:
            if axis not in apart:
                size = self.number_text(axis.size, axis)
                self.enter(f"for {axis.variable} in range({size}):", axis.variable.symbols)
        self.combine(scatter, scatter.inner_fn(self, position), position)
        while self.block is not self.root:
            self.leave()
        title = f"scatter_{scatter.combine}_{'at_once' if self.atomic else 'in_turns'}"
        names = list(dict.fromkeys(self.pointers[buffer] for buffer in self.buffers))
        return KernelSource(title, self.buffers, names, self.root.text(), count(apart), uses_status=bool(self.checks))

    def combine(self, scatter: Scatter, value: Value, position: Position) -> None:
        place = self.text_of(scatter.buffer.address(scatter.target(self, position)))
        pointer, element = self.pointers[scatter.buffer], scatter.buffer.dtype
        if self.atomic and not self.by_instruction:
            self.swap(pointer, place, element, value, COMBINING[scatter.combine])
            return
        if self.atomic:
            self.block.store(f"cuda.atomic.{ATOMIC[scatter.combine]}({pointer}, {place}, {value.name})")
            return
        old = self.fresh()
        self.block.add(f"{old} = {self.spelling.load(pointer, place, element)}")
        value = self.apply(COMBINING[scatter.combine], Value(old, element, self.block), value)
        self.block.store(self.spelling.store(pointer, place, value.name, element))

    def swap(self, pointer: str, place: str, element: dtype, value: Value, prim: str) -> None:
        """What is there combined with the value, until nobody else has changed it meanwhile."""
        index, seen, before, new = (self.fresh() for _ in range(4))
        bits = SWAPPED_AS.get(element, element).name
        number = f"special_functions.{element.name}_of_bits({before})" if element in SWAPPED_AS else before
        combined = self.spelling.apply(prim, element, [number, value.name])
        stored = f"special_functions.bits_of_{element.name}({combined})" if element in SWAPPED_AS else combined
        self.block.add(f"{index} = {place}")
        self.block.add(f"{seen} = cuda.atomic.cas({pointer}, {index}, {bits}(0), {bits}(0))")  # a read, in one step
        self.block.add(f"{before} = {bits}(~{seen})")
        self.enter(f"while {before} != {seen}:")
        self.block.add(f"{before} = {seen}")
        self.block.add(f"{new} = {bits}({stored})")
        self.block.add(f"{seen} = cuda.atomic.cas({pointer}, {index}, {before}, {new})")
        self.leave()


def axes_that_stay(scatter: Scatter, axes: Axes) -> list[Axis]:
    """Those that are a coordinate of the target as they are: values that differ in one never meet."""
    target = scatter.target(AccessHandler(loop_variables(scatter)), loop_variables(scatter))
    return [axis for axis in axes if any(part == axis.variable for part in target)]
