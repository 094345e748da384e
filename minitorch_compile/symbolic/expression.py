"""Integer expressions over unknown sizes: polynomials, `//` and the greater of two, in one canonical form.

Two expressions that are equal as polynomials are the same object to `==`, whichever way they were computed:

>>> a, b = symbol("a"), symbol("b")
>>> (a + 1) * (a - 1) == a * a - 1
True
>>> 12 * a * b // (4 * b), (4 * a + 7) // 4, (6 * a + 7) % 6, (2 * a + 2) // 8
(3*a, a + 1, 1, (a + 1)//4)
>>> minimum(a, b) + maximum(a, b) == a + b
True

An `Expression` is a sum of terms; a term is a whole number times a product of *atoms*: symbols, floor divisions that
don't come out even, and maxima. Remainders and minima are written in these (`p % q` is `p - q*(p//q)`). All symbols
stand for sizes of at least 2, so a factor that is a symbol can be cancelled, unless they say otherwise.

Source: torch/fx/experimental/symbolic_shapes.py does the same with SymPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Symbol:
    """A whole number that is not known; 2 or more if it is the size of a tensor."""

    name: str
    is_size: bool = True

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class FloorDivision:
    """numerator // denominator, where neither polynomial division nor a common factor says more."""

    numerator: Expression
    denominator: Expression

    @cached_property
    def text(self) -> str:
        return f"{in_parentheses(self.numerator)}//{in_parentheses(self.denominator)}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Maximum:
    """The greater of two expressions of which neither is known to be."""

    first: Expression
    second: Expression

    @cached_property
    def text(self) -> str:
        return f"max({self.first}, {self.second})"

    def __str__(self) -> str:
        return self.text


Atom = Symbol | FloorDivision | Maximum
Monomial = tuple[tuple[Atom, int], ...]  # atoms with their powers, in order of their texts
Substitution = Mapping[Symbol, "Expression"]


@dataclass(frozen=True)
class Expression:
    """A sum of terms (monomial, coefficient), highest degree first; no coefficient is 0. Immutable."""

    terms: tuple[tuple[Monomial, int], ...]

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def constant(self) -> int | None:
        """The value, if no unknown is left."""
        if not self.terms:
            return 0
        (monomial, coefficient), *rest = self.terms
        return coefficient if not rest and not monomial else None

    @property
    def number(self) -> int:
        """The term without unknowns."""
        return 0 if not self.terms or self.terms[-1][0] else self.terms[-1][1]

    @property
    def linear_atom(self) -> Atom | None:
        """The symbol, division or maximum of which this is a multiple."""
        if len(self.terms) == 1 and len(self.terms[0][0]) == 1:
            atom, power = self.terms[0][0][0]
            return atom if power == 1 else None
        return None

    @property
    def only_symbol(self) -> Symbol | None:
        """The symbol that this is and nothing else."""
        atom = self.linear_atom if self.terms and self.terms[0][1] == 1 else None
        return atom if isinstance(atom, Symbol) else None

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """All unknowns, also those inside of divisions and maxima."""
        found: set[Symbol] = set()
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                found |= {atom} if isinstance(atom, Symbol) else {s for part in parts_of(atom) for s in part.symbols}
        return frozenset(found)

    def __str__(self) -> str:
        parts = [_signed(coefficient, monomial, i == 0) for i, (monomial, coefficient) in enumerate(self.terms)]
        return " ".join(parts) or "0"

    __repr__ = __str__

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    def __add__(self, other: Expression | int) -> Expression:
        return _collected([*self.terms, *as_expression(other).terms])

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return Expression(tuple((monomial, -coefficient) for monomial, coefficient in self.terms))

    def __sub__(self, other: Expression | int) -> Expression:
        return self + -as_expression(other)

    def __rsub__(self, other: int) -> Expression:
        return -self + other

    def __mul__(self, other: Expression | int) -> Expression:
        factor = as_expression(other)
        return _collected((_product(m, n), a * b) for m, a in self.terms for n, b in factor.terms)

    __rmul__ = __mul__

    def __floordiv__(self, other: Expression | int) -> Expression:
        return floor_division(self, as_expression(other))

    def __mod__(self, other: Expression | int) -> Expression:
        divisor = as_expression(other)
        return self - divisor * floor_division(self, divisor)

    # --- values -------------------------------------------------------------------------------------------------------

    def substitute(self, values: Substitution) -> Expression:
        """The expression with other expressions for some of its symbols."""
        if self.symbols.isdisjoint(values):
            return self
        total = as_expression(0)
        for monomial, coefficient in self.terms:
            product = as_expression(coefficient)
            for atom, power in monomial:
                value = _atom_with(atom, values)
                for _ in range(power):
                    product = product * value
            total = total + product
        return total

    def evaluate(self, values: Mapping[Symbol, int]) -> int:
        """The value when all symbols have one. ZeroDivisionError where a divisor comes out as 0."""
        return sum(c * math.prod(_atom_value(atom, values) ** power for atom, power in m) for m, c in self.terms)


def as_expression(value: Expression | Symbol | FloorDivision | Maximum | int) -> Expression:
    """Whatever it is, as a polynomial."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, int):
        return Expression((((), int(value)),)) if value else Expression(())
    return _of_atom(value)


def symbol(name: str) -> Expression:
    """The expression that is one unknown."""
    return _of_atom(Symbol(name))


def _of_atom(atom: Atom) -> Expression:
    return Expression(((((atom, 1),), 1),))


def parts_of(atom: Atom) -> tuple[Expression, ...]:
    """The expressions inside of an atom."""
    if isinstance(atom, FloorDivision):
        return atom.numerator, atom.denominator
    return (atom.first, atom.second) if isinstance(atom, Maximum) else ()


def _atom_with(atom: Atom, values: Substitution) -> Expression:
    if isinstance(atom, Symbol):
        return values.get(atom, _of_atom(atom))
    first, second = (part.substitute(values) for part in parts_of(atom))
    return floor_division(first, second) if isinstance(atom, FloorDivision) else maximum(first, second)


def _atom_value(atom: Atom, values: Mapping[Symbol, int]) -> int:
    if isinstance(atom, Symbol):
        return values[atom]
    first, second = (part.evaluate(values) for part in parts_of(atom))
    return first // second if isinstance(atom, FloorDivision) else max(first, second)


# --- sums and products ------------------------------------------------------------------------------------------------


def _collected(terms: Iterable[tuple[Monomial, int]]) -> Expression:
    """Terms with like ones added up, in canonical order."""
    sums: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        sums[monomial] = sums.get(monomial, 0) + coefficient
    kept = [(m, c) for m, c in sums.items() if c]
    return Expression(tuple(sorted(kept, key=_order) if len(kept) > 1 else kept))


def _order(term: tuple[Monomial, int]) -> tuple[int, list[tuple[str, int]]]:
    """Highest degree first, then by the alphabet: a total order that products respect."""
    monomial = term[0]
    return -sum(power for _, power in monomial), [(str(atom), -power) for atom, power in monomial]


def _product(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _quotient(left: Monomial, right: Monomial) -> Monomial | None:
    """left / right where it is a monomial, else None."""
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return tuple((atom, power) for atom, power in powers.items() if power)


# --- division, maximum ------------------------------------------------------------------------------------------------


def floor_division(numerator: Expression, denominator: Expression) -> Expression:
    """numerator // denominator, as Python rounds. ZeroDivisionError for a denominator that is the constant 0."""
    if denominator.constant == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    exact, rest = _divided(numerator, denominator)
    if not rest.terms:
        return exact
    if len(denominator.terms) > 1:
        exact, rest = as_expression(0), numerator
    rest, divisor = _without_common_factor(rest, denominator)
    if rest.constant is not None and divisor.constant is not None:
        return exact + rest.constant // divisor.constant
    return exact + _of_atom(FloorDivision(rest, divisor))


def _divided(numerator: Expression, denominator: Expression) -> tuple[Expression, Expression]:
    """Quotient and rest of polynomial division with whole coefficients: numerator = quotient * denominator + rest."""
    leading, factor = denominator.terms[0]
    quotient, rest, remaining = as_expression(0), as_expression(0), numerator
    while remaining.terms:
        monomial, coefficient = remaining.terms[0]
        shared = _quotient(monomial, leading)
        whole = 0 if shared is None else _whole_times(coefficient, factor, constant=not monomial)
        step = Expression(((shared, whole),)) if shared is not None and whole else None
        if step is not None:
            quotient, remaining = quotient + step, remaining - step * denominator
        if step is None or coefficient != whole * factor:
            left_over = Expression((remaining.terms[0],)) if remaining.terms else as_expression(0)
            rest, remaining = rest + left_over, remaining - left_over
    return quotient, rest


def _whole_times(coefficient: int, factor: int, constant: bool) -> int:
    """How often to take the divisor out: -a//4 stays as it is, but (a - 1)//4 is (a + 3)//4 - 1."""
    quotient = abs(coefficient) // abs(factor)
    return coefficient // factor if constant else quotient if coefficient * factor > 0 else -quotient


def _without_common_factor(first: Expression, second: Expression) -> tuple[Expression, Expression]:
    """Both divided by what divides both: a number, and symbols. The second is a divisor, so none of it is 0."""
    number = math.gcd(content(first), content(second))
    shared = common_symbols(first, second, only_sizes=False)
    return divided_by(first, shared, number), divided_by(second, shared, number)


def content(expression: Expression) -> int:
    """The greatest number that divides every coefficient."""
    return math.gcd(*(coefficient for _, coefficient in expression.terms))


def common_symbols(*expressions: Expression, only_sizes: bool = True) -> Monomial:
    """The symbols, with powers, that are factors of every term of all of them; those that are positive for sure."""
    powers = [dict(monomial) for expression in expressions for monomial, _ in expression.terms]
    shared = {s: min(p.get(s, 0) for p in powers) for s in (powers[0] if powers else {}) if isinstance(s, Symbol)}
    return tuple((s, power) for s, power in shared.items() if power and (s.is_size or not only_sizes))


def divided_by(expression: Expression, factor: Monomial, number: int) -> Expression:
    """Each term divided by a factor that all of them have."""
    return _collected((_quotient(m, factor) or (), c // number) for m, c in expression.terms)


def maximum(first: Expression, second: Expression) -> Expression:
    """The greater of the two; one of them where they differ by a number."""
    difference = (first - second).constant
    if difference is not None:
        return first if difference >= 0 else second
    return _of_atom(Maximum(*sorted((first, second), key=str)))


def minimum(first: Expression, second: Expression) -> Expression:
    """The smaller of the two."""
    return first + second - maximum(first, second)


# --- text -------------------------------------------------------------------------------------------------------------


def in_parentheses(expression: Expression) -> str:
    """The text, as an operand."""
    text = str(expression)
    return text if expression.only_symbol or (expression.constant or -1) >= 0 else f"({text})"


def _signed(coefficient: int, monomial: Monomial, first: bool) -> str:
    sign = ("-" if first else "- ") if coefficient < 0 else ("" if first else "+ ")
    factors = [str(abs(coefficient))] if abs(coefficient) != 1 or not monomial else []
    for atom, power in monomial:
        alone = not factors and power == len(monomial) == 1 and coefficient == 1
        factors += [str(atom) if alone or not isinstance(atom, FloorDivision) else f"({atom})"] * power
    return sign + "*".join(factors)


def text_of(expression: Expression, name: Callable[[Symbol], str]) -> str:
    """The expression as Python source, with a text for each symbol.

    >>> text_of(symbol("a") * 2 + 1, lambda s: "x.sizes[0]")
    '2*x.sizes[0] + 1'
    """
    renamed = {s: symbol(name(s)) for s in expression.symbols}
    return str(expression.substitute(renamed))
