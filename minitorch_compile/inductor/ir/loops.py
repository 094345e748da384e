"""The loop IR: buffers, values not yet computed, and the loops that fill buffers.

A `TensorBox` is a tensor as lowering sees it: sizes, a dtype, and `inner_fn(ops, position)`, which says what the
element at a position is. Boxes compose without any memory being touched, so a chain of pointwise operations and views
becomes one function. When a box is *realized* it gets a `Buffer`, and a loop that fills it; from then on its elements
are loads.

>>> from minitorch_compile.inductor.ir.index import index
>>> from minitorch_compile.inductor.ir.printer import print_body
>>> from minitorch_compile.tensor.dtype import float32
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

from minitorch_compile.inductor.ir.handler import Handler, Origin
from minitorch_compile.inductor.ir.index import Index, strided
from minitorch_compile.tensor.dtype import dtype
from minitorch_compile.tensor.memory_format import channels_last, suggested_format
from minitorch_compile.tensor.strides import contiguous_strides, numel
from minitorch_compile.tensor.tensor_base import TensorBase

Ints = tuple[int, ...]
Position = Sequence[Index]
# What a kernel reports in the first of three integers: an index that is out of range, before the index and the size, or
# that something has to be computed again, with care.
INDEX_ERROR, RUNTIME_ERROR, DOUBT = 1, 2, 3
Element = dtype  # the class, where a field of the same name hides it
InnerFn = Callable[[Handler, Position], Any]


@dataclass(eq=False)
class Buffer:
    """A stretch of memory, and how positions map into it. `kind` is input, temporary or output."""

    name: str
    sizes: Ints
    strides: Ints
    dtype: dtype
    kind: str = "temporary"

    @staticmethod
    def contiguous(name: str, sizes: Ints, dtype: Element) -> Buffer:
        return Buffer(name, sizes, contiguous_strides(sizes), dtype)

    def address(self, position: Position) -> Index:
        return strided(position, self.strides)

    @property
    def length(self) -> int:
        """Elements from the first to the last one used."""
        return 1 + sum((n - 1) * s for n, s in zip(self.sizes, self.strides)) if 0 not in self.sizes else 0

    @property
    def nbytes(self) -> int:
        return self.length * self.dtype.itemsize

    def __repr__(self) -> str:
        dense = "" if self.strides == contiguous_strides(self.sizes) else f", strides={list(self.strides)}"
        return f"{self.name}: {self.dtype.name}{list(self.sizes)}{dense}"


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


@dataclass(eq=False)
class Scan(Loop):
    """A running result along one dimension: at each position, the values of all up to it in `dim`, combined.

    `kind` is sum, prod, amax, amin or logaddexp.
    """

    dim: int = 0

    def run(self, ops: Handler, position: Position) -> None:
        value = self.inner_fn(ops, position)
        outer, ops.origin = ops.origin, self.origin or ops.origin
        ops.store_scan(self.buffer, self.address(position), self.kind, value)
        ops.origin = outer

    @property
    def is_reduction(self) -> bool:
        return False

    @property
    def row_dims(self) -> Ints:
        return (self.dim,)


@dataclass(eq=False)
class Scatter(Loop):
    """Fills `buffer` with `initial`, then for every position of the space puts its value where `target` says.

    `combine` says how: sum, prod, amax or amin with what is there, or "", in its place. Positions run in row-major
    order, one after the other, so the result is the same each time; of values that are stored the last one stays.
    """

    initial: InnerFn = field(default=lambda ops, at: None)
    target: Callable[[Handler, Position], Position] = field(default=lambda ops, at: at)
    combine: str = ""


@dataclass(eq=False)
class StridedView:
    """Part of a buffer, as an extern kernel sees it: sizes, strides and an offset, all in elements."""

    buffer: Buffer
    sizes: Ints
    strides: Ints
    offset: int = 0

    @property
    def is_contiguous(self) -> bool:
        return all(n == 1 or s == c for n, s, c in zip(self.sizes, self.strides, contiguous_strides(self.sizes)))

    def __repr__(self) -> str:
        offset = f" + {self.offset}" if self.offset else ""
        return f"{self.buffer.name}{list(self.sizes)}:{list(self.strides)}{offset}"


@dataclass(eq=False)
class ExternCall:
    """A kernel that isn't made from loops here, such as a matrix product: `outputs = kernel(inputs, parameters)`."""

    kernel: str
    inputs: list[StridedView]
    outputs: list[Buffer]
    parameters: tuple[Any, ...] = ()
    origin: Origin | None = None

    def __repr__(self) -> str:
        results = ", ".join(map(repr, self.outputs))
        arguments = ", ".join(map(repr, [*self.inputs, *self.parameters]))
        return f"{results} = {self.kernel}({arguments})"


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


def whole(buffer: Buffer) -> StridedView:
    return StridedView(buffer, buffer.sizes, buffer.strides)


def matrix_layout(view: StridedView) -> tuple[bool, int] | None:
    """How the last two dimensions lie, if BLAS can read them: whether by columns, and the step between rows or columns.

    >>> x = Buffer.contiguous("x", (4, 8), dtype)
    >>> matrix_layout(StridedView(x, (4, 8), (8, 1))), matrix_layout(StridedView(x, (8, 4), (1, 8)))
    ((False, 8), (True, 8))
    >>> matrix_layout(StridedView(x, (4, 4), (8, 2))) is None
    True
    """
    rows, columns = view.sizes[-2:]
    row_stride, column_stride = view.strides[-2:]
    if (columns == 1 or column_stride == 1) and (rows == 1 or row_stride >= columns):
        return False, row_stride if rows > 1 else columns
    if (rows == 1 or row_stride == 1) and (columns == 1 or column_stride >= rows):
        return True, column_stride if columns > 1 else rows
    return None
