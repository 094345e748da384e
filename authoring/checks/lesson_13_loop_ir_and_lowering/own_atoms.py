"""Exercise 13.3: atoms, and sums of them with bounds."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .index_values import becomes, variables

OWN_ATOMS = Step(
    "13.3",
    "atoms, and sums of them",
    file="index",
    minutes=20,
    hints=(
        "An Index has terms, a tuple of pairs (atom, count), and a constant. dict(terms) takes a dictionary as well "
        "as pairs.",
        "Leave out the pairs whose count is 0, and sort by str(atom): then equal sums have equal texts, and texts "
        "are compared.",
        "bounds: for each pair the two products of count and an end of atom.bounds(). Add up the lesser ones, and "
        "the greater"
        " ones, each with the constant. An atom's own are 0 and n - 1; a quotient's are its formula's bounds // n.",
    ),
)
SECTION = "Index arithmetic"


@OWN_ATOMS.case("a sum is kept in one form", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    (a, _), (b, _) = i.terms[0], j.terms[0]
    make = mini.index.Index
    if not isinstance(make.of(7), make):
        raise WrongAnswer(f"Index.of(7) gave {make.of(7)!r}", "A number becomes an Index: one without terms.")
    becomes(make.of(7), "7", "Index.of(7)", "A number is a sum without terms.")
    if make.of(i) is not i:
        raise WrongAnswer(
            f"Index.of(i): expected i itself, got {make.of(i)!r}", "What is an Index already stays what it is."
        )
    becomes(
        make({a: 0, b: 2}, 5),
        "j * 2 + 5",
        "Index({i: 0, j: 2}, 5)",
        "What is there 0 times is not there: leave it out.",
    )
    becomes(
        make({b: 2, a: 1}),
        "i + j * 2",
        "Index({j: 2, i: 1})",
        "Sort the terms: j + i and i + j are equal, and read alike.",
    )


@OWN_ATOMS.case("an atom reads as Python", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    make = mini.index.Atom
    becomes(make("//", i, 3), "i // 3", 'Atom("//", i, 3)', "The text is the formula, the operator and n.")
    why = "i + j // 3 means another thing: what is a sum stands in brackets (inside())."
    becomes(make("//", i + j, 3), "(i + j) // 3", 'Atom("//", i + j, 3)', why)
    becomes(make("", "i", 4), "i", 'Atom("", "i", 4)', "A variable reads as its name.")


@OWN_ATOMS.case("bounds", points=2, section=SECTION)
def _(mini: Any) -> None:
    i, j, k = variables(mini)
    (a, _), (b, _) = i.terms[0], j.terms[0]
    make, atom = mini.index.Index, mini.index.Atom

    def bounded(formula: Any, expected: tuple[int, int], said: str, why: str) -> None:
        if tuple(formula.bounds()) != expected:
            raise WrongAnswer(f"bounds of {said}: expected {expected}, got {tuple(formula.bounds())}", why)

    bounded(i, (0, 3), "i < 4", "A variable of 4 values goes from 0 to 3.")
    bounded(
        make({a: 2, b: 1}, 5),
        (5, 18),
        "i * 2 + j + 5, i < 4 and j < 8",
        "Each atom at its least, or greatest; and the constant.",
    )
    bounded(
        make({a: -2, b: 1}),
        (-6, 7),
        "i * -2 + j, i < 4 and j < 8",
        "A count below 0 turns the bounds of its term round.",
    )
    bounded(
        make({atom("//", j, 3): 1}), (0, 2), "j // 3, j < 8", "A quotient's bounds are those of its formula, divided."
    )
    below = "Both bounds are divided, and rounded down: what may be below 0 stays below."
    bounded(make({atom("//", make({a: 1}, -2), 3): 1}), (-1, 0), "(i - 2) // 3, i < 4", below)
    bounded(make({atom("%", i + k, 3): 1}), (0, 2), "(i + k) % 3", "A remainder by n is one of 0 .. n - 1.")
