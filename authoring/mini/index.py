"""Lesson 13a. Arithmetic on loop variables, simplified as it is written: where an element lies is such a formula.

>>> i, j = Index.variable("i", 4), Index.variable("j", 8)
>>> flat = i * 8 + j
>>> flat // 8, flat % 8, flat // 2 % 4, (i + j) % 3
(i, j, j // 2, (i + j) % 3)
>>> flat // 3 * 3 + flat % 3
i * 8 + j
"""


class Index:
    """A sum of atoms times numbers, plus a number. An atom is a variable, a quotient or a remainder."""

    def __init__(self, terms=(), constant=0):
        terms = {atom: n for atom, n in dict(terms).items() if n != 0}
        for atom in [a for a in terms if a.op == "%"]:  # e // 8 * 8 + e % 8 is e
            quotient = Atom("//", atom.of, atom.n)
            if terms.get(quotient) == terms[atom] * atom.n:
                whole = atom.of * terms.pop(atom) + Index({a: n for a, n in terms.items() if a != quotient}, constant)
                terms, constant = dict(whole.terms), whole.constant
                break
        self.terms, self.constant = tuple(sorted(terms.items(), key=lambda term: str(term[0]))), constant

    @staticmethod
    def variable(name, size):
        return Index({Atom("", name, size): 1})

    @staticmethod
    def of(value):
        return value if isinstance(value, Index) else Index((), value)

    def bounds(self):
        """The least and the greatest value."""
        ends = [(n * a.low, n * a.high) for a, n in self.terms]
        return self.constant + sum(min(e) for e in ends), self.constant + sum(max(e) for e in ends)

    def __add__(self, other):
        other, terms = Index.of(other), dict(self.terms)
        for atom, n in other.terms:
            terms[atom] = terms.get(atom, 0) + n
        return Index(terms, self.constant + other.constant)

    def __mul__(self, n):
        return Index({atom: m * n for atom, m in self.terms}, self.constant * n)

    def __sub__(self, other):
        return self + Index.of(other) * -1

    __radd__, __rmul__ = __add__, __mul__

    def parts(self, n):
        """What n divides, divided, and the rest."""
        whole = Index({a: m // n for a, m in self.terms if m % n == 0}, self.constant // n)
        return whole, Index({a: m for a, m in self.terms if m % n}, self.constant % n)

    def __floordiv__(self, n):
        whole, rest = self.parts(n)
        low, high = rest.bounds()
        return whole + (low // n if low // n == high // n else Index({Atom("//", rest, n): 1}))

    def __mod__(self, n):
        _, rest = self.parts(n)
        low, high = rest.bounds()
        return rest - low // n * n if low // n == high // n else Index({Atom("%", rest, n): 1})

    def __str__(self):
        parts = [str(atom) if n == 1 else f"{atom.inside()} * {n}" for atom, n in self.terms]
        return " + ".join(parts + [str(self.constant)] * (self.constant != 0 or not parts))

    def inside(self):
        return f"({self})" if " " in str(self) else str(self)

    __repr__ = __str__

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class Atom:
    """A variable (its name, and how many values it takes), or a formula's quotient or remainder by n."""

    def __init__(self, op, of, n):
        self.op, self.of, self.n = op, of, n
        self.text = f"{of.inside()} {op} {n}" if op else of
        self.low, self.high = (0, n - 1) if op != "//" else [end // n for end in of.bounds()]

    def __str__(self):
        return self.text

    inside = Index.inside

    def __eq__(self, other):
        return self.text == other.text

    def __hash__(self):
        return hash(self.text)


def flatten(index, sizes):
    """The position of an element when all are counted through."""
    flat = Index()
    for i, size in zip(index, sizes, strict=True):
        flat = flat * size + i
    return flat


def split(flat, sizes):
    """The other way round."""
    index = []
    for size in reversed(sizes):
        index.append(Index() if size == 1 else flat % size if size else flat)
        flat = flat // max(size, 1)
    return tuple(reversed(index))
