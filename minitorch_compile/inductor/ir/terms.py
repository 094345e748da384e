"""What loops compute, as numbers that are equal for equal expressions: a handler that finds a formula again.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y, z = (Buffer.contiguous(name, (4,), float32) for name in "xyz")
>>> exp = lambda ops, at: ops.apply("exp", ops.load(x, x.address(at)))
>>> terms = Terms()
>>> first = terms.of(Loop(y, (4,), exp))
>>> second = terms.of(Loop(z, (4,), lambda ops, at: ops.apply("neg", exp(ops, at))))
>>> first, terms[second], terms[first]
(1, ('neg', 1), ('exp', 0))
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import loop_variables
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.tensor.numerics.dtype import dtype


class Terms(Handler):
    """The value of an element is the number of its term: a name, and the numbers of the terms that it is made of."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[tuple[Any, ...], int] = {}
        self.made: list[tuple[Any, ...]] = []

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        """The term of a number."""
        return self.made[number]

    def of(self, loop: Loop) -> int:
        """What a loop's body computes, at the position `loop_variables`."""
        value: int = loop.inner_fn(self, loop_variables(loop))
        return value

    def term(self, *parts: Hashable) -> int:
        number = self.known.setdefault(parts, len(self.made))
        self.made += [parts] if number == len(self.made) else []
        return number

    def load(self, buffer: Buffer, address: Index) -> int:
        return self.term("load", buffer, address)

    def constant(self, value: Number, dtype: dtype) -> int:
        return self.term("constant", repr(value), dtype)  # 0.0 and -0.0 are equal, and True and 1

    def index_value(self, index: Index, dtype: dtype) -> int:
        return self.term("index_value", index, dtype)

    def apply(self, prim: str, *operands: int) -> int:
        return self.term(prim, *operands)

    def convert(self, value: int, dtype: dtype) -> int:
        return self.term("convert", value, dtype)

    def random(self, seed: int, counter: int, dtype: dtype) -> int:
        return self.term("random", seed, counter, dtype)

    def indirect(self, value: int, size: int, wrap: bool) -> Index:
        return symbol(f"indirect{self.term('indirect', value, size, wrap)}", size, indirect=True)

    def masked(self, condition: int, body: Callable[[], int], other: Number, dtype: dtype) -> int:
        return self.term("masked", condition, self.inside(body), repr(other), dtype)

    def store(self, buffer: Buffer, address: Index, value: int) -> None:
        raise AssertionError("only what is stored is a term")

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: int) -> None:
        raise AssertionError("only what is reduced is a term")

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: int) -> None:
        raise AssertionError("only what is scanned is a term")
