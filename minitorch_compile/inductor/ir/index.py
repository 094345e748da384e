"""Index algebra: exact arithmetic on the integers that say where in memory a loop reads and writes.

An `Index` is a sum of terms `coefficient * atom` plus a constant. An atom is a `Symbol` (a loop variable, which runs
over `0 .. size - 1`) or a `Digit`, `(base // divisor) % modulus`: what is left of a reshape that can't be written as
a sum. Every expression is kept in one normal form, so two expressions mean the same address if they compare equal,
and a reshape undone by another disappears:

>>> i, j = symbol("i", 8), symbol("j", 4)
>>> flat = 4 * i + j
>>> flat // 4, flat % 4, (flat // 8, flat % 8)
(i, j, (i // 2, j + 4*(i % 2)))
>>> f = symbol("f", 32)
>>> 4 * (f // 4) + f % 4
f
>>> flat.bounds(), flat.coefficient(i), (flat + 1).substitute({i: index(3)})
((0, 31), 4, 13 + j)

Division rounds down, as in Python. Only sizes known while compiling are supported; a size that is a symbol itself would
turn coefficients into products of atoms, the rest stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import gcd
from typing import NamedTuple, Union


class Symbol(NamedTuple):
    """A variable that takes the values 0 .. size - 1; `indirect` if its value was read from memory."""

    name: str
    size: int
    indirect: bool = False

    def bounds(self) -> tuple[int, int]:
        return 0, max(self.size - 1, 0)

    def __str__(self) -> str:
        return self.name


class Digit(NamedTuple):
    """`(base // divisor) % modulus`: a digit of `base` in a mixed radix. A modulus of 0 stands for none."""

    base: Index
    divisor: int
    modulus: int

    def bounds(self) -> tuple[int, int]:
        low, high = (bound // self.divisor for bound in self.base.bounds())
        if self.modulus and (low < 0 or high >= self.modulus):
            return 0, self.modulus - 1
        return low, high

    def __str__(self) -> str:
        base = str(self.base) if self.base.is_atom else f"({self.base})"
        quotient = base if self.divisor == 1 else f"{base} // {self.divisor}"
        if not self.modulus:
            return f"({quotient})"
        return f"(({quotient}) % {self.modulus})" if self.divisor != 1 else f"({quotient} % {self.modulus})"


Atom = Symbol | Digit
Term = tuple[Atom, int]
IndexLike = Union["Index", int]


class Index:
    """A normalised sum. Build one with `symbol`, `index` and arithmetic; compare and hash it like a value."""

    __slots__ = ("constant", "terms", "__dict__")

    def __init__(self, terms: tuple[Term, ...], constant: int) -> None:
        self.terms = terms
        self.constant = constant

    # ------------------------------------------------------------------------------------------ arithmetic

    def __add__(self, other: IndexLike) -> Index:
        if isinstance(other, int):
            return self if other == 0 else Index(self.terms, self.constant + other)
        return _sum([(1, self), (1, other)])

    def __sub__(self, other: IndexLike) -> Index:
        return self + (-other)

    def __rsub__(self, other: int) -> Index:
        return -self + other

    def __neg__(self) -> Index:
        return self * -1

    def __mul__(self, factor: int) -> Index:
        if factor == 0:
            return ZERO
        return Index(tuple((atom, count * factor) for atom, count in self.terms), self.constant * factor)

    __radd__ = __add__
    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Index:
        return digit(self, divisor, 0)

    def __mod__(self, modulus: int) -> Index:
        return digit(self, 1, modulus)

    # ------------------------------------------------------------------------------------------ questions

    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value, by interval arithmetic: never too narrow, exact for affine expressions."""
        return self._bounds

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        low = high = self.constant
        for atom, count in self.terms:
            least, greatest = atom.bounds()
            low += count * (least if count > 0 else greatest)
            high += count * (greatest if count > 0 else least)
        return low, high

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """Every symbol that occurs, also inside digits."""
        return frozenset(
            s for atom, _ in self.terms for s in ([atom] if isinstance(atom, Symbol) else atom.base.symbols)
        )

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def is_affine(self) -> bool:
        """Whether it is free of digits: only then does moving along a variable mean a constant stride."""
        return all(isinstance(atom, Symbol) for atom, _ in self.terms)

    @property
    def is_atom(self) -> bool:
        return len(self.terms) == 1 and self.constant == 0 and self.terms[0][1] == 1

    @property
    def is_indirect(self) -> bool:
        return any(s.indirect for s in self.symbols)

    def coefficient(self, variable: Index) -> int:
        """The stride along a variable that occurs in no digit."""
        atom = atom_of(variable)
        return next((count for other, count in self.terms if other == atom), 0)

    def depends_on(self, variable: Index) -> bool:
        return atom_of(variable) in self.symbols

    def in_digits(self, variable: Index) -> bool:
        """Whether the variable occurs inside a digit, so that there is no one stride along it."""
        return any(isinstance(atom, Digit) and atom.base.depends_on(variable) for atom, _ in self.terms)

    def substitute(self, values: Mapping[Index, Index]) -> Index:
        """The expression with variables replaced, simplified again."""
        replacements: dict[Atom, Index] = {atom_of(variable): value for variable, value in values.items()}
        return self._substitute(replacements)

    def _substitute(self, values: Mapping[Atom, Index]) -> Index:
        if self.symbols.isdisjoint(values):
            return self
        parts = [(count, _substitute_atom(atom, values)) for atom, count in self.terms]
        return _sum(parts, self.constant)

    # ------------------------------------------------------------------------------------------ identity

    @cached_property
    def _key(self) -> tuple[frozenset[Term], int]:
        return frozenset(self.terms), self.constant

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and (self is other or self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        parts = [str(self.constant)] if self.constant or not self.terms else []
        parts += [str(atom) if count == 1 else f"{count}*{atom}" for atom, count in self.terms]
        text = " + ".join(parts).replace("+ -", "- ")
        return text[1:-1] if self.is_atom and text.startswith("(") else text


def symbol(name: str, size: int, indirect: bool = False) -> Index:
    """A variable that runs over 0 .. size - 1."""
    return Index(((Symbol(name, size, indirect), 1),), 0)


def variables(prefix: str, sizes: Sequence[int]) -> tuple[Index, ...]:
    """One variable a dimension; a dimension of size 1 has only one position, so its index is the constant 0.

    >>> variables("i", [4, 1, 3])
    (i0, 0, i2)
    """
    return tuple(symbol(f"{prefix}{d}", size) if size != 1 else ZERO for d, size in enumerate(sizes))


def index(value: int) -> Index:
    """A constant."""
    return Index((), value)


ZERO = Index((), 0)


def atom_of(variable: Index) -> Symbol:
    """The symbol that a bare variable is."""
    ((atom, count),) = variable.terms
    assert isinstance(atom, Symbol) and count == 1 and variable.constant == 0, f"not a variable: {variable}"
    return atom


def _substitute_atom(atom: Atom, values: Mapping[Atom, Index]) -> Index:
    if isinstance(atom, Symbol):
        return values.get(atom) or Index(((atom, 1),), 0)
    return digit(atom.base._substitute(values), atom.divisor, atom.modulus)


def _sum(parts: Iterable[tuple[int, Index]], constant: int = 0) -> Index:
    """The sum of `factor * index`, like terms collected, digits of one number put together where they are adjacent."""
    counts: dict[Atom, int] = {}
    for factor, part in parts:
        constant += factor * part.constant
        for atom, count in part.terms:
            counts[atom] = counts.get(atom, 0) + factor * count
    result = Index(tuple((atom, count) for atom, count in counts.items() if count), constant)
    if result.is_affine:
        return result
    return _join_digits(result)


def _join_digits(total: Index) -> Index:
    """`c * d(b, v, m) + c*m * d(b, v*m, n)` is `c * d(b, v, m*n)`: two neighbouring digits are one longer digit."""
    counts = dict(total.terms)
    digits = [atom for atom in counts if isinstance(atom, Digit)]
    for low in digits:
        for high in digits:
            same_number = low.base == high.base and low.modulus and high.divisor == low.divisor * low.modulus
            if same_number and counts[high] == counts[low] * low.modulus:
                factor = counts.pop(low)
                counts.pop(high)
                joined = digit(low.base, low.divisor, low.modulus * high.modulus)
                return _sum([(1, Index(tuple(counts.items()), total.constant)), (factor, joined)])
    return total


def digit(base: Index, divisor: int, modulus: int) -> Index:
    """`(base // divisor) % modulus`, simplified with the ranges of the variables; a modulus of 0 stands for none."""
    if divisor == 1 and not modulus:
        return base
    if modulus:
        base = _drop_multiples(base, divisor * modulus)
        low, high = (bound // divisor for bound in base.bounds())
        if 0 <= low and high < modulus:
            return digit(base, divisor, 0)
    base, divisor, high_part = _split_multiples(base, divisor, modulus)
    low, high = (bound // divisor for bound in base.bounds())
    if low == high:
        return high_part + (low % modulus if modulus else low)
    low_part, base, scale = _split_remainder(base, divisor, modulus)
    return high_part + low_part + _digit_of_digit(base, divisor, modulus // scale) * scale


def _drop_multiples(base: Index, period: int) -> Index:
    """Terms that are whole multiples of the period don't change a digit above it."""
    kept = tuple((atom, count) for atom, count in base.terms if count % period)
    return Index(kept, base.constant % period) if len(kept) < len(base.terms) or base.constant >= period else base


def _split_multiples(base: Index, divisor: int, modulus: int) -> tuple[Index, int, Index]:
    """Simplifies `base // divisor`: takes out what divides evenly, then a common factor above the small terms."""
    high_part = ZERO
    if not modulus:
        even = tuple((atom, count // divisor) for atom, count in base.terms if count % divisor == 0)
        whole = base.constant // divisor
        if even or whole:
            high_part = Index(even, whole)
            base = Index(tuple((a, c) for a, c in base.terms if c % divisor), base.constant - whole * divisor)
    common = common_factor(base, divisor)
    if common > 1:
        base = Index(tuple((a, c // common) for a, c in base.terms if c % common == 0), base.constant // common)
        divisor //= common
    return base, divisor, high_part


def common_factor(base: Index, divisor: int) -> int:
    """The largest factor f of the divisor such that base = f * q + r with 0 <= r < f, reading q and r off the terms."""
    for factor in sorted({gcd(count, divisor) for _, count in base.terms} | {divisor}, reverse=True):
        rest = Index(tuple((a, c) for a, c in base.terms if c % factor), base.constant % factor)
        low, high = rest.bounds()
        if low >= 0 and high < factor:
            return factor
    return 1


def _split_remainder(base: Index, divisor: int, modulus: int) -> tuple[Index, Index, int]:
    """For `base % modulus`: base = f * q + r with 0 <= r < f gives `r + f * (q % (modulus / f))`."""
    factor = common_factor(base, modulus) if divisor == 1 and modulus else 1
    if factor == 1:
        return ZERO, base, 1
    remainder = Index(tuple((a, c) for a, c in base.terms if c % factor), base.constant % factor)
    quotient = Index(tuple((a, c // factor) for a, c in base.terms if c % factor == 0), base.constant // factor)
    return remainder, quotient, factor


def _digit_of_digit(base: Index, divisor: int, modulus: int) -> Index:
    """A digit of a digit is a digit; otherwise make the atom."""
    if divisor == 1 and not modulus:
        return base
    if modulus == 1:
        return ZERO
    if base.is_atom and isinstance(base.terms[0][0], Digit):
        inner = base.terms[0][0]
        if not inner.modulus:
            return digit(inner.base, inner.divisor * divisor, modulus)
        if inner.modulus % divisor == 0:
            left = inner.modulus // divisor
            if not modulus or left % modulus == 0:
                return digit(inner.base, inner.divisor * divisor, min(left, modulus) if modulus else left)
    return Index(((Digit(base, divisor, modulus), 1),), 0)


# ------------------------------------------------------------------------------------------------ sizes and strides


def flatten(position: Sequence[Index], sizes: Sequence[int]) -> Index:
    """The row-major number of a position.

    >>> flatten([symbol("i", 2), symbol("j", 3)], [2, 3])
    3*i + j
    """
    total = ZERO
    for part, size in zip(position, sizes):
        total = total * size + part
    return total


def unflatten(flat: Index, sizes: Sequence[int]) -> tuple[Index, ...]:
    """The position that a row-major number stands for.

    >>> unflatten(symbol("f", 6), [2, 3])
    (f // 3, f % 3)
    """
    position: list[Index] = []
    step = 1
    for size in reversed(sizes):
        position.append(digit(flat, step, size) if size != 1 else ZERO)
        step *= size
    return tuple(reversed(position))


def strided(position: Sequence[Index], strides: Sequence[int], offset: int = 0) -> Index:
    """The address of a position in a strided tensor."""
    return _sum([(stride, part) for part, stride in zip(position, strides)], offset)
