"""Exercise 13.4: sums and products of formulas."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.step import Step

from .index_values import becomes, same_values, variables

OWN_SUMS = Step(
    "13.4",
    "sums and products",
    file="index",
    minutes=20,
    hints=(
        "Sum: begin with dict(self.terms), and add each of the other's counts to what is there for its atom, 0 if "
        "nothing is."
        " Numbers become an Index by Index.of.",
        "rejoined: for a term (rest, count) with rest.op == '%' look for the pair (Atom('//', rest.of, rest.n), "
        "count * rest.n) in"
        " self.terms.",
        "If it is there, both go, and rest.of * count is added to what is left: e // n * n + e % n is e, and twice "
        "that is"
        " e * 2. Otherwise rejoined gives self.",
    ),
)
SECTION = "Index arithmetic"


@OWN_SUMS.case("sums", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    becomes(i + j, "i + j", "i + j", "The terms of both.")
    becomes(i + i, "i * 2", "i + i", "An atom that both have is there as often as in both together.")
    becomes(i + 3 + 4, "i + 7", "i + 3 + 4", "Constants are added, too.")
    becomes(3 + i, "i + 3", "3 + i", "Python asks i.__radd__ here, which is __add__.")
    becomes(i - j - i, "j * -1", "i - j - i", "A difference is a sum with -1 times the other.")


@OWN_SUMS.case("products with a number", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    becomes(
        (i + j * 2 + 3) * 4,
        "i * 4 + j * 8 + 12",
        "(i + j * 2 + 3) * 4",
        "The number multiplies each count, and the constant.",
    )
    becomes(2 * i, "i * 2", "2 * i", "Python asks i.__rmul__ here, which is __mul__.")
    becomes(i * 0, "0", "i * 0", "Nothing is left.")


@OWN_SUMS.case("a quotient and its remainder", points=2, section=SECTION)
def _(mini: Any) -> None:
    i, j, k = variables(mini)
    make, atom = mini.index.Index, mini.index.Atom
    e = i + j
    quotient, rest = [make({atom(op, e, 3): 1}) for op in ("//", "%")]
    becomes(
        quotient * 3 + rest,
        "i + j",
        "(i + j) // 3 * 3 + (i + j) % 3",
        "e // n * n + e % n is e: look for such pairs after adding.",
    )
    becomes(
        quotient * 3 + k + 1 + rest,
        "i + j + k + 1",
        "(i + j) // 3 * 3 + k + 1 + (i + j) % 3",
        "What else is in the sum stays.",
    )
    why = "The pair may be there several times: the quotient count * n times, the remainder count times."
    becomes(quotient * 6 + rest * 2, "i * 2 + j * 2", "(i + j) // 3 * 6 + (i + j) % 3 * 2", why)
    halves = "A quotient by 2 and a remainder by 3 are no pair: both must be by the same n."
    mixed = make({atom("//", e, 2): 3}) + rest
    same_values(mixed, lambda i, j, k: (i + j) // 2 * 3 + (i + j) % 3, "(i + j) // 2 * 3 + (i + j) % 3", halves)
    other = quotient * 4 + rest
    pair = "Four times the quotient and the remainder are no pair: the quotient has to be there 3 times as often."
    same_values(other, lambda i, j, k: (i + j) // 3 * 4 + (i + j) % 3, "(i + j) // 3 * 4 + (i + j) % 3", pair)
