"""Numbers whose value only the data tell, and what is asked of them: `loss.item() * 2`, `x[mask].shape[0] > 3`.

They are nodes of the graph. Whole numbers are `SymIntVariable`s, which can be sizes, too.

>>> from minitorch_compile import config
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> with config.patch(capture_scalar_outputs=True):
...     print(captured(lambda x: x * (float(x.sum()) + 1), ones(2)))
x -> (x * (x.sum().item() + 1),)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported, UserError
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.rebuilding import Computed, Description
from minitorch_compile.dynamo.variables.tensors.numbers import NumberVariable
from minitorch_compile.fx import Node
from minitorch_compile.symbolic import Relation, SymInt
from minitorch_compile.symbolic.sym_int import expression_of
from minitorch_compile.tensor.functions import checks

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

FLOAT_OPERATORS = ("+", "-", "*", "/", "//", "%")
TO_WHOLE_NUMBERS = (int, round, math.floor, math.ceil, math.trunc)
TO_FLOATS = (float, abs, math.sqrt, math.exp, math.log, math.log2, math.sin, math.cos, math.tan, math.tanh, math.fabs)
NONE = ConstantVariable(None)


class DataNumberVariable(NumberVariable):
    """A float or a truth value that a node gives. `relation`: what a truth says of sizes, if that is known."""

    def __init__(self, output: Output, node: Node, kind: type, relation: Relation | None = None) -> None:
        super().__init__(output, None, None, inputs=())
        self.node = node
        self.kind = kind
        self.relation = relation

    @property
    def value(self) -> Any:
        raise UserError.of(self.node.name if self.relation is None else self.relation)

    def __repr__(self) -> str:
        return f"<number {self.node.name}>"

    def describe(self) -> str:
        return "a number that the data tell"

    def python_type(self) -> type:
        return self.kind

    def truth(self, tracer: Tracer) -> bool:
        return bool(self.value)

    def unary(self, tracer: Tracer, op: str) -> Value:
        if op != "-" or self.kind is not float:
            raise UserError.of(self.node.name)
        return tracer.binary("*", ConstantVariable(-1.0), self)

    def reconstruct(self, output: Output) -> Description:
        return Computed()


def data_arithmetic(tracer: Tracer, op: str, left: VariableTracker, right: VariableTracker) -> Value | None:
    """left op right as a node, where one is a number that the data tell; None if neither is, or nothing is known."""
    if not _are_numbers(left, right) or not (op in FLOAT_OPERATORS or op == "**" and _is_float_power(left, right)):
        return None
    if op != "/" and float not in (left.python_type(), right.python_type()):
        return tracer.output.whole_number(BINARY[op], [left, right])  # of a truth value
    node = tracer.output.plain_node(BINARY[op], [left, right], math.nan)
    node.meta["may_raise"] = op in ("/", "//", "%", "**")
    return DataNumberVariable(tracer.output, node, float)


def _is_float_power(base: VariableTracker, exponent: VariableTracker) -> bool:
    """Whether base ** exponent is a float for certain: (-8.0) ** 0.5 is a complex number."""
    return base.python_type() is float and exponent.python_type() is int and not is_told_by_data(exponent)


def converted(tracer: Tracer, number: VariableTracker, function: Any) -> Value | None:
    """int(number) or math.sqrt(number) of a size, or a number that the data tell; None if it must be known for that."""
    kind = number.python_type()
    if function is kind or (kind is int and function is operator.index):
        return number
    if not is_told_by_data(number) or kind is bool:
        return None
    if function in TO_WHOLE_NUMBERS:
        return tracer.output.whole_number(function, [number])
    if function not in TO_FLOATS or (function is abs and kind is int):
        return None
    node = tracer.output.plain_node(function, [number], math.nan)
    node.meta["may_raise"] = function not in (float, abs)  # math.sqrt(-1)
    return DataNumberVariable(tracer.output, node, float)


def of_several(tracer: Tracer, function: Any, operands: list[VariableTracker]) -> Value | None:
    """max(a, b), min(a, b) or round(a, digits) as a node; None if the data tell none of them, or what type it has."""
    if not any(map(is_told_by_data, operands)):
        return None
    kinds = [operand.python_type() for operand in operands]
    has_digits = function is round and kinds == [float, int] and not is_told_by_data(operands[1])
    if not has_digits and (function is round or not {float} <= set(kinds) <= {float, int}):
        return None
    node = tracer.output.plain_node(function, [*operands], math.nan)
    if int in kinds and not has_digits:
        tracer.output.expect_float(node)
    return DataNumberVariable(tracer.output, node, float)


def data_comparison(tracer: Tracer, op: str, left: VariableTracker, right: VariableTracker) -> Value | None:
    """left op right as a node, or the outcome where it is certain."""
    if not _are_numbers(left, right):
        return None
    a, b = whole_number(left), whole_number(right)
    relation = None if a is None or b is None else _relation(op, a, b)
    known = None if relation is None else tracer.output.sizes.env.known(relation)
    if known is not None:
        return ConstantVariable(known)
    return DataNumberVariable(tracer.output, tracer.output.plain_node(COMPARE[op], [left, right], True), bool, relation)


def _are_numbers(left: VariableTracker, right: VariableTracker) -> bool:
    """Whether both are numbers, and the data tell one of them."""
    both = left, right
    numbers = all(isinstance(x, ConstantVariable) and issubclass(x.python_type(), (int, float)) for x in both)
    return numbers and any(map(is_told_by_data, both))


def is_told_by_data(tracked: VariableTracker) -> bool:
    """Whether only the data tell what number it is."""
    number = getattr(tracked, "number", None)
    is_unbacked = isinstance(number, SymInt) and number.env.is_unbacked(number.expression)
    return is_unbacked or isinstance(tracked, DataNumberVariable)


def whole_number(tracked: VariableTracker) -> Any:
    """The whole number that a tracker stands for, as a SymInt if it is not known; None for anything else."""
    number = getattr(tracked, "number", None)
    if isinstance(number, SymInt):
        return number
    if isinstance(tracked, DataNumberVariable) or not isinstance(tracked, ConstantVariable):
        return None
    return tracked.value if issubclass(tracked.python_type(), int) else None


RELATIONS: dict[str, Callable[[Any, Any], tuple[Any, str]]] = {
    "==": lambda a, b: (a - b, "=="),
    "!=": lambda a, b: (a - b, "!="),
    "<=": lambda a, b: (a - b, "<="),
    "<": lambda a, b: (a - b + 1, "<="),
    ">=": lambda a, b: (b - a, "<="),
    ">": lambda a, b: (b - a + 1, "<="),
}
OPPOSITE = {"==": "!=", "!=": "=="}


def _relation(op: str, a: Any, b: Any) -> Relation:
    return Relation(*RELATIONS[op](expression_of(a), expression_of(b)))


def opposite(relation: Relation) -> Relation:
    """What holds if this does not."""
    if relation.sign == "<=":
        return Relation(1 - relation.difference, "<=", relation.place)
    return Relation(relation.difference, OPPOSITE[relation.sign], relation.place)


def expect_truth(tracer: Tracer, tracked: VariableTracker, outcome: bool = True) -> bool:
    """Takes it to be so, which the graph checks; False if this is not about whole numbers that the data tell."""
    if tracked.python_type() is int:
        tracked = tracer.compare("!=", tracked, ConstantVariable(0)).realize()
    relation = getattr(tracked, "relation", None)
    if not isinstance(relation, Relation):
        return False
    tracer.output.expect(relation if outcome else opposite(relation))
    return True


# --- torch._check -----------------------------------------------------------------------------------------------------


@handles(checks._check_with)
def _check_with(tracer: Tracer, error_type: Value, cond: Value, message: Value) -> Value:
    """The check itself is made by a node; should it fail, the plain function raises, with its message."""
    if expect_truth(tracer, cond.realize()):
        return NONE
    if not tracer.truth(cond):
        raise Unsupported("raised-exception", "a check fails.")
    return NONE
