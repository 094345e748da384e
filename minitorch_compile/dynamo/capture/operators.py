"""Operators, attributes and items: the protocols around them.

Python asks the left operand, then the right one reflected; compares by identity when nobody answers; looks special
methods up on the class. That is here. What a value answers, its tracker knows.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Shift:
...     def __radd__(self, x):
...         return x + 10
>>> print(captured(lambda x: x.sum() + Shift().__radd__(1) if 2 in (1, 2) else x, ones(2)))
x -> (x.sum() + 11,)
"""

from __future__ import annotations

from collections import deque
from typing import NoReturn

from minitorch_compile.dynamo.capture.services import TracerServices
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE, INPLACE
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.dicts import DictVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import TupleVariable
from minitorch_compile.dynamo.variables.containers.sets import SetVariable
from minitorch_compile.dynamo.variables.containers.user_containers import contents_of
from minitorch_compile.dynamo.variables.objects.class_lookup import has_method, look_up, printed_name
from minitorch_compile.dynamo.variables.objects.enum_members import answer_of_members
from minitorch_compile.dynamo.variables.objects.method_names import BINARY_METHODS, COMPARE_METHODS
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.tensors.numbers import NumberVariable, arithmetic, comparison
from minitorch_compile.dynamo.variables.tensors.sym_int import size_arithmetic, size_comparison
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable

SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class OperatorHooks(TracerServices):
    """The hooks of `hooks.py` for operators, attributes and items."""

    # --- operators ----------------------------------------------------------------------------------------------------

    def unary(self, op: str, a: Value) -> Value:
        tracked = a.realize()
        if op == "not":
            return ConstantVariable(not self.truth(tracked))
        return tracked.unary(self, op)

    def binary(self, op: str, a: Value, b: Value) -> Value:
        left, right = a.realize(), b.realize()
        number = self._arithmetic(op, left, right)
        if number is not None:
            return number
        if _both_constant(left, right):
            method = BINARY_METHODS[op]
            answer = answer_of_members(self, left, right, f"__{method}__", f"__r{method}__")
            return answer or self.output.from_python(self.compute(BINARY[op], left.as_constant(), right.as_constant()))
        result = self._ask_both(left, right, op)
        if result is None:
            self._operator_error(op, op, left, right)
        return result

    def _arithmetic(self, op: str, left: VariableTracker, right: VariableTracker) -> Value | None:
        """An expression, where one of them is a number whose value is not pinned down."""
        if isinstance(left, NumberVariable) or isinstance(right, NumberVariable):
            return size_arithmetic(self, op, left, right) or arithmetic(op, left, right)
        return None

    def _comparison(self, op: str, left: VariableTracker, right: VariableTracker) -> Value | None:
        """The outcome, guarded, where one of them is such a number."""
        if isinstance(left, NumberVariable) or isinstance(right, NumberVariable):
            return size_comparison(self, op, left, right) or comparison(op, left, right)
        return None

    def _ask_both(self, left: VariableTracker, right: VariableTracker, op: str) -> Value | None:
        """Python's order: the left operand first, unless the right one's class is a subclass that overrides the
        method."""
        if _reflects_first(op, left, right):
            result = right.reflected(self, op, left)
            return left.binary(self, op, right) if result is None else result
        result = left.binary(self, op, right)
        if result is None and not (isinstance(left, UserObjectVariable) and left.python_type() is right.python_type()):
            result = right.reflected(self, op, left)
        return result

    def _operator_error(self, op: str, written: str, left: VariableTracker, right: VariableTracker) -> NoReturn:
        """Nobody answers: Python's TypeError if that is sure, else a break. `written`: the operator in the program."""
        known = (ConstantVariable, TupleVariable, ListVariable, DictVariable, SetVariable)
        if isinstance(left, known) and isinstance(right, known) and op not in ("*", "%"):
            names = f"'{printed_name(left.python_type())}' and '{printed_name(right.python_type())}'"
            if not issubclass(left.python_type(), (tuple, list, str, bytes, deque)):  # a sequence has words of its own
                self.raise_error(TypeError, f"unsupported operand type(s) for {written}: {names}")
        raise Unsupported(
            "unsupported-object", f"the operator {op} between {left.describe()} and {right.describe()} is not followed."
        )

    def inplace(self, op: str, a: Value, b: Value) -> Value:
        left, right = a.realize(), b.realize()
        number = self._arithmetic(op, left, right)
        if number is not None:
            return number
        if _both_constant(left, right):
            method = BINARY_METHODS[op]
            answer = answer_of_members(self, left, right, f"__i{method}__") or answer_of_members(
                self, left, right, f"__{method}__", f"__r{method}__"
            )
            return answer or self.output.from_python(self.compute(INPLACE[op], left.as_constant(), right.as_constant()))
        result = left.inplace(self, op, right)
        if result is None:
            result = self._ask_both(left, right, op)
        if result is None:
            self._operator_error(op, f"{op}=", left, right)
        return result

    def compare(self, op: str, a: Value, b: Value) -> Value:
        left, right = a.realize(), b.realize()
        outcome = self._comparison(op, left, right)
        if outcome is not None:
            return outcome
        if _both_constant(left, right):
            answer = answer_of_members(self, left, right, COMPARE_METHODS[op], COMPARE_METHODS[SWAPPED[op]])
            return answer or self.output.from_python(self.compute(COMPARE[op], left.as_constant(), right.as_constant()))
        first, second = (right, left) if _is_asked_first(right, left) else (left, right)
        swapped = first is right
        result = self._compared(first, SWAPPED[op] if swapped else op, second)
        if result is None:
            result = self._compared(second, op if swapped else SWAPPED[op], first)
        if result is not None:
            return result
        if op in ("==", "!="):
            return ConstantVariable(self.identical(left, right) == (op == "=="))
        raise Unsupported(
            "unsupported-object",
            f"the comparison {op} between {left.describe()} and {right.describe()} is not followed.",
        )

    def _compared(self, first: VariableTracker, op: str, second: VariableTracker) -> Value | None:
        """What `first` answers. A built-in container looks at what is in the other one, whatever its class."""
        seen = second if isinstance(first, UserObjectVariable) else contents_of(second)
        return first.compare(self, op, seen)

    def is_(self, a: Value, b: Value) -> Value:
        return ConstantVariable(self.identical(a, b))

    def contains(self, item: Value, container: Value) -> Value:
        return container.realize().contains(self, item)

    def truth(self, value: Value) -> bool:
        return value.realize().truth(self)

    def is_none(self, value: Value) -> bool:
        tracked = value.realize()
        return isinstance(tracked, ConstantVariable) and tracked.python_type() is type(None)

    # --- attributes and items -----------------------------------------------------------------------------------------

    def load_attr(self, obj: Value, name: str) -> Value:
        return obj.realize().getattr(self, name)

    def store_attr(self, obj: Value, name: str, value: Value) -> None:
        obj.realize().setattr(self, name, value)

    def delete_attr(self, obj: Value, name: str) -> None:
        obj.realize().delattr(self, name)

    def load_special(self, obj: Value, name: str) -> Value:
        tracked = obj.realize()
        if isinstance(tracked, UserObjectVariable):
            method = tracked.special(self, name)
            if method is not None:
                return method
        elif has_method(tracked.python_type(), name):
            return BuiltinMethodVariable(tracked, name)
        missed = " (missed __exit__ method)" if name == "__exit__" else ""
        cls = tracked.python_type().__qualname__
        self.raise_error(TypeError, f"'{cls}' object does not support the context manager protocol{missed}")

    def getitem(self, obj: Value, key: Value) -> Value:
        tracked = obj.realize()
        if isinstance(tracked, ConstantVariable):
            return tracked.item(self, key)
        return tracked.call_method(self, "__getitem__", [key], {})

    def _check_items_of(self, obj: Value, method: str, what: str) -> None:
        cls = obj.realize().python_type()
        if look_up(cls, method) is None:
            self.raise_error(TypeError, f"'{printed_name(cls)}' object does not support item {what}")

    def setitem(self, obj: Value, key: Value, value: Value) -> None:
        self._check_items_of(obj, "__setitem__", "assignment")
        obj.realize().call_method(self, "__setitem__", [key, value], {})

    def delitem(self, obj: Value, key: Value) -> None:
        self._check_items_of(obj, "__delitem__", "deletion")
        obj.realize().call_method(self, "__delitem__", [key], {})


def _reflects_first(op: str, left: VariableTracker, right: VariableTracker) -> bool:
    """Whether Python asks the right operand first: its class is derived from the left one's, with another `__ror__`."""
    mine, theirs = right.python_type(), left.python_type()
    if mine is theirs or not issubclass(mine, theirs):
        return False
    reflected, of_left = (look_up(cls, f"__r{BINARY_METHODS[op]}__") for cls in (mine, theirs))
    return reflected is not None and (of_left is None or reflected.value is not of_left.value)


def _is_asked_first(right: VariableTracker, left: VariableTracker) -> bool:
    """Whether Python compares by asking the right operand: its class is a subclass of the left one's."""
    if isinstance(right, UserObjectVariable):
        mine, theirs = right.python_type(), left.python_type()
        return mine is not theirs and issubclass(mine, theirs)
    return isinstance(right, TensorVariable) and not isinstance(left, TensorVariable)


def _both_constant(left: VariableTracker, right: VariableTracker) -> bool:
    """Whether an operator can be computed: numbers, strings, and tuples of them; not classes, whose `|` is a type."""
    return (
        isinstance(left, (ConstantVariable, TupleVariable))
        and isinstance(right, (ConstantVariable, TupleVariable))
        and (isinstance(left, ConstantVariable) or isinstance(right, ConstantVariable))
        and left.is_constant()
        and right.is_constant()
    )
