"""Rules for numbers: conversions, `math`, and the functions of `operator`, which mean the operators.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> import math
>>> print(captured(lambda x: abs(x) * int("7") + round(math.sqrt(2), 2), ones(2)))
x -> ((abs(x) * 7) + 1.41,)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE, INPLACE, UNARY
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.objects.classes import ClassVariable
from minitorch_compile.dynamo.variables.objects.enum_members import MemberVariable
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.objects.special_answers import judged
from minitorch_compile.dynamo.variables.tensors.data_numbers import DataNumberVariable, converted, of_several
from minitorch_compile.dynamo.variables.tensors.numbers import applied
from minitorch_compile.dynamo.variables.tensors.numpy_numbers import plain
from minitorch_compile.dynamo.variables.tensors.sym_int import SymIntVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

Rule = Callable[..., Value]
NUMBERS = (int, float, operator.index)
OF_MATH = [getattr(math, name) for name in dir(math) if callable(getattr(math, name)) and not name.startswith("_")]
TO_PYTHON = (int, float, *OF_MATH)  # whose results are Python's numbers, also of NumPy's
NUMBER_METHODS = (
    "__int__", "__float__", "__complex__", "__index__", "__abs__", "__round__", "__trunc__", "__floor__", "__ceil__",
    "__divmod__", "__rdivmod__", "__bytes__", "__iter__", "__pow__",
)  # fmt: skip


def _computed(function: Any, special_method: str = "") -> Rule:
    """A function of constants; an object of the user's may answer by a special method."""

    def rule(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
        first = args[0].realize() if args else None
        if isinstance(first, (SymIntVariable, DataNumberVariable)) and len(args) == 1:
            number = converted(tracer, first, function)
            if number is not None:
                return number
        if function is round and isinstance(first, DataNumberVariable) and not kwargs:
            number = of_several(tracer, round, [arg.realize() for arg in args])
            if number is not None:
                return number
        operands = [plain(arg.realize()) if function in TO_PYTHON else arg.realize() for arg in args]
        if not kwargs and (number := applied(function, operands)) is not None:
            return number
        if isinstance(first, TensorVariable):
            number = tracer.output.item_of(first) if function in NUMBERS else None
            if number is not None:
                return rule(tracer, number)
            raise Unsupported(
                "data-dependent-value",
                f"{function.__name__}() of a tensor needs its data, which does not exist while tracing.",
            )
        if isinstance(first, (UserObjectVariable, ClassVariable, MemberVariable)) and special_method:
            method = first.special(tracer, special_method)
            if method is not None:
                answer = tracer.call(method, list(args[1:]), kwargs)
                if function is round:
                    return answer
                number = judged(tracer, function, special_method, answer, of=first.python_type())
                return tracer.output.from_python(number)
        values = [_known(tracer, arg) for arg in args]
        return tracer.output.from_python(
            tracer.compute(function, *values, **{name: tracer.constant(arg) for name, arg in kwargs.items()})
        )

    return rule


def _known(tracer: Tracer, argument: Value) -> Any:
    """A constant, or a list of constants."""
    tracked = argument.realize()
    if isinstance(tracked, (ClassVariable, MemberVariable)):
        for name in NUMBER_METHODS:
            if tracked.special(tracer, name) is not None:
                tracked.unsupported(f"a number by {name}")
    if isinstance(tracked, ListVariable) and tracked.python_type() is list:
        return [_known(tracer, item) for item in tracked.items]
    return tracer.constant(tracked)


BY_SPECIAL_METHOD: dict[Any, str] = {int: "__int__", float: "__float__", complex: "__complex__", round: "__round__"}
OF_CONSTANTS: tuple[Any, ...] = (divmod, chr, ord, hex, bin, oct, bytes)

for _function, _method in BY_SPECIAL_METHOD.items():
    handles(_function)(_computed(_function, _method))
for _function in (*OF_CONSTANTS, *OF_MATH):
    handles(_function)(_computed(_function))


@handles(bool)
def _bool(tracer: Tracer, value: Value = ConstantVariable(False), /) -> Value:
    tracked = value.realize()
    if isinstance(tracked, TensorVariable):
        raise Unsupported(
            "data-dependent-value", "bool() of a tensor needs its data, which does not exist while tracing."
        )
    return ConstantVariable(tracer.truth(tracked))


@handles(abs)
def _abs(tracer: Tracer, value: Value) -> Value:
    tracked = value.realize()
    if isinstance(tracked, TensorVariable):
        return tracer.output.call("call_function", abs, [tracked], {})
    return _computed(abs, "__abs__")(tracer, tracked)


@handles(pow)
def _pow(tracer: Tracer, base: Value, exponent: Value, *modulus: Value) -> Value:
    return _computed(pow)(tracer, base, exponent, *modulus) if modulus else tracer.binary("**", base, exponent)


# --- operator ---------------------------------------------------------------------------------------------------------


def _binary_rule(op: str) -> Rule:
    return lambda tracer, a, b: tracer.binary(op, a, b)


def _inplace_rule(op: str) -> Rule:
    return lambda tracer, a, b: tracer.inplace(op, a, b)


def _compare_rule(op: str) -> Rule:
    return lambda tracer, a, b: tracer.compare(op, a, b)


def _unary_rule(op: str) -> Rule:
    return lambda tracer, a: tracer.unary(op, a)


def _handle_operators(table: dict[str, Any], make_rule: Callable[[str], Rule]) -> None:
    for op, function in table.items():
        handles(function)(make_rule(op))


_handle_operators(BINARY, _binary_rule)
_handle_operators(INPLACE, _inplace_rule)
_handle_operators(COMPARE, _compare_rule)
_handle_operators(UNARY, _unary_rule)


@handles(operator.is_)
def _is(tracer: Tracer, a: Value, b: Value) -> Value:
    return tracer.is_(a, b)


@handles(operator.is_not)
def _is_not(tracer: Tracer, a: Value, b: Value) -> Value:
    return tracer.unary("not", tracer.is_(a, b))


@handles(operator.truth)
def _truth(tracer: Tracer, a: Value) -> Value:
    return ConstantVariable(tracer.truth(a))


@handles(operator.contains)
def _contains(tracer: Tracer, container: Value, item: Value) -> Value:
    return tracer.contains(item, container)


@handles(operator.getitem)
def _getitem(tracer: Tracer, obj: Value, key: Value) -> Value:
    return tracer.getitem(obj, key)


@handles(operator.setitem)
def _setitem(tracer: Tracer, obj: Value, key: Value, value: Value) -> Value:
    tracer.setitem(obj, key, value)
    return ConstantVariable(None)


@handles(operator.delitem)
def _delitem(tracer: Tracer, obj: Value, key: Value) -> Value:
    tracer.delitem(obj, key)
    return ConstantVariable(None)


@handles(operator.index)
def _index(tracer: Tracer, value: Value) -> Value:
    return _computed(operator.index, "__index__")(tracer, value)


# --- operator on sequences --------------------------------------------------------------------------------------------


@handles(operator.concat)
def _concat(tracer: Tracer, a: Value, b: Value) -> Value:
    _check_sequence(tracer, a)
    return tracer.binary("+", a, b)


@handles(operator.iconcat)
def _iconcat(tracer: Tracer, a: Value, b: Value) -> Value:
    _check_sequence(tracer, a)
    return tracer.inplace("+", a, b)


def _check_sequence(tracer: Tracer, value: Value) -> None:
    cls = value.realize().python_type()
    if not hasattr(cls, "__getitem__"):
        tracer.raise_error(TypeError, f"'{cls.__name__}' object can't be concatenated")


@handles(operator.countOf)
def _count_of(tracer: Tracer, container: Value, item: Value) -> Value:
    return ConstantVariable(sum(tracer.same_or_equal(member, item) for member in tracer.each(container)))


@handles(operator.indexOf)
def _index_of(tracer: Tracer, container: Value, item: Value) -> Value:
    for position, member in enumerate(tracer.each(container)):
        if tracer.same_or_equal(member, item):
            return ConstantVariable(position)
    tracer.raise_error(ValueError, "sequence.index(x): x not in sequence")


@handles(operator.length_hint)
def _length_hint(tracer: Tracer, obj: Value, default: Value = ConstantVariable(0)) -> Value:
    tracked = obj.realize()
    if not hasattr(tracked.python_type(), "__len__"):
        tracked.unsupported("operator.length_hint()", "unsupported-call")
    return tracked.length_value(tracer)
