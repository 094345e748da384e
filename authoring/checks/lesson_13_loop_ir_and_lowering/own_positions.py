"""Exercise 13.6: from an index to a position, and back."""

from __future__ import annotations

import itertools
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .index_values import variables

OWN_POSITIONS = Step(
    "13.6",
    "positions, and back",
    file="index",
    minutes=10,
    hints=(
        "Counting row by row, i of 4 and j of 8 are at i * 8 + j. With one more dimension k of 3: (i * 8 + j) * 3 + k.",
        "Back: the last index is flat % size, and flat // size is the position among the dimensions before it.",
        "split: go over reversed(sizes), append flat % size, then flat = flat // size; at the end turn the list "
        "round. A size of"
        " 0 can't be divided by: append flat itself, and divide by max(size, 1).",
    ),
)
SECTION = "Index arithmetic"
SHAPES = ((), (5,), (2, 3), (3, 1, 4), (2, 3, 4))


@OWN_POSITIONS.case("positions", points=1, section=SECTION)
def _(mini: Any) -> None:
    for sizes in SHAPES:
        for at, index in enumerate(itertools.product(*map(range, sizes))):
            got = mini.index.flatten(tuple(mini.index.Index.of(i) for i in index), sizes)
            if str(got) != str(at):
                why = "All that comes so far is multiplied by the next size, then the next index is added."
                raise WrongAnswer(f"flatten({index}, {sizes}): expected {at}, got {got}", why)

    if not isinstance(got := mini.index.flatten((), ()), mini.index.Index):
        raise WrongAnswer(f"flatten((), ()) gave {got!r}", "A position is a formula, also of the only element.")


@OWN_POSITIONS.case("and back", points=1, section=SECTION)
def _(mini: Any) -> None:
    for sizes in SHAPES:
        for at, index in enumerate(itertools.product(*map(range, sizes))):
            got = mini.index.split(mini.index.Index.of(at), sizes)
            if not isinstance(got, tuple):
                raise WrongAnswer(f"split({at}, {sizes}): expected a tuple, got {got!r}", "An index is a tuple.")
            if [str(i) for i in got] != [str(i) for i in index]:
                turned = [str(i) for i in got] == [str(i) for i in reversed(index)]
                why = (
                    ("The last index is found first: turn the list round.")
                    if turned
                    else "First the remainder, then the quotient."
                )
                raise WrongAnswer(f"split({at}, {sizes}): expected {index}, got {got}", why)


@OWN_POSITIONS.case("no division where none is needed, and no elements", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    flat = mini.index.flatten((i, j), (4, 8))
    for sizes, expected in (((4, 8), "(i, j)"), ((4, 1, 8), "(i, 0, j)"), ((4, 2, 4), "(i, j // 4, j % 4)")):
        got = mini.index.split(flat, sizes)
        if str(got) != expected:
            raise WrongAnswer(
                f"split(i * 8 + j, {sizes}): expected {expected}, got {got}", "Divide by one size after the other."
            )
    try:
        mini.index.split(i, (4, 0))
    except ZeroDivisionError:
        raise WrongAnswer(
            "split(i, (4, 0)): ZeroDivisionError",
            "There is nothing to find, but a loop over nothing is lowered, too.",
        ) from None
