"""Between which numbers an expression lies, from what is known of its symbols and divisions.

>>> from minitorch_compile.symbolic.expression import symbol
>>> a, b = symbol("a"), symbol("b")
>>> known = {s: Range(2, 10) for s in (a * b).symbols}
>>> range_of(a * b - 1, known), range_of(a // b, known)
(Range(lower=3, upper=99), Range(lower=0, upper=5))
>>> range_of(a // 2 - a, known)
Range(lower=-5, upper=-1)

Interval arithmetic: each operation on the ends. The answer is never too narrow, but may be too wide, as for
`a - a*b`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from minitorch_compile.symbolic.expression import Atom, Expression, FloorDivision, Symbol, as_expression, parts_of

Bound = int | float  # a whole number, or infinity
FEW_DIVISIONS = 2


class Range(NamedTuple):
    """All whole numbers from `lower` to `upper`, both included; an end may be infinite."""

    lower: Bound = 2
    upper: Bound = math.inf

    def __str__(self) -> str:
        return f"[{self.lower}, {'int_oo' if self.upper == math.inf else self.upper}]"

    def within(self, other: Range) -> Range:
        """What lies in both."""
        return Range(max(self.lower, other.lower), min(self.upper, other.upper))


def range_of(expression: Expression, known: Mapping[Atom, Range]) -> Range:
    """A range in which the expression lies, whatever its symbols are within theirs."""
    return _range_of(expression, known, {})


Found = dict[Atom | Expression, Range]  # sizes of a deep network are divisions of divisions, asked for many times


def _range_of(expression: Expression, known: Mapping[Atom, Range], found_before: Found) -> Range:
    if expression not in found_before:
        found = _by_terms(expression, known, found_before)
        for division, coefficient in _divisions_of(expression):
            found = found.within(_by_division(expression, division, coefficient, known, found_before))
        found_before[expression] = found
    return found_before[expression]


def _divisions_of(expression: Expression) -> list[tuple[FloorDivision, int]]:
    """The divisions among its terms, with their coefficients. Of many only the one that has the most others in it: each
    order of several would be tried."""
    found = [
        (monomial[0][0], coefficient)
        for monomial, coefficient in expression.terms
        if len(monomial) == 1 and isinstance(monomial[0][0], FloorDivision) and monomial[0][1] == 1
    ]
    return found if len(found) <= FEW_DIVISIONS else [max(found, key=lambda term: _depth(term[0]))]


@lru_cache(maxsize=4096)
def _depth(atom: Atom) -> int:
    """How many atoms lie in one another."""
    inner = (_depth(a) for part in parts_of(atom) for monomial, _ in part.terms for a, _ in monomial)
    return 1 + max(inner, default=0)


def _by_division(
    expression: Expression,
    division: FloorDivision,
    coefficient: int,
    known: Mapping[Atom, Range],
    found_before: Found,
) -> Range:
    """With p - r for q * (p // q), r a remainder: then p can cancel with the rest, as in a//2 - a."""
    q = division.denominator.constant
    if q is None or q < 2:
        return Range(-math.inf, math.inf)
    rest = expression - coefficient * as_expression(division)
    lower, upper = _range_of(coefficient * division.numerator + q * rest, known, found_before)
    ends = (0, -coefficient * (q - 1))
    return Range(-_floor(-(lower + min(ends)), q), _floor(upper + max(ends), q))


def _by_terms(expression: Expression, known: Mapping[Atom, Range], found_before: Found) -> Range:
    total = Range(0, 0)
    for monomial, coefficient in expression.terms:
        product = Range(coefficient, coefficient)
        for atom, power in monomial:
            for _ in range(power):
                product = _product(product, _atom_range(atom, known, found_before))
        total = Range(total.lower + product.lower, total.upper + product.upper)
    return total


def _atom_range(atom: Atom, known: Mapping[Atom, Range], found_before: Found) -> Range:
    if isinstance(atom, Symbol):
        return known[atom]
    if atom not in found_before:
        first, second = (_range_of(part, known, found_before) for part in parts_of(atom))
        if isinstance(atom, FloorDivision):
            found = _quotient(first, second)
        else:
            found = Range(max(first.lower, second.lower), max(first.upper, second.upper))
        found_before[atom] = found.within(known.get(atom, found))
    return found_before[atom]


def _product(left: Range, right: Range) -> Range:
    ends = [_times(a, b) for a in left for b in right]
    return Range(min(ends), max(ends))


def _times(a: Bound, b: Bound) -> Bound:
    return 0 if a == 0 or b == 0 else a * b  # 0 * infinity: no number of zeros is more than 0


def _quotient(numerator: Range, denominator: Range) -> Range:
    if denominator.lower <= 0:  # may be of either sign
        return Range(-math.inf, math.inf)
    ends = [_floor(a, b) for a in numerator for b in denominator]
    return Range(min(ends), max(ends))


def _floor(a: Bound, b: Bound) -> Bound:
    if isinstance(b, float):  # divided by ever more
        return -1 if a < 0 else 0
    return a if isinstance(a, float) else a // b
