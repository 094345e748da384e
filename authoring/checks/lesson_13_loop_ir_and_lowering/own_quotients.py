"""Exercise 13.5: quotients and remainders, simplified by bounds."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .index_values import becomes, same_values, variables

OWN_QUOTIENTS = Step(
    "13.5",
    "quotients and remainders",
    file="index",
    minutes=20,
    hints=(
        "(i * 8 + j) // 8: what 8 divides can be divided at once, i * 8 gives i. What is left, j, is below 8, so "
        "its quotient is"
        " 0.",
        "parts(n): a term whose count n divides goes into a with count // n, the others into b as they are; of the "
        "constant"
        " constant // n goes into a and constant % n into b.",
        "a // n: a if b.within(n), else a + Index({Atom('//', b, n): 1}). The remainder: b if b.within(n), else"
        " Index({Atom('%', b, n): 1}).",
    ),
)
SECTION = "Index arithmetic"


@OWN_QUOTIENTS.case("they are Python's", points=2, section=SECTION)
def _(mini: Any) -> None:
    i, j, k = variables(mini)
    values = "It has to be worth what Python's // and % give, for all values of the variables."
    constant = "The constant is divided, too: constant // n belongs to the whole part, constant % n to the rest."
    for n in (2, 3, 4, 8):
        for formula, meaning, said, why in (
            (i, lambda i, j, k: i, "i", values),
            (i * 8 + j, lambda i, j, k: i * 8 + j, "(i * 8 + j)", values),
            (i * 4 + j + k, lambda i, j, k: i * 4 + j + k, "(i * 4 + j + k)", values),
            (i + 5, lambda i, j, k: i + 5, "(i + 5)", constant),
            (i * 8 + 9, lambda i, j, k: i * 8 + 9, "(i * 8 + 9)", constant),
            (i - 3, lambda i, j, k: i - 3, "(i - 3)", constant),
            (j * -1 + 2, lambda i, j, k: 2 - j, "(2 - j)", "Python rounds down, also below 0."),
        ):
            same_values(formula // n, lambda m=meaning, n=n, **at: m(**at) // n, f"{said} // {n}", why)
            same_values(formula % n, lambda m=meaning, n=n, **at: m(**at) % n, f"{said} % {n}", why)


@OWN_QUOTIENTS.case("what n divides needs no division", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    flat, constant = (
        i * 8 + j,
        "The constant is divided, too: constant // n belongs to the whole part, constant % n to the rest.",
    )
    divided = "8 divides i * 8, which gives i; and j is below 8, so nothing of it is left: use bounds."
    becomes(flat // 8, "i", "(i * 8 + j) // 8, j < 8", divided)
    becomes(flat % 8, "j", "(i * 8 + j) % 8, j < 8", "i * 8 leaves no remainder, and j is below 8.")
    becomes(flat // 4, "i * 2 + j // 4", "(i * 8 + j) // 4", "4 divides i * 8, and not j: only j needs a division.")
    rest = "What 8 divides is gone from the remainder, and from what is divided: the atom is of the rest, b."
    becomes((flat + j * 2) % 8, "(j * 3) % 8", "(i * 8 + j * 3) % 8", rest)
    becomes(mini.index.Index.of(17) // 5, "3", "17 // 5", constant)


@OWN_QUOTIENTS.case("without a division, or with one", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    for formula, expected in ((i * 8 + j, True), ((i * 8 + j) // 3, False), (i + (j % 3) * 2, False), (i * 0, True)):
        if formula.is_affine is not expected:
            raise WrongAnswer(
                f"({formula}).is_affine: expected {expected}, got {formula.is_affine!r}", "A variable's op is empty."
            )
