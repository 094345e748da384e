"""A loop's body in other variables: every address that it computes is written in these.

A position may be handed to a body as it is; but then an address is put together from the parts of the new position, and
what was an even step through memory is often found no more. Here the address is made of the old variable, which is
replaced in what came out.

>>> from minitorch_compile.inductor.ir.index import symbol, unflatten
>>> from minitorch_compile.inductor.ir.printer import PrintHandler
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, line = Buffer.contiguous("x", (4, 4, 4), float32), symbol("line", 64)
>>> body = lambda ops, at: ops.load(x, x.address(unflatten(at, (4, 4, 4))))
>>> place = 8 * symbol("i", 8) + symbol("j", 8)
>>> printer = PrintHandler()
>>> body(printer, place), body(Substituting(printer, {line: place}), line)
('t0', 't1')
>>> print("\\n".join(printer.lines))
t0 = load(x, 16*(i // 2) + 4*(((8*i + j) // 4) % 4) + (j % 4))
t1 = load(x, 8*i + j)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.handler import Handler, Number, Origin
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.tensor.numerics.dtype import dtype


class Substituting(Handler):
    """Has everything done by another handler, index expressions with their variables replaced."""

    def __init__(self, ops: Handler, replacements: Mapping[Index, Index]) -> None:
        outer = ops.origin
        self.ops, self.replacements = ops, replacements
        super().__init__()
        self.origin = outer

    @property
    def origin(self) -> Origin | None:
        return self.ops.origin

    @origin.setter
    def origin(self, origin: Origin | None) -> None:
        self.ops.origin = origin

    def load(self, buffer: Buffer, address: Index) -> Any:
        return self.ops.load(buffer, address.substitute(self.replacements))

    def constant(self, value: Number, dtype: dtype) -> Any:
        return self.ops.constant(value, dtype)

    def index_value(self, index: Index, dtype: dtype) -> Any:
        return self.ops.index_value(index.substitute(self.replacements), dtype)

    def apply(self, prim: str, *operands: Any) -> Any:
        return self.ops.apply(prim, *operands)

    def convert(self, value: Any, dtype: dtype) -> Any:
        return self.ops.convert(value, dtype)

    def random(self, seed: Any, counter: Any, dtype: dtype) -> Any:
        return self.ops.random(seed, counter, dtype)

    def indirect(self, value: Any, size: int, wrap: bool) -> Index:
        return self.ops.indirect(value, size, wrap)

    def masked(self, condition: Any, body: Callable[[], Any], other: Number, dtype: dtype) -> Any:
        return self.ops.masked(condition, lambda: self.inside(body), other, dtype)

    def store(self, buffer: Buffer, address: Index, value: Any) -> None:
        self.ops.store(buffer, address.substitute(self.replacements), value)

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Any) -> None:
        self.ops.store_reduction(buffer, address.substitute(self.replacements), kind, value)

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: Any) -> None:
        self.ops.store_scan(buffer, address.substitute(self.replacements), kind, value)
