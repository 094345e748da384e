"""What was found to hold between sizes while a program was traced: `a == b`, `a % 4 == 0`, `3 <= a`.

A relation compares an expression with 0; its text says it the way that one reads it:

>>> from minitorch_compile.symbolic.expression import symbol
>>> a, b = symbol("a"), symbol("b")
>>> print(Relation(2 * a - b - 3, "=="))
2*a == b + 3
>>> print(Relation(3 - a, "<="))
3 <= a
>>> print(Relation(a % 4 - 1, "!="))
a % 4 != 1
"""

from __future__ import annotations

from dataclasses import dataclass

from minitorch_compile.symbolic.expression import (
    Expression,
    FloorDivision,
    as_expression,
    common_symbols,
    content,
    divided_by,
    in_parentheses,
)


@dataclass(frozen=True)
class Relation:
    """`difference` is == 0, != 0 or <= 0, because of the user's line `place`."""

    difference: Expression
    sign: str
    place: str = ""

    def __str__(self) -> str:
        if self.sign != "<=":
            for remainder in (_as_remainder(self.difference), _as_remainder(-self.difference)):
                if remainder is not None:
                    numerator, denominator, value = remainder
                    return f"{in_parentheses(numerator)} % {in_parentheses(denominator)} {self.sign} {value}"
        left, right = self.sides
        return f"{left} {self.sign} {right}"

    @property
    def sides(self) -> tuple[Expression, Expression]:
        """What is compared, without signs."""
        left = Expression(tuple(term for term in self.difference.terms if term[1] > 0))
        right = -Expression(tuple(term for term in self.difference.terms if term[1] < 0))
        return (right, left) if left.constant is not None and self.sign != "<=" else (left, right)

    def renamed(self, names: dict[str, str]) -> Relation:
        """With other names for its symbols, such as the text that reads a size."""
        from minitorch_compile.symbolic.expression import symbol

        values = {s: symbol(names[s.name]) for s in self.difference.symbols}
        return Relation(self.difference.substitute(values), self.sign, self.place)


def _as_remainder(difference: Expression) -> tuple[Expression, Expression, int] | None:
    """(p, q, r) if the difference is p % q - r."""
    for monomial, _ in difference.terms:
        for atom, _ in monomial:
            if isinstance(atom, FloorDivision):
                remainder = atom.numerator - atom.denominator * Expression(((((atom, 1),), 1),))
                value = (remainder - difference).constant
                if value is not None:
                    return atom.numerator, atom.denominator, value
    return None


def reduced(difference: Expression) -> Expression:
    """Divided by the positive factors that all its terms have: they say nothing about its sign."""
    if not difference.terms:
        return as_expression(0)
    return divided_by(difference, common_symbols(difference), content(difference))
