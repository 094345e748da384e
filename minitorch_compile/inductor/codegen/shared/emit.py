"""The handler that writes a kernel: running a loop body under it leaves the lines that compute the body.

Every operation becomes a line `t3 = t1 * t2` in the outermost block where its operands exist, and an operation written
before is not written again. How an operation is spelled is up to the target (`spelling.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from minitorch_compile.inductor.codegen.shared.block import Block, Value
from minitorch_compile.inductor.codegen.shared.spelling import Spelling
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.handler import Handler, Number, result_of
from minitorch_compile.inductor.ir.index import Digit, Index, Symbol, symbol
from minitorch_compile.tensor.numerics.dtype import bool_, dtype, int64


class EmitHandler(Handler):
    """Writes lines into `block`, the innermost open one. `pointers` name the kernel's parameters.

    `forwarded` holds values that the kernel itself wrote and that a later body uses instead of loading them: a group
    has made sure that it wants the same element, however else its address may be spelled here. `number` counts the
    points of the group that one pass of the loops takes, where it takes several.
    Buffers in `unstored` live in variables only; those in `scratch`, in a small array (its name, and where the
    element lies in it).
    """

    def __init__(self, spelling: Spelling, root: Block, pointers: dict[Buffer, str]) -> None:
        super().__init__()
        self.spelling = spelling
        self.root = root
        self.block = root
        self.pointers = pointers
        self.forwarded: dict[tuple[Buffer, int], Value] = {}
        self.number = 0
        self.unstored: set[Buffer] = set()
        self.scratch: dict[Buffer, tuple[str, Index]] = {}
        self.count = 0
        self.checks: list[str] = []  # what can go wrong at run time; makes the kernel take a status pointer

    # ------------------------------------------------------------------------------------------ lines and blocks

    def fresh(self) -> str:
        self.count += 1
        return f"t{self.count - 1}"

    def line(self, expression: str, dtype: dtype, operands: Iterable[Any] = (), index: Index | None = None) -> Value:
        """A variable for an expression, in the outermost block that has all the expression is made of."""
        block = self.home(operands, index)
        known = self.block.find(expression)
        if known is not None:
            return known
        value = Value(self.fresh(), dtype, block)
        if self.origin is not None:
            block.comment(str(self.origin))
        block.add(f"{value.name} = {expression}")
        block.known[expression] = value
        return value

    def home(self, operands: Iterable[Value], index: Index | None) -> Block:
        """The outermost block in which these values and the variables of this index are bound."""
        depth = max((value.block.depth for value in operands), default=0)
        needed = index.symbols if index is not None else frozenset()
        for block in self.block.around():
            if block.depth == depth or not needed.isdisjoint(block.variables) or block.confines:
                return block
        return self.root

    def enter(self, header: str, variables: frozenset[Symbol] = frozenset()) -> Block:
        """Opens a block; what is computed from now on goes there if it has to."""
        self.block = self.block.open(header, variables)
        self._remembered.append({})
        return self.block

    def leave(self) -> None:
        self.block.close()
        assert self.block.parent is not None
        self.block = self.block.parent
        self._remembered.pop()

    def number_text(self, value: int, role: Hashable) -> str:
        """How a size is written. `role` tells apart what it is the size of, for who doesn't write the number itself."""
        return str(value)

    def text_of(self, index: Index) -> str:
        """An index expression as source text."""
        text = ""
        for atom, count in sorted(index.terms, key=lambda term: term[1] < 0):  # what is added before what is taken away
            factor = "" if abs(count) == 1 else f"{self.number_text(abs(count), (index, atom))} * "
            term = factor + self._atom(atom)
            joint = (" - " if text else "-") if count < 0 else (" + " if text else "")
            text += joint + term
        if index.constant or not text:
            sign = " - " if index.constant < 0 else " + "
            constant = self.number_text(abs(index.constant), (index, "constant")) if index.constant else "0"
            text += f"{sign}{constant}" if text else f"{sign.strip(' +')}{constant}"
        return text

    def _atom(self, atom: Symbol | Digit) -> str:
        if isinstance(atom, Symbol):
            return atom.name
        return self.digit(atom, self.text_of(atom.base))

    def digit(self, digit: Digit, base: str) -> str:
        """A digit of an expression whose text is `base`."""
        return self.spelling.digit(base, digit.divisor, digit.modulus, digit.base.bounds()[0] < 0)

    # ------------------------------------------------------------------------------------------ memory

    def load(self, buffer: Buffer, address: Index) -> Value:
        value = self.forwarded.get((buffer, self.number))
        if value is not None and value.block in self.block.around():
            return value
        assert not self.block.waits(buffer), f"{buffer.name}[{address}] would be read before it is written"
        pointer, place = self.scratch.get(buffer) or (self.pointers[buffer], address)
        return self.line(self.spelling.load(pointer, self.text_of(place), buffer.dtype), buffer.dtype, index=place)

    def store(self, buffer: Buffer, address: Index, value: Value) -> None:
        self.forwarded[buffer, self.number] = value
        if buffer not in self.unstored:
            pointer, place = self.scratch.get(buffer) or (self.pointers[buffer], address)
            self.block.store(self.spelling.store(pointer, self.text_of(place), value.name, buffer.dtype), buffer)

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        raise AssertionError("a kernel writer says how it reduces")

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        raise AssertionError("a kernel writer says how it scans")

    # ------------------------------------------------------------------------------------------ arithmetic

    def constant(self, value: Number, dtype: dtype) -> Value:
        text = self.spelling.constant(value, dtype)
        return Value(text, dtype, self.root) if dtype is int64 or dtype is bool_ else self.line(text, dtype)

    def index_value(self, index: Index, dtype: dtype) -> Value:
        text = self.text_of(index)
        if dtype is int64 and text.isidentifier():
            return Value(text, dtype, self.home((), index))
        return self.line(self.spelling.convert(text, int64, dtype), dtype, index=index)

    def apply(self, prim: str, *operands: Value) -> Value:
        of = operands[-1].dtype
        expression = self.spelling.apply(prim, of, [operand.name for operand in operands])
        return self.line(expression, result_of(prim, of), operands)

    def convert(self, value: Value, dtype: dtype) -> Value:
        return self.line(self.spelling.convert(value.name, value.dtype, dtype), dtype, [value])

    def random(self, seed: Value, counter: Value, dtype: dtype) -> Value:
        return self.line(self.spelling.random(seed.name, counter.name, dtype), dtype, [seed, counter])

    def indirect(self, value: Value, size: int, wrap: bool) -> Index:
        self.checks.append(f"an index below {size}")
        function = "wrapped_index" if wrap else "checked_index"
        place = self.line(
            f"{self.spelling.checked(function)}({value.name}, int64({self.number_text(size, value.name)}), status)",
            value.dtype,
            [value],
        )
        return self.bind(symbol(place.name, size, indirect=True), place)

    def bind(self, index: Index, value: Value) -> Index:
        """Makes a computed variable usable in addresses: they may not move out of the block that computes it."""
        value.block.variables |= index.symbols
        return index

    def masked(self, condition: Value, body: Callable[[], Value], other: Number, dtype: dtype) -> Value:
        outside = self.block
        alternative = self.constant(other, dtype)
        name = self.fresh()
        self.enter(f"if {condition.name}:")
        inner = body()
        self.block.add(f"{name} = {inner.name}")
        self.leave()
        otherwise = outside.open("else:")
        otherwise.add(f"{name} = {alternative.name}")
        otherwise.close()
        return Value(name, dtype, outside)
