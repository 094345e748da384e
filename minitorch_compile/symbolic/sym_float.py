"""A float that is not known: what stands for a learning rate while a program is traced for all learning rates.

Arithmetic gives another expression; a comparison is decided by the value at hand, and noted. Code that needs the number
itself gets it, and the program is then for that value only.

>>> assumed = Assumptions({"lr": 0.5})
>>> lr = SymFloat("lr", assumed)
>>> 1 / (lr * 2 + 1), lr > 0, 2 == lr
((1 / ((lr * 2) + 1)), True, False)
>>> import math
>>> math.sqrt(lr + 0.5)
1.0
>>> assumed.conditions
['not (((lr * 2) + 1) == 0)', 'lr > 0', 'not (lr == 2)', "float.hex(lr + 0.5) == '0x1.0000000000000p+0'"]
>>> assumed.hold({"lr": 0.25}), assumed.hold({"lr": 0.5})
(False, True)

Unlike `SymInt`, it is a tree and not a normal form: sums of floats have an order.

Source: torch.SymFloat.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Mapping
from typing import Any

SIGNS: dict[Callable[..., Any], str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
KNOWN_TO_CONDITIONS = {"__builtins__": {}, "float": float, "abs": abs}


class Assumptions:
    """What a traced program takes for granted about the floats that it is given, by their names.

    `values` are those of the call at hand, in each thread its own: a question may come up at a later call, too.
    """

    def __init__(self, values: Mapping[str, float]) -> None:
        self.conditions: list[str] = []
        self._at_hand = threading.local()
        self._first = dict(values)
        self._checked: tuple[int, Callable[..., bool]] = 0, bool  # that many of them, as a function

    @property
    def values(self) -> Mapping[str, float]:
        known: Mapping[str, float] = getattr(self._at_hand, "values", self._first)
        return known

    def know(self, name: str, value: float) -> None:
        """There is one more."""
        self._first[name] = value

    def at(self, values: Mapping[str, float]) -> None:
        """A call begins with these values."""
        self._at_hand.values = values

    def assume(self, condition: str) -> None:
        """Takes it to be so: a Python expression in the names."""
        if condition not in self.conditions:
            self.conditions.append(condition)

    def specialize(self, number: SymFloat) -> float:
        """The value at hand, which it is from now on: -0.0 is not 0.0, and NaN is NaN."""
        value = number.hint
        text = number.text[1:-1] if number.text.startswith("(") else number.text
        self.assume(f"float.hex({text}) == {value.hex()!r}")
        return value

    def hold(self, values: Mapping[str, float]) -> bool:
        """Whether all is so for these values."""
        if not self.conditions:
            return True
        count, holds = self._checked
        if count != len(self.conditions):  # another thread may add one meanwhile
            conditions = self.conditions[:]
            text = f"lambda {', '.join(self._first)}: {' and '.join(f'({text})' for text in conditions)}"
            holds = eval(text, dict(KNOWN_TO_CONDITIONS))
            self._checked = len(conditions), holds
        try:
            return holds(**values)
        except (ZeroDivisionError, OverflowError):
            return False


def _arithmetic(combine: Callable[[Any, Any], Any], reflected: bool = False) -> Callable[[SymFloat, Any], Any]:
    def method(self: SymFloat, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented if _is_foreign(other) else combine(*_ordered(float(self), other, reflected))
        left, right = _ordered(self, other, reflected)
        if combine is operator.truediv and right == 0:
            raise ZeroDivisionError("float division by zero")
        return SymFloat(f"({left!r} {SIGNS[combine]} {right!r})", self.assumptions, made_by=(combine, left, right))

    return method


def _comparison(compare: Callable[[Any, Any], bool]) -> Callable[[SymFloat, Any], Any]:
    def method(self: SymFloat, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented if _is_foreign(other) else compare(float(self), other)
        answer = compare(self.hint, other.hint if isinstance(other, SymFloat) else other)
        condition = f"{self!r} {SIGNS[compare]} {other!r}"
        self.assumptions.assume(condition if answer else f"not ({condition})")
        return answer

    return method


def _on_number(function: str) -> Callable[..., Any]:
    """The method of the same name of the float, which becomes a constant."""

    def method(self: SymFloat, *args: Any) -> Any:
        return NotImplemented if any(map(_is_foreign, args)) else getattr(float(self), function)(*args)

    return method


class SymFloat:
    """An unknown float. Not hashable: nothing outside may remember it.

    `text` names it in conditions. `made_by`: the function and the operands that it comes from, unless it is given;
    then `origin` is what has its value in the program that is being traced.
    """

    __slots__ = ("assumptions", "made_by", "origin", "text")
    __array_ufunc__ = None  # NumPy's numbers leave operators to us

    def __init__(
        self, text: str, assumptions: Assumptions, origin: Any = None, made_by: tuple[Any, ...] | None = None
    ) -> None:
        self.text = text
        self.assumptions = assumptions
        self.origin = origin
        self.made_by = made_by

    @property
    def hint(self) -> float:
        """The value at hand; looking at it assumes nothing."""
        if self.made_by is None:
            return self.assumptions.values[self.text]
        function, *operands = self.made_by
        result: float = function(*(x.hint if isinstance(x, SymFloat) else x for x in operands))
        return result

    def __repr__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else repr(self)

    def __deepcopy__(self, memo: Any) -> SymFloat:
        return self  # it belongs to its assumptions, and doesn't change

    def __float__(self) -> float:
        return self.assumptions.specialize(self)

    def __complex__(self) -> complex:
        return complex(float(self))

    def __hash__(self) -> int:
        raise TypeError(f"unhashable: the float {self} belongs to a traced program, and may not be remembered")

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __neg__(self) -> SymFloat:
        return SymFloat(f"(-{self!r})", self.assumptions, made_by=(operator.neg, self))

    def __pos__(self) -> SymFloat:
        return self

    def __abs__(self) -> SymFloat:
        return SymFloat(f"abs({self!r})", self.assumptions, made_by=(abs, self))

    __eq__ = _comparison(operator.eq)
    __ne__ = _comparison(operator.ne)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)
    __add__ = _arithmetic(operator.add)
    __radd__ = _arithmetic(operator.add, reflected=True)
    __sub__ = _arithmetic(operator.sub)
    __rsub__ = _arithmetic(operator.sub, reflected=True)
    __mul__ = _arithmetic(operator.mul)
    __rmul__ = _arithmetic(operator.mul, reflected=True)
    __truediv__ = _arithmetic(operator.truediv)
    __rtruediv__ = _arithmetic(operator.truediv, reflected=True)

    is_integer = _on_number("is_integer")
    __int__ = __trunc__ = _on_number("__int__")
    __floor__, __ceil__, __round__ = _on_number("__floor__"), _on_number("__ceil__"), _on_number("__round__")
    __pow__, __rpow__ = _on_number("__pow__"), _on_number("__rpow__")
    __mod__, __rmod__ = _on_number("__mod__"), _on_number("__rmod__")
    __floordiv__, __rfloordiv__ = _on_number("__floordiv__"), _on_number("__rfloordiv__")


class SizeFloat(SymFloat):
    """A float that is computed from sizes alone: known where they are."""

    __slots__ = ()


def _ordered(self: Any, other: Any, reflected: bool) -> tuple[Any, Any]:
    return (other, self) if reflected else (self, other)


def _is_operand(value: Any) -> bool:
    """Whether an expression can hold it: another one, or a number that its text says."""
    return isinstance(value, SymFloat) or type(value) is int or (type(value) is float and value - value == 0)


def _is_foreign(value: Any) -> bool:
    """Whether it is no number, and may know better what to do."""
    return not isinstance(value, (int, float, complex, SymFloat, type(None)))
