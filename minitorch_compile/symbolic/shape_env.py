"""What is known about the sizes of one traced program, and what was assumed about them on the way.

Every symbol has a *hint*, the size that was seen. A question about sizes (`a == b`? `a < 4`?) is answered for certain
where the ranges of the symbols allow; otherwise by the hints, and then the answer is written down as a relation. The
compiled program is right for all sizes for which the same relations hold: they become its guards.

>>> env = ShapeEnv()
>>> a, b = env.create(6), env.create(3)
>>> a == 1, a * b >= 4                    # certain: sizes 0 and 1 never become symbols
(False, True)
>>> a == 2 * b, a                         # from now on, one stands for the other
(True, 2*s1)
>>> a % 4 == 0
False
>>> print(env)
s1 = 3 in [2, int_oo]
s0 == 2*s1
s1 % 2 != 0

A symbol for a size that the data decide is *unbacked*: no size was seen. What its range doesn't answer can't be
answered, but a shape rule may expect it to be neither 0 nor 1, and two sizes to be equal. What was expected is checked
when the program runs:

>>> from minitorch_compile.symbolic.sym_int import expect_equal
>>> found = env.create_unbacked()
>>> found + 1 > 0, found == 1, expect_equal(found, 7), found, list(map(str, env.expected))
(True, False, True, 7, ['2 <= u0', 'u0 == 7'])

Source: torch/fx/experimental/symbolic_shapes.py, `ShapeEnv.evaluate_expr`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from minitorch_compile.symbolic.expression import (
    Atom,
    Expression,
    FloorDivision,
    Symbol,
    as_expression,
    content,
    divided_by,
)
from minitorch_compile.symbolic.ranges import Range, range_of
from minitorch_compile.symbolic.relation import Relation, reduced

if TYPE_CHECKING:
    from minitorch_compile.symbolic.sym_int import SymInt


class FrozenShapeEnv(RuntimeError):
    """Something asked a new question about sizes after the guards had been written."""


class ConstraintViolationError(RuntimeError):
    """A size that the user declared to be dynamic can't be."""


class GuardOnDataDependentSymNode(RuntimeError):
    """The answer to a question about sizes depends on data, which does not exist while tracing."""

    def __init__(self, question: object) -> None:
        self.question = question
        super().__init__(
            f"Could not guard on data-dependent expression {question}: torch._check({question}) tells the compiler what"
            " always holds"
        )


class ShapeEnv:
    """The symbols of one traced program. `place` says which of the user's lines is being traced."""

    def __init__(self, place: Callable[[], str] = str) -> None:
        self.place = place
        self.hints: dict[Symbol, int] = {}
        self.ranges: dict[Atom, Range] = {}  # of all symbols, and of divisions and maxima that a bound was assumed of
        self.relations: list[Relation] = []
        self.replacements: dict[Symbol, Expression] = {}  # what a relation says a symbol is
        self.narrowed: dict[Symbol, str] = {}  # the line because of which a symbol's range was narrowed
        self.replaced_at: dict[Symbol, str] = {}
        self._assumed: set[tuple[Expression, str]] = set()
        self._bounds: dict[Expression, int] = {}  # the greatest number n for which expression + n <= 0 was assumed
        self.is_frozen = False
        self.version = 0  # counts what was learned: an expression simplified before may be simplified again
        self._by_hint: dict[int, Symbol] = {}
        self._even: list[FloorDivision] = []  # divisions found to come out even
        self.unbacked: set[Symbol] = set()  # symbols without a hint
        self.expected: list[Relation] = []  # of unbacked symbols, to be checked when the program runs

    def __str__(self) -> str:
        kept = [s for s in self.hints if s not in self.replacements]
        lines = [f"{s} = {self.hints[s]} in {self.ranges[s]}" for s in kept]
        return "\n".join([*lines, *map(str, self.relations)])

    # --- symbols ------------------------------------------------------------------------------------------------------

    def create(self, hint: int, within: Range | None = None) -> SymInt:
        """A new symbol for a size of which `hint`, at least 2, was seen."""
        if hint < 2:
            raise ValueError(f"create: a symbol stands for a size of at least 2, but the hint is {hint}")
        return self._enter(Symbol(f"s{len(self.hints)}"), hint, Range() if within is None else Range().within(within))

    def create_number(self, hint: int) -> SymInt:
        """A new symbol for a number that may be anything."""
        return self._enter(Symbol(f"s{len(self.hints)}", is_size=False), hint, Range(-math.inf, math.inf))

    def create_unbacked(self, within: Range = Range(0)) -> SymInt:
        """A new symbol for a number that only the data tell."""
        from minitorch_compile.symbolic.sym_int import SymInt

        symbol = Symbol(f"u{len(self.unbacked)}", is_size=False)  # it may be 0, so no factor that can be cancelled
        self.unbacked.add(symbol)
        self.ranges[symbol] = within
        return SymInt(as_expression(symbol), self)

    def is_unbacked(self, expression: Expression) -> bool:
        """Whether the data decide its value."""
        return not expression.symbols.isdisjoint(self.unbacked)

    def _enter(self, symbol: Symbol, hint: int, within: Range) -> SymInt:
        from minitorch_compile.symbolic.sym_int import SymInt

        self.hints[symbol] = hint
        self.ranges[symbol] = within
        return SymInt(as_expression(symbol), self)

    def duck(self, hint: int) -> SymInt:
        """The symbol of all sizes that were seen to be `hint`: what is equal once is taken to be equal always."""
        from minitorch_compile.symbolic.sym_int import SymInt

        if hint not in self._by_hint:
            self._by_hint[hint] = next(iter(self.create(hint).expression.symbols))
        return SymInt(as_expression(self._by_hint[hint]), self)

    def hint(self, expression: Expression) -> int:
        """The value for the sizes that were seen. GuardOnDataDependentSymNode if none was."""
        if self.unbacked and self.is_unbacked(expression):
            raise GuardOnDataDependentSymNode(expression)
        return expression.evaluate(self.hints)

    def simplify(self, expression: Expression) -> Expression:
        """The expression by all that was learned."""
        while not expression.symbols.isdisjoint(self.replacements):
            expression = expression.substitute(self.replacements)
        for division in self._even:
            expression = _with_even(expression, division)
        return expression

    # --- questions ----------------------------------------------------------------------------------------------------

    def is_zero(self, difference: Expression) -> bool:
        """Whether it is 0: for certain, or written down."""
        difference = self.simplify(difference)
        known = self._known_to_be_zero(difference)
        if known is not None:
            return known
        if self.unbacked and self.is_unbacked(difference):
            return self._usually(Relation(difference, "=="))
        answer = self.hint(difference) == 0
        self._assume(Relation(reduced(difference), "==" if answer else "!=", self.place()))
        return answer

    def is_at_most_zero(self, difference: Expression) -> bool:
        """Whether it is 0 or less: for certain, or written down."""
        difference = reduced(self.simplify(difference))
        known = self._known_to_be_at_most_zero(difference)
        if known is not None:
            return known
        if self.unbacked and self.is_unbacked(difference):
            return self._usually(Relation(difference, "<="))
        answer = self.hint(difference) <= 0
        self._assume(Relation(difference if answer else 1 - difference, "<=", self.place()))
        return answer

    def known(self, relation: Relation) -> bool | None:
        """Whether it holds; None if that is not certain. Asks nothing, so guards nothing."""
        difference = self.simplify(relation.difference)
        if relation.sign == "<=":
            return self._known_to_be_at_most_zero(reduced(difference))
        is_zero = self._known_to_be_zero(difference)
        return is_zero if is_zero is None or relation.sign == "==" else not is_zero

    def expect(self, relation: Relation) -> None:
        """Takes it to hold, which is checked when the program runs. RuntimeError if it can't."""
        known = self.known(relation)
        if known is False:
            raise RuntimeError(f"Runtime assertion failed for expression {relation}")
        if known is None:
            self.expected.append(relation)
            self._learn(Relation(reduced(self.simplify(relation.difference)), relation.sign, self.place()))

    def _usually(self, relation: Relation) -> bool:
        """The answer for sizes that are neither 0 nor 1, which is expected of them then."""
        asked = relation.difference.symbols & self.unbacked
        usual: dict[Atom, Range] = {s: self.ranges[s].within(Range()) for s in asked if self.ranges[s].upper > 1}
        lower, upper = range_of(relation.difference, {**self.ranges, **usual})
        is_true = relation.sign == "<=" and upper <= 0
        if not is_true and lower <= 0 and (relation.sign == "<=" or upper >= 0):
            raise GuardOnDataDependentSymNode(relation)
        for symbol in sorted(usual, key=str):
            self.expect(Relation(2 - as_expression(symbol), "<="))
        return is_true

    def specialize(self, expression: Expression) -> int:
        """The value seen; the compiled program is only for that."""
        value = self.hint(expression)
        self.is_zero(expression - value)
        return value

    def _known_to_be_zero(self, difference: Expression) -> bool | None:
        if difference.constant is not None:
            return difference.constant == 0
        difference = reduced(difference)
        lower, upper = range_of(difference, self.ranges)
        if lower > 0 or upper < 0:
            return False
        constant = difference.number
        rest = difference - constant
        if constant % content(rest):  # 2*a + 4*b is never odd
            return False
        for sign, answer in (("==", True), ("!=", False)):
            if (difference, sign) in self._assumed or (-difference, sign) in self._assumed:
                return answer
        if self._follows(difference + 1) or self._follows(1 - difference):  # less than 0, or more
            return False
        return None

    def _known_to_be_at_most_zero(self, difference: Expression) -> bool | None:
        lower, upper = range_of(difference, self.ranges)
        if upper <= 0 or lower > 0:
            return upper <= 0
        if self._follows(difference) or self._follows(1 - difference):
            return self._follows(difference)
        return None

    def _follows(self, difference: Expression) -> bool:
        """Whether it is 0 or less because a bound says so that was assumed before."""
        constant = difference.number
        return constant <= self._bounds.get(difference - constant, -math.inf)

    # --- learning -----------------------------------------------------------------------------------------------------

    def _assume(self, relation: Relation) -> None:
        if self.is_frozen:
            raise FrozenShapeEnv(f"{relation} was asked after the guards had been written")
        if self._learn(relation):
            self.relations.append(relation)

    def _learn(self, relation: Relation) -> bool:
        """Uses it from now on; False if it is nothing but a range of a symbol."""
        self.version += 1
        self._assumed.add((relation.difference, relation.sign))
        if relation.sign == "<=":
            number = relation.difference.number
            rest = relation.difference - number
            self._bounds[rest] = max(number, self._bounds.get(rest, number))
        if relation.sign == "==":
            self._learn_equal(relation)
        return relation.sign != "<=" or not self._narrow(relation)

    def _learn_equal(self, relation: Relation) -> None:
        """One symbol is what the others say; or a division comes out even."""
        difference = relation.difference
        symbol = _solvable(difference)
        if symbol is not None:
            self.replacements[symbol] = _solved(difference, symbol)
            self.replaced_at[symbol] = relation.place
            return
        for sign in (1, -1):
            for division in _divisions(difference):
                if difference == sign * (division.numerator - division.denominator * as_expression(division)):
                    self._even.append(division)
                    return

    def _narrow(self, relation: Relation) -> bool:
        """c*a + k <= 0 is a bound of a: it is kept as the range. For a symbol, that is all there is to keep."""
        difference = relation.difference
        constant = difference.number
        atom = (difference - constant).linear_atom
        if atom is None:
            return False
        factor = difference.terms[0][1]
        bound = Range(-math.inf, -constant // factor) if factor > 0 else Range(-(constant // factor), math.inf)
        self.ranges[atom] = self.ranges.get(atom, bound).within(bound)
        if not isinstance(atom, Symbol):
            return False
        self.narrowed[atom] = relation.place
        return True


def _solvable(difference: Expression) -> Symbol | None:
    """The symbol that `difference == 0` can be solved for: the youngest with factor 1 that is nowhere else in it, one
    without a hint before all others."""
    found = [s for s in difference.symbols if _occurs_once(difference, s)]
    if len(difference.symbols) == 1 and found:
        return found[0]
    coefficient = {monomial[0][0]: c for monomial, c in difference.terms if len(monomial) == 1}
    whole = [s for s in found if abs(coefficient[s]) == 1]
    return max(whole, key=lambda s: (s.name[0], int(s.name[1:])), default=None)


def _occurs_once(difference: Expression, symbol: Symbol) -> bool:
    """Whether it is in one term only, alone."""
    holding = [monomial for monomial, _ in difference.terms if symbol in Expression(((monomial, 1),)).symbols]
    return holding == [((symbol, 1),)]


def _solved(difference: Expression, symbol: Symbol) -> Expression:
    (factor,) = (c for monomial, c in difference.terms if monomial == ((symbol, 1),))
    rest = difference - factor * as_expression(symbol)
    return divided_by(-rest if factor > 0 else rest, (), abs(factor))


def _divisions(expression: Expression) -> list[FloorDivision]:
    return [atom for monomial, _ in expression.terms for atom, _ in monomial if isinstance(atom, FloorDivision)]


def _with_even(expression: Expression, division: FloorDivision) -> Expression:
    """q * (p // q) is p where the division comes out even."""
    atom: Atom = division
    holding = Expression(tuple((m, c) for m, c in expression.terms if (atom, 1) in m))
    if not holding.terms:
        return expression
    whole = holding // as_expression(atom)
    quotient = whole // division.denominator
    if quotient * division.denominator != whole:
        return expression
    return expression - holding + quotient * division.numerator
