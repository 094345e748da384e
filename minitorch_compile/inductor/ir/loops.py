"""The loop IR: buffers, values not yet computed, and the loops that fill buffers.

A `TensorBox` is a tensor as lowering sees it: sizes, a dtype, and `inner_fn(ops, position)`, which says what the
element at a position is. Boxes compose without any memory being touched, so a chain of pointwise operations and views
becomes one function. When a box is *realized* it gets a `Buffer`, and a loop that fills it; from then on its elements
are loads.

>>> from minitorch_compile.inductor.ir.index import index
>>> from minitorch_compile.inductor.ir.printer import print_body
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x = TensorBox.of(Buffer("x", (4, 8), (8, 1), float32))
>>> doubled = TensorBox((4, 8), float32, lambda ops, at: ops.apply("add", x.load(ops, at), x.load(ops, at)))
>>> column = TensorBox((4,), float32, lambda ops, at: doubled.load(ops, (at[0], index(3))))
>>> print(print_body(column.load, column.sizes))
t0 = load(x, 3 + 8*i0)
t1 = add(t0, t0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.inductor.ir.buffer import Buffer, Ints, Position
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView
from minitorch_compile.inductor.ir.handler import Handler, Origin
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.tensor.memory.memory_format import channels_last, suggested_format
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

InnerFn = Callable[[Handler, Position], Any]


class TensorBox:
    """A tensor during lowering: either stored in a buffer, or a function that computes any of its elements.

    `reads` and `operations` estimate what computing one element costs, so that lowering knows when to realize.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        dtype: dtype,
        inner_fn: InnerFn,
        *,
        inputs: Sequence[TensorBox] = (),
        operations: int = 0,
    ) -> None:
        self.sizes: Ints = tuple(sizes)
        self.dtype = dtype
        self.inner_fn = inner_fn
        self.origin: Origin | None = None
        self.buffer: Buffer | None = None
        self.constant_value: bool | int | float | None = None  # the number, if all elements are one known number
        self.view_of: TensorBox | None = None  # the box of which this one only renames elements
        self.unrounded: TensorBox | None = None  # for 2-byte floats: the same elements in float32, before rounding
        self.in_float32: TensorBox | None = None  # the box that reads this one, widened, once it was asked for
        self.reads: int = sum(x.reads for x in inputs)
        self.operations: int = operations + sum(x.operations for x in inputs)
        # Whether memory in which its channels lie side by side suits it: that is how what it is made from lies.
        self.channels_last: bool = any(x.channels_last and x.sizes == self.sizes for x in inputs)

    @staticmethod
    def of(buffer: Buffer) -> TensorBox:
        box = TensorBox(buffer.sizes, buffer.dtype, lambda ops, at: ops.load(buffer, buffer.address(at)))
        box.become(buffer)
        return box

    def become(self, buffer: Buffer) -> None:
        """From now on the elements are loads from a buffer that some loop fills."""
        self.buffer = buffer
        self.reads, self.operations = 1, 0
        self.channels_last = suggested_format(buffer.sizes, buffer.strides) is channels_last
        self.inner_fn = lambda ops, at: ops.load(buffer, buffer.address(at))

    def load(self, ops: Handler, position: Position) -> Any:
        """The element at a position."""
        position = tuple(position)
        return ops.once((self, position), lambda: self._compute(ops, position))

    def _compute(self, ops: Handler, position: Position) -> Any:
        if self.buffer is not None:  # reading what is stored belongs to whoever reads it
            return self.inner_fn(ops, position)
        outer, ops.origin = ops.origin, self.origin or ops.origin
        try:
            return self.inner_fn(ops, position)
        finally:
            ops.origin = outer

    @property
    def numel(self) -> int:
        return numel(self.sizes)

    def __repr__(self) -> str:
        where = f"stored in {self.buffer.name}" if self.buffer else f"{self.reads} reads, {self.operations} operations"
        return f"TensorBox({self.dtype.name}{list(self.sizes)}, {where})"


# ------------------------------------------------------------------------------------------------ loops


@dataclass(eq=False)
class Loop:
    """Fills `buffer`: for every position of an iteration space of these sizes, the body runs once.

    `reduced` are the dimensions over which the body's values are combined (`kind` says how); a loop without any is
    pointwise. The buffer has the dimensions that are left, in order. `place_of` tells targets, which may ignore it,
    that the result is the first place in a row where the extreme value in that buffer stands.
    """

    buffer: Buffer
    sizes: Ints
    inner_fn: InnerFn
    reduced: Ints = ()
    kind: str = ""
    origin: Origin | None = None
    place_of: Buffer | None = None

    def run(self, ops: Handler, position: Position) -> None:
        """The body at a position."""
        value = self.inner_fn(ops, position)
        address = self.address(position)
        outer, ops.origin = ops.origin, self.origin or ops.origin
        if self.is_reduction:
            ops.store_reduction(self.buffer, address, self.kind, value)
        else:
            ops.store(self.buffer, address, value)
        ops.origin = outer

    def address(self, position: Position) -> Index:
        """Where the body's result goes."""
        return self.buffer.address([part for dim, part in enumerate(position) if dim not in self.reduced])

    @property
    def is_reduction(self) -> bool:
        return bool(self.kind)

    @property
    def row_dims(self) -> Ints:
        """The dimensions whose positions belong together, as one row: a kernel visits them one after the other."""
        return self.reduced

    @property
    def outputs(self) -> list[Buffer]:
        return [self.buffer]


Operation = Loop | ExternCall


@dataclass
class LoopGraph:
    """A whole graph as loops: run the operations in order, and the outputs are filled.

    An output is a view of a buffer: a computed one, or an input that is returned as it is. `written_back`: computed
    ones that are wanted in the memory of an input, once all is done, and nowhere else.
    """

    inputs: list[Buffer]
    operations: list[Operation]
    outputs: list[StridedView]
    constants: dict[Buffer, TensorBase] = field(default_factory=dict)  # tensors that the graph itself supplies
    written_back: dict[Buffer, Buffer] = field(default_factory=dict)

    def __repr__(self) -> str:
        from minitorch_compile.inductor.ir.printer import print_graph  # the printer needs the classes above

        return print_graph(self)
