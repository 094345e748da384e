"""Lesson 13a. Arithmetic on loop variables, simplified as it is written: where an element lies is such a formula.

>>> i, j = Index.variable("i", 4), Index.variable("j", 8)
>>> flat = i * 8 + j
>>> flat // 8, flat % 8, flat // 2 % 4, (i + j) % 3
(i, j, j // 2, (i + j) % 3)
>>> flat // 3 * 3 + flat % 3
i * 8 + j
"""


class Formula:
    """What reads the same is the same."""

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def inside(self):
        """Its text as a part of another one."""
        return f"({self})" if " " in str(self) else str(self)


# %% 13.3 atoms, and sums of them
class Atom(Formula):
    """A variable (its name, and how many values it takes), or a formula's quotient or remainder by n."""

    def __init__(self, op, of, n):
        self.op, self.of, self.n = op, of, n
        self.text = f"{of.inside()} {op} {n}" if op else of

    def __repr__(self):
        return self.text

    def bounds(self):
        """Its least and its greatest value."""
        return (0, self.n - 1) if self.op != "//" else tuple(end // self.n for end in self.of.bounds())


class Index(Formula):
    """A sum of atoms, each a whole number of times, and a number: i * 8 + j // 2 + 3. It never changes."""

    def __init__(self, terms=(), constant=0):
        counted = [(atom, count) for atom, count in dict(terms).items() if count != 0]
        self.terms, self.constant = tuple(sorted(counted, key=lambda term: str(term[0]))), constant

    @staticmethod
    def variable(name, size):
        return Index({Atom("", name, size): 1})

    @staticmethod
    def of(value):
        return value if isinstance(value, Index) else Index((), value)

    def bounds(self):
        """No value is less than the first number, and none is greater than the second."""
        ends = [[count * end for end in atom.bounds()] for atom, count in self.terms]
        return self.constant + sum(min(pair) for pair in ends), self.constant + sum(max(pair) for pair in ends)

    # %% 13.4 sums and products
    def __add__(self, other):
        other, terms = Index.of(other), dict(self.terms)
        for atom, count in other.terms:
            terms[atom] = terms.get(atom, 0) + count
        return Index(terms, self.constant + other.constant).rejoined()

    def __mul__(self, n):
        return Index({atom: count * n for atom, count in self.terms}, self.constant * n)

    def __sub__(self, other):
        return self + Index.of(other) * -1

    __radd__, __rmul__ = __add__, __mul__

    def rejoined(self):
        """e // n * n + e % n is e."""
        for rest, count in self.terms:
            if rest.op == "%":
                quotient = Atom("//", rest.of, rest.n)
                if (quotient, count * rest.n) in self.terms:
                    others = {atom: m for atom, m in self.terms if atom not in (quotient, rest)}
                    return Index(others, self.constant) + rest.of * count
        return self

    # %% 13.5 quotients and remainders
    def parts(self, n):
        """(a, b) with self = a * n + b: what n divides goes into a."""
        whole = Index({atom: count // n for atom, count in self.terms if count % n == 0}, self.constant // n)
        return whole, Index({atom: count for atom, count in self.terms if count % n}, self.constant % n)

    def within(self, n):
        """Whether it is one of 0 .. n - 1, whatever the variables are."""
        low, high = self.bounds()
        return 0 <= low and high < n

    def __floordiv__(self, n):
        whole, rest = self.parts(n)
        return whole if rest.within(n) else whole + Index({Atom("//", rest, n): 1})

    def __mod__(self, n):
        _, rest = self.parts(n)
        return rest if rest.within(n) else Index({Atom("%", rest, n): 1})

    # whether there are no quotients and remainders: a machine counts such an index up, without a division
    is_affine = property(lambda self: not any(atom.op for atom, _ in self.terms))

    # %% given
    def __repr__(self):
        parts = [str(atom) if count == 1 else f"{atom.inside()} * {count}" for atom, count in self.terms]
        return " + ".join(parts + [str(self.constant)] * (self.constant != 0 or not parts))


# %% 13.6 positions, and back
def flatten(index, sizes):
    """The position of an element when all are counted through, row by row."""
    flat = Index()
    for i, size in zip(index, sizes, strict=True):
        flat = flat * size + i
    return flat


def split(flat, sizes):
    """The other way round: the index of the element at a position."""
    index = []
    for size in reversed(sizes[1:]):
        index.append(flat % size if size else flat)  # with a size of 0 there is no element to ask for
        flat = flat // max(size, 1)
    return (flat, *reversed(index))[: len(sizes)]  # what is left is in the first dimension


# %% given
def variables(letter, sizes):
    """i0, i1, ...: one for each dimension; where the size is 1 it would always be 0."""
    return tuple(Index() if n == 1 else Index.variable(f"{letter}{d}", n) for d, n in enumerate(sizes))
