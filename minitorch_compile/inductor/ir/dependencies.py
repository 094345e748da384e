"""Which memory a loop touches: a handler that computes nothing and writes down every access.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y = Buffer("x", (4, 8), (8, 1), float32), Buffer("y", (8, 4), (4, 1), float32)
>>> transpose = Loop(y, (8, 4), lambda ops, at: ops.load(x, x.address((at[1], at[0]))))
>>> accesses_of(transpose)
reads x[8*i1 + i0]; writes y[4*i0 + i1]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from minitorch_compile.inductor.ir.buffer import Buffer, Position
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.index import ZERO, Index, symbol, variables
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph, Operation
from minitorch_compile.inductor.ir.ordered_loops import Scatter
from minitorch_compile.tensor.numerics.dtype import dtype

# Series and integrals: a call of SciPy's for each element, on the CPU; other targets don't have them.
SERIES = frozenset(
    {"erfc", "erfcx", "erf_inv", "ndtri", "lgamma", "digamma", "igamma", "igammac"}
    | {f"bessel_{kind}" for kind in ("j0", "j1", "y0", "y1", "i0e", "i1e", "k0e", "k1e")}
)
# What an elementwise primitive costs beside an addition, roughly: it decides what is worth computing twice.
EXPENSIVE = SERIES | {
    "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "pow", "atan2", "fmod", "remainder", "random"
}  # fmt: skip


ELEMENT = "element"


class Access(NamedTuple):
    """One load or store: the buffer, and the address as an expression in the loop's variables."""

    buffer: Buffer
    address: Index
    masked: bool = False

    def __repr__(self) -> str:
        return f"{self.buffer.name}[{self.address}]"


@dataclass
class Accesses:
    """All that one body does: reads, writes, other uses of index expressions, and how many operations."""

    position: Position
    reads: list[Access] = field(default_factory=list)
    writes: list[Access] = field(default_factory=list)
    index_values: list[Index] = field(default_factory=list)
    operations: int = 0
    expensive: int = 0

    def __repr__(self) -> str:
        parts = [("reads", self.reads), ("writes", self.writes)]
        return "; ".join(f"{what} {', '.join(map(repr, accesses))}" for what, accesses in parts if accesses)

    @property
    def indices(self) -> list[Index]:
        """Every index expression that occurs."""
        return [access.address for access in [*self.reads, *self.writes]] + self.index_values


class AccessHandler(Handler):
    """Collects accesses; every element has the same value, ELEMENT."""

    def __init__(self, position: Position) -> None:
        super().__init__()
        self.found = Accesses(position)
        self.depth_of_masks = 0

    def load(self, buffer: Buffer, address: Index) -> str:
        access = Access(buffer, address, self.depth_of_masks > 0)
        if access not in self.found.reads:
            self.found.reads.append(access)
        return ELEMENT

    def constant(self, value: Number, dtype: dtype) -> str:
        return ELEMENT

    def index_value(self, index: Index, dtype: dtype) -> str:
        self.found.index_values.append(index)
        return ELEMENT

    def apply(self, prim: str, *operands: str) -> str:
        self.found.operations += 1
        self.found.expensive += prim in EXPENSIVE
        return ELEMENT

    def convert(self, value: str, dtype: dtype) -> str:
        self.found.operations += 1
        return ELEMENT

    def random(self, seed: str, counter: str, dtype: dtype) -> str:
        return self.apply("random")

    def indirect(self, value: str, size: int, wrap: bool) -> Index:
        self.found.operations += 1
        return symbol(f"indirect{self.found.operations}_{len(self.found.reads)}", size, indirect=True)

    def masked(self, condition: str, body: Callable[[], str], other: Number, dtype: dtype) -> str:
        self.depth_of_masks += 1
        self.inside(body)
        self.depth_of_masks -= 1
        return ELEMENT

    def store(self, buffer: Buffer, address: Index, value: str) -> None:
        self.found.writes.append(Access(buffer, address))

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: str) -> None:
        self.found.writes.append(Access(buffer, address))

    store_scan = store_reduction


def loop_variables(loop: Loop) -> tuple[Index, ...]:
    """i0, i1, ... for the dimensions that the result has, and r0, r1, ... for those reduced away."""
    names = [f"{'r' if dim in loop.reduced else 'i'}{dim}" for dim in range(len(loop.sizes))]
    return tuple(symbol(name, size) if size != 1 else ZERO for name, size in zip(names, loop.sizes))


def accesses_of(loop: Loop) -> Accesses:
    """The accesses of a loop, in its own variables."""
    position = loop_variables(loop)
    handler = AccessHandler(position)
    if isinstance(loop, Scatter):
        loop.initial(handler, variables("initial", loop.buffer.sizes))  # the values may have fewer dimensions
        loop.target(handler, position)
        loop.inner_fn(handler, position)
        handler.found.writes.append(Access(loop.buffer, symbol("anywhere", max(loop.buffer.length, 1), indirect=True)))
    else:
        loop.run(handler, position)
    return handler.found


def buffers_read(operation: Operation) -> list[Buffer]:
    """The buffers that an operation reads, each once, in order."""
    if isinstance(operation, ExternCall):
        return list(dict.fromkeys(view.buffer for view in operation.inputs))
    return list(dict.fromkeys(access.buffer for access in accesses_of(operation).reads))


def in_dependency_order(operations: Sequence[Operation]) -> list[Operation]:
    """The operations, each after those whose buffers it reads, otherwise in the given order.

    Lowering may find out late that a value has to be stored, when operations that read it are there already.
    """
    producer = {buffer: operation for operation in operations for buffer in operation.outputs}
    order: dict[Operation, None] = {}
    for start in operations:
        stack = [start]
        while stack:
            sources = (producer[buffer] for buffer in buffers_read(stack[-1]) if buffer in producer)
            missing = next((source for source in sources if source not in order and source is not stack[-1]), None)
            if missing is None:
                order[stack.pop()] = None
            else:
                stack.append(missing)
    return list(order)


def plain_view(inner_fn: Callable[[Handler, Position], Any], position: Position) -> StridedView | None:
    """The part of a buffer that a body is, if all it does is load one element at an affine address; else None."""
    handler = AccessHandler(position)
    inner_fn(handler, position)
    found = handler.found
    if len(found.reads) != 1 or found.operations or found.reads[0].masked:
        return None
    buffer, address, _ = found.reads[0]
    if not address.is_affine or address.is_indirect:
        return None
    strides = tuple(0 if part.is_constant else address.coefficient(part) for part in position)
    return StridedView(buffer, (), strides, address.constant)


def live_operations(graph: LoopGraph) -> list[Operation]:
    """The operations whose results reach an output, in order."""
    needed = {view.buffer for view in graph.outputs}
    live: list[Operation] = []
    for operation in reversed(graph.operations):
        if not needed.isdisjoint(operation.outputs):
            needed.update(buffers_read(operation))
            live.append(operation)
    return live[::-1]
