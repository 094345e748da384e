"""A whole number that is an expression over sizes: what stands in `x.sizes` while a program is traced for all sizes.

Arithmetic gives another expression; comparing asks the `ShapeEnv`, which answers and takes note. Code that needs the
number itself gets the one seen, and the program is then specialised to it. So any code that treats sizes as numbers
can be traced, and what it did with them is guarded.

>>> from minitorch_compile.symbolic.shape_env import ShapeEnv
>>> env = ShapeEnv()
>>> rows = env.create(10)
>>> (rows + 2) * 3, 2 * rows // rows, rows > 7
(3*s0 + 6, 2, True)
>>> list(range(3))[rows - 8], rows - 5          # using it as an index makes it a constant
(2, 5)

It is no subclass of int on purpose: code in C would then read a number behind our back.

Source: torch.SymInt.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Integral
from typing import Any

from minitorch_compile.symbolic.expression import Expression, as_expression, maximum, minimum
from minitorch_compile.symbolic.ranges import range_of
from minitorch_compile.symbolic.relation import Relation
from minitorch_compile.symbolic.shape_env import ShapeEnv

Operation = Callable[[Any, Any], Any]


def _arithmetic(combine: Operation, reflected: bool = False) -> Callable[[SymInt, Any], Any]:
    """The method for an operator that expressions have. With a float, the size becomes a constant."""

    def method(self: SymInt, other: Any) -> Any:
        if not is_whole(other):
            return _on_numbers(combine, reflected)(self, other)
        if combine in (operator.floordiv, operator.mod) and (self if reflected else other) == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        mine, others = self.expression, expression_of(other)
        return sym_or_int(combine(others, mine) if reflected else combine(mine, others), self.env)

    return method


def _on_numbers(combine: Operation, reflected: bool = False) -> Callable[[SymInt, Any], Any]:
    """The method for an operator whose result is no expression: the size becomes a constant."""

    def method(self: SymInt, other: Any) -> Any:
        if not isinstance(other, (Integral, float, complex, SymInt)):
            return NotImplemented
        number = int(other) if isinstance(other, SymInt) else other
        return combine(number, int(self)) if reflected else combine(int(self), number)

    return method


class SymInt:
    """An unknown whole number. Not hashable, also when it has become a constant: nothing outside may remember it."""

    __slots__ = ("_expression", "env", "_version")
    __array_ufunc__ = None  # NumPy's numbers leave operators to us

    def __init__(self, expression: Expression, env: ShapeEnv) -> None:
        self._expression = expression
        self.env = env
        self._version = -1

    @property
    def expression(self) -> Expression:
        """In the simplest form by all that was learned so far."""
        if self._version != self.env.version:
            self._expression, self._version = self.env.simplify(self._expression), self.env.version
        return self._expression

    @property
    def hint(self) -> int:
        """The value for the sizes that were seen; looking at it guards nothing."""
        return self.env.hint(self.expression)

    def __repr__(self) -> str:
        return str(self.expression)

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else repr(self)

    def __deepcopy__(self, memo: Any) -> SymInt:
        return self  # it belongs to its ShapeEnv, and doesn't change

    # --- the number itself --------------------------------------------------------------------------------------------

    def __index__(self) -> int:
        return self.env.specialize(self.expression)

    __int__ = __trunc__ = __floor__ = __ceil__ = __index__

    def __float__(self) -> float:
        return float(int(self))

    def __complex__(self) -> complex:
        return complex(int(self))

    def __hash__(self) -> int:
        raise TypeError(f"unhashable: the size {self} belongs to a traced program, and may not be remembered")

    def __bool__(self) -> bool:
        return not self.env.is_zero(self.expression)

    # --- comparisons --------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        if is_whole(other):
            return self.env.is_zero(self.expression - expression_of(other))
        return int(self) == other if isinstance(other, (float, complex)) else NotImplemented

    def __ne__(self, other: object) -> Any:
        answer = self.__eq__(other)
        return answer if answer is NotImplemented else not answer

    def __le__(self, other: Any) -> Any:
        if is_whole(other):
            return self.env.is_at_most_zero(self.expression - expression_of(other))
        return int(self) <= other if isinstance(other, float) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        if is_whole(other):
            return self.env.is_at_most_zero(expression_of(other) - self.expression)
        return int(self) >= other if isinstance(other, float) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        answer = self.__ge__(other)
        return answer if answer is NotImplemented else not answer

    def __gt__(self, other: Any) -> Any:
        answer = self.__le__(other)
        return answer if answer is NotImplemented else not answer

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    __add__ = _arithmetic(operator.add)
    __radd__ = _arithmetic(operator.add, reflected=True)
    __sub__ = _arithmetic(operator.sub)
    __rsub__ = _arithmetic(operator.sub, reflected=True)
    __mul__ = _arithmetic(operator.mul)
    __rmul__ = _arithmetic(operator.mul, reflected=True)
    __floordiv__ = _arithmetic(operator.floordiv)
    __rfloordiv__ = _arithmetic(operator.floordiv, reflected=True)
    __mod__ = _arithmetic(operator.mod)
    __rmod__ = _arithmetic(operator.mod, reflected=True)
    __truediv__ = _on_numbers(operator.truediv)
    __rtruediv__ = _on_numbers(operator.truediv, reflected=True)
    __rpow__ = _on_numbers(operator.pow, reflected=True)

    def __pow__(self, other: Any) -> Any:
        if type(other) is not int or not 0 <= other <= LARGEST_POWER:
            return _on_numbers(operator.pow)(self, other)
        result = as_expression(1)
        for _ in range(other):
            result = result * self.expression
        return sym_or_int(result, self.env)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __neg__(self) -> Any:
        return sym_or_int(-self.expression, self.env)

    def __pos__(self) -> SymInt:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None else round(int(self), digits)


LARGEST_POWER = 8
WHOLE = (int, SymInt)  # for isinstance: a size, known or not


def is_whole(value: object) -> bool:
    """Whether it is a whole number, known or not."""
    return isinstance(value, (SymInt, int, Integral))


def expression_of(value: Any) -> Expression:
    """A whole number as an expression."""
    return value.expression if isinstance(value, SymInt) else as_expression(int(value))


def sym_or_int(expression: Expression, env: ShapeEnv) -> Any:
    """A SymInt, or an int if there is no unknown in the expression."""
    made = SymInt(expression, env)
    constant = made.expression.constant
    return made if constant is None else constant


def simplified(size: Any) -> Any:
    """A size by all that was learned: a number, if that is what it is."""
    return sym_or_int(size.expression, size.env) if isinstance(size, SymInt) else size


def is_symbolic(value: object) -> bool:
    """Whether it is a size that is not known yet."""
    return isinstance(value, SymInt) and value.expression.constant is None


def is_unbacked(value: object) -> bool:
    """Whether it is a number that only the data tell."""
    return isinstance(value, SymInt) and bool(value.env.unbacked) and value.env.is_unbacked(value.expression)


def whole(value: Any) -> Any:
    """operator.index, which leaves an unknown size as it is. TypeError for what is no whole number."""
    return value if isinstance(value, SymInt) else operator.index(value)


def surely_equal(first: Any, second: Any) -> bool:
    """Whether two numbers, or sequences of them, are equal whatever the sizes are. Asks nothing, so guards nothing."""
    if isinstance(first, (tuple, list)):
        return len(first) == len(second) and all(map(surely_equal, first, second))
    if isinstance(first, SymInt) or isinstance(second, SymInt):
        return (expression_of(first) - expression_of(second)).constant == 0
    return bool(first == second)


def expect_equal(first: Any, second: Any) -> bool:
    """first == second; where only the data tell, it is taken to be so and checked when the program runs."""
    if type(first) is int and type(second) is int:
        return first == second
    return _is_expected(first, second, "==") or bool(first == second)


def expect_equal_sizes(first: Any, second: Any) -> bool:
    """The same of two sequences of sizes, dimension by dimension."""
    return len(first) == len(second) and all(map(expect_equal, first, second))


def expect_at_most(first: Any, second: Any) -> bool:
    """first <= second, likewise."""
    return _is_expected(first, second, "<=") or bool(first <= second)


def expect_index(index: Any, size: Any) -> bool:
    """-size <= index < size, likewise."""
    return expect_at_most(-size, index) and expect_at_most(index + 1, size)


def _is_expected(first: Any, second: Any, sign: str) -> bool:
    """Whether the data tell if it is so. RuntimeError if it can't be."""
    env = next((x.env for x in (first, second) if isinstance(x, SymInt)), None)
    if env is None or not env.unbacked:
        return False
    difference = env.simplify(expression_of(first) - expression_of(second))
    if env.is_unbacked(difference):
        env.expect(Relation(difference, sign))
    return env.is_unbacked(difference)


def sym_max(a: Any, b: Any) -> Any:
    """max(a, b) as an expression, where not even the ranges say which."""
    return _greater(a, b, maximum)


def sym_min(a: Any, b: Any) -> Any:
    """min(a, b) as an expression."""
    return _greater(a, b, minimum)


def _greater(first: Any, second: Any, combine: Callable[[Expression, Expression], Expression]) -> Any:
    env = next((x.env for x in (first, second) if isinstance(x, SymInt)), None)
    if env is None:
        return max(first, second) if combine is maximum else min(first, second)
    left, right = expression_of(first), expression_of(second)
    lower, upper = range_of(env.simplify(left - right), env.ranges)
    if lower >= 0 or upper <= 0:
        return first if (lower >= 0) == (combine is maximum) else second
    return sym_or_int(combine(left, right), env)
