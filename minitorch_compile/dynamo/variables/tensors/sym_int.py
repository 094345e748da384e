"""Sizes that are not known while tracing: `x.shape[0]`, `len(x)`, a number that changed between calls.

Arithmetic makes other sizes, a comparison is decided by the size that was seen and guarded, and an operation of the
graph gets a node. Only what needs the number itself, such as `range(n)`, ties the compiled function to it.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import CompileCounter
>>> from minitorch_compile.tensor import ones
>>> counter = CompileCounter()
>>> mean = optimize(lambda x: x.sum() / x.shape[0], counter)
>>> [mean(ones(n)).item() for n in (3, 4, 5, 6)], counter.frame_count
([1.0, 1.0, 1.0, 1.0], 2)
>>> print(counter.graphs[1].graph.compact())
x, s0 -> (x.sum() / s0,)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import UserError
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.rebuilding import Computed, Description, Read, Template
from minitorch_compile.dynamo.variables.tensors.data_numbers import data_arithmetic, data_comparison, is_told_by_data
from minitorch_compile.dynamo.variables.tensors.numbers import ExpressionSource, NumberVariable, arithmetic
from minitorch_compile.fx import Node
from minitorch_compile.symbolic import SymInt

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


WHOLE_OPERATORS = ("+", "-", "*", "//", "%")


class SymIntVariable(NumberVariable):
    """A `SymInt` of the traced program. Asking for its `value` makes it a constant."""

    def __init__(self, output: Output, number: SymInt) -> None:
        self.number = number
        self.is_unbacked = number.env.is_unbacked(number.expression)
        seen, source = (None, None) if self.is_unbacked else (number.hint, self._source_of(output, number))
        of_sizes = all(symbol.is_size for symbol in number.expression.symbols)
        super().__init__(output, seen, source, inputs=(), changing=True, of_sizes=of_sizes)

    @staticmethod
    def _source_of(output: Output, number: SymInt) -> Source:
        only = number.expression.only_symbol
        if only is not None:
            return output.sizes.sources[only]
        return ExpressionSource(f"({output.sizes.text(number)})")

    @property
    def value(self) -> int:
        if is_told_by_data(self):
            raise UserError.of(self.number)
        return int(self.number)

    @property
    def node(self) -> Node:
        """The node that gives it, if the data tell it."""
        node = self.output.size_argument(self.number)
        assert isinstance(node, Node)
        return node

    def python_type(self) -> type:
        return int

    def __repr__(self) -> str:
        return f"<size {self.number}>"

    def describe(self) -> str:
        return f"the size {self.number}"

    def truth(self, tracer: Tracer) -> bool:
        if is_told_by_data(self):
            return tracer.truth(tracer.compare("!=", self, ConstantVariable(0)))
        return not self.is_zero()

    def is_zero(self) -> bool:
        return not self.number

    def unary(self, tracer: Tracer, op: str) -> Value:
        return tracer.output.from_python(-self.number) if op == "-" else super().unary(tracer, op)

    def reconstruct(self, output: Output) -> Description:
        constant = self.number.expression.constant
        if constant is not None:
            return Template(repr(constant))
        if is_told_by_data(self):
            return Computed()
        assert self.source is not None
        return Template(Read(self.source))


def size_arithmetic(tracer: Tracer, op: str, left: VariableTracker, right: VariableTracker) -> Value | None:
    """left op right where one of them is a size; None if this is no arithmetic of whole numbers."""
    if not (_is_open(left) or _is_open(right)):
        return data_arithmetic(tracer, op, left, right)
    a, b = operand(left), operand(right)
    if a is None or b is None:
        return data_arithmetic(tracer, op, left, right)
    if op in WHOLE_OPERATORS or (op == "**" and type(b) is int and b >= 0):
        return tracer.output.from_python(tracer.compute(BINARY[op], a, b))
    if op == "/" and (is_told_by_data(left) or is_told_by_data(right)):
        return data_arithmetic(tracer, op, left, right)
    return arithmetic(op, left, right) if op == "/" else None


def size_comparison(tracer: Tracer, op: str, left: VariableTracker, right: VariableTracker) -> Value | None:
    """The outcome of a comparison of which one side is a size; None if the other is no whole number."""
    if is_told_by_data(left) or is_told_by_data(right):
        return data_comparison(tracer, op, left, right)
    if not (_is_open(left) or _is_open(right)):
        return None
    a, b = operand(left), operand(right)
    if a is None or b is None:
        return None
    return ConstantVariable(COMPARE[op](a, b))


def greatest(tracer: Tracer, items: list[Value], of_two: Callable[[Any, Any], Any]) -> Value | None:
    """max or min of whole numbers, one of them a size: an expression; None if this is something else, or one is a bool,
    which an expression wouldn't give back as such."""
    tracked = [item.realize() for item in items]
    if not any(map(_is_open, tracked)) or any(item.python_type() is bool for item in tracked):
        return None
    numbers = [operand(item) for item in tracked]
    return None if any(n is None for n in numbers) else tracer.output.from_python(functools.reduce(of_two, numbers))


def _is_open(tracked: Any) -> bool:
    return isinstance(tracked, SymIntVariable) and tracked.number.expression.constant is None


def operand(tracked: Any) -> Any:
    """The whole number that a tracker stands for, as a SymInt if it is not known; None for anything else."""
    if isinstance(tracked, SymIntVariable):
        return tracked.number
    if isinstance(tracked, NumberVariable):
        return tracked.value if type(tracked.seen) is int else None
    value = getattr(tracked, "value", None)
    return value if type(value) in (int, bool) else None
