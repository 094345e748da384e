"""Step 05.11: a size that answers for all batches, or requires what it has said."""

from __future__ import annotations

import itertools
import operator
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt

OWN_SIZES = Step(
    "05.11",
    "a size",
    file="sizes",
    minutes=20,
    hints=(
        "terms(x) is (times, plus) of both kinds of numbers. EXACT[name](*terms(x), *terms(y)) is a pair of such, or"
        " None.",
        "None: then the numbers of now are calculated with, and operator.index(size) gives them; it says so in a"
        " guard. A pair whose factor is 0 is a plain number.",
        "compare: left = self - other is compared with 0. times * s0 + plus grows or falls all the way: if at 2 it is"
        " already on the side to which it goes, the answer is known. Else it is asked now, and required.",
    ),
)
SECTION = "A size as a formula"
ARITHMETIC = ("add", "sub", "mul", "floordiv", "mod")
ORDER = ("lt", "le", "eq", "ne", "gt", "ge")
FORMULAS = ((1, 0), (64, 0), (-1, 10), (2, 1))


def size_of(mini: Any, now: int, times: int = 1, plus: int = 0) -> tuple[Any, list[Any]]:
    """A size, and what is required of the batch because of it."""
    required: list[Any] = []
    return mini.sizes.Size(mini.sizes.Batch(now, lambda text, holds: required.append(holds)), times, plus), required


def judge(mini: Any, name: str, now: int, formula: tuple[int, int], other: int) -> None:
    size, required = size_of(mini, now, *formula)
    function = getattr(operator, name)
    got, what = function(size, other), f"{name} of {size!r} and {other}, while s0 is {now}"
    if not all(holds(now) for holds in required):
        raise WrongAnswer(what, "What is required does not hold of the number as it is now.")
    for s0 in (2, 3, 7, 30):
        if not all(holds(s0) for holds in required):
            continue
        expected = function(formula[0] * s0 + formula[1], other)
        if mini.sizes.at(got, s0) != expected:
            why = "What was said must be right for each batch of which holds what was required."
            if name in ORDER:
                why = "A formula may fall as s0 grows: its answer is known only if it is on that side at 2 already."
                if 2 * formula[0] + formula[1] == other:
                    why = "Exactly 0 at 2 is on neither side: ask with the number of now, and require the answer."
            raise WrongAnswer(f"{what}, gave {got!r}: for s0 = {s0} it is {expected}", why)


@OWN_SIZES.case("what is said is right", points=2, section=SECTION)
def _(mini: Any) -> None:
    for name, now, formula, other in itertools.product(ARITHMETIC + ORDER, (2, 7), FORMULAS, (1, 2, 7, 64)):
        judge(mini, name, now, formula, other)


@OWN_SIZES.case("what is known requires nothing", points=2, section=SECTION)
def _(mini: Any) -> None:
    size, required = size_of(mini, 7)
    known = {
        "size > 1": (size > 1, True),
        "size == 0": (size == 0, False),
        "64 * size != 1": (64 * size != 1, True),
        "size == size * 2": (size == size * 2, False),
        "64 * size // size": (64 * size // size, 64),
        "size - size": (size - size, 0),
    }
    for text, (got, expected) in known.items():
        if type(got) is not type(expected) or got != expected:
            raise WrongAnswer(f"{text} gave {got!r}", "What does not depend on the batch is a plain number, or bool.")
    if required:
        raise WrongAnswer(f"{', '.join(known)} required something", "They are so for each batch from 2 on.")


@OWN_SIZES.case("what is not known is required, and no more", points=2, section=SECTION)
def _(mini: Any) -> None:
    size, required = size_of(mini, 7)
    answers = size < 10, size != 64
    seven = size_of(mini, 7)[0]
    if (got := attempt(seven.calculate, "add", seven, "a")) is not NotImplemented:
        raise WrongAnswer(f's0 + "a": {got!r}', "What is no number is Python's to refuse: give NotImplemented.")
    half, halved = size_of(mini, 7)
    for text, got, expected in (("size * 0.5", half * 0.5, 3.5), ("2.0 - size", 2.0 - half, -5.0)):
        if type(got) is not float or got != expected:
            why = (
                "A formula has whole numbers. With a float the number of now is calculated with: index(size), a guard."
            )
            raise WrongAnswer(f"s0 is 7: {text} gave {got!r} of {type(got).__name__}, expected {expected}", why)
    if all(holds(3) for holds in halved):
        raise WrongAnswer(
            "s0 was 7, size * 0.5 is 3.5, and 3 is let in", "The number was asked for: s0 == 7 is a guard."
        )
    if answers != (True, True) or not all(holds(3) for holds in required):
        what = f"s0 is 7: s0 < 10 and s0 != 64 are {answers}, and what was required does not hold of 3"
        raise WrongAnswer(what, "The same answers must come again: of 3 they do.")
    if all(holds(12) for holds in required) or all(holds(64) for holds in required):
        raise WrongAnswer("s0 was 7, s0 < 10 was asked, and 12 is let in", "Its answer is another one then.")
    size, required = size_of(mini, 7, 2, 1)
    if operator.index(size) != 15 or not required or any(all(h(n) for h in required) for n in (2, 8)):
        raise WrongAnswer("2*s0 + 1 as an index, s0 = 7", "It is 15, and s0 must be 7 from now on: require it.")
    size, required = size_of(mini, 7)
    if size / 2 != 3.5 or not required:
        raise WrongAnswer("s0 / 2, s0 = 7", "This is no formula: it is 3.5, and s0 must stay 7.")
    if (size == "seven") or (size == None):  # noqa: E711
        raise WrongAnswer('s0 == "seven"', "With what is no number give NotImplemented: Python knows the rest.")
