"""Step 05.10: formulas of the batch, and their numbers at a call."""

from __future__ import annotations

import itertools
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

OWN_FORMULAS = Step(
    "05.10",
    "formulas, and their numbers at a call",
    file="sizes",
    minutes=15,
    hints=(
        "Multiply (a * s0 + b) * (c * s0 + d) out. The square of s0 has the factor a * c; what has the factor s0?",
        "What a quotient leaves is left * s0 + rest. At s0 = 2 it must be from 0 to less than the divisor; as it grows,"
        " it stays there if left is from 0 to c. 3 // (4 * s0) is 0, for s0 is 2 at least, and 64 * s0 // s0 is 64.",
        "remainder: the dividend less quotient times divisor, factor by factor. batch_of: the first pair of sizes of"
        " which the fake's is a Size; (number - size.plus) // size.times. at: go into tuples and layouts.",
    ),
)
SECTION = "A size as a formula"
BATCHES = range(2, 40)
NUMBERS = (-1, 0, 1, 3, 8, 64)


def shown(a: int, b: int) -> str:
    return f"({a} * s0 + {b})"


def judge(got: Any, what: str, values: list[int], why: str) -> None:
    """A pair (factor, number), or None, against the values for each batch."""
    if got is None:
        return
    if not isinstance(got, tuple) or len(got) != 2:
        raise WrongAnswer(f"{what} gave {got!r}", "A formula is a pair: the factor of s0, and the number; or None.")
    for s0, value in zip(BATCHES, values, strict=True):
        if got[0] * s0 + got[1] != value:
            raise WrongAnswer(f"{what} gave {got}: for s0 = {s0} that is {got[0] * s0 + got[1]}, and not {value}", why)


@OWN_FORMULAS.case("products", points=1, section=SECTION)
def _(mini: Any) -> None:
    product = mini.sizes.product
    for a, b, c, d in itertools.product(NUMBERS, repeat=4):
        got, what = product(a, b, c, d), f"product: {shown(a, b)} * {shown(c, d)}"
        values = [(a * s0 + b) * (c * s0 + d) for s0 in BATCHES]
        judge(got, what, values, "Where both have a factor, there is s0 * s0: None.")
        if got is None and not (a and c):
            raise WrongAnswer(f"{what} gave None", "Only where both have a factor there is s0 * s0.")


@OWN_FORMULAS.case("quotients and remainders", points=2, section=SECTION)
def _(mini: Any) -> None:
    quotient, remainder = mini.sizes.quotient, mini.sizes.remainder
    for a, b, c, d in itertools.product(NUMBERS, repeat=4):
        values = [(a * s0 + b, c * s0 + d) for s0 in BATCHES]
        if any(divisor == 0 for _, divisor in values):
            continue
        why = "It must be right for each s0 from 2 on, rounded down; where no formula is, None."
        what = f"{shown(a, b)} by {shown(c, d)}"
        judge(quotient(a, b, c, d), f"quotient: {what}", [x // y for x, y in values], why)
        judge(remainder(a, b, c, d), f"remainder: {what}", [x % y for x, y in values], why)
    for case, expected in {(64, 9, 0, 8): (8, 1), (64, 0, 1, 0): (0, 64), (0, 1, 1, 0): (0, 0)}.items():
        got = quotient(*case)
        if got != expected:
            what = f"quotient: {shown(*case[:2])} by {shown(*case[2:])}: expected {expected}, got {got}"
            raise WrongAnswer(what, "This one is known for all batches.")
    for case, expected in {(64, 9, 0, 8): (0, 1), (64, 0, 1, 0): (0, 0), (0, 1, 1, 0): (0, 1)}.items():
        got = remainder(*case)
        if got != expected:
            what = f"remainder: {shown(*case[:2])} by {shown(*case[2:])}: expected {expected}, got {got}"
            raise WrongAnswer(what, "Where the quotient is known, what is left is known, too.")


@OWN_FORMULAS.case("the numbers at a call", points=2, section=SECTION)
def _(mini: Any) -> None:
    size, layout = mini.sizes.Size(mini.sizes.Batch(7, lambda text, holds: None), 4, 1), mini.tensor.Layout
    fakes = [mini.tensor.fake((3, 4)), mini.tensor.fake((5, size))]
    for s0 in (2, 9):
        got = mini.sizes.batch_of(fakes, [mini.tensor.fake((3, 4)), mini.tensor.fake((5, 4 * s0 + 1))])
        if got != s0:
            why = "Where the fake has times * s0 + plus, the tensor has a number: solve for s0."
            raise WrongAnswer(f"fakes of sizes (3, 4) and (5, 4*s0 + 1), s0 = {s0}: batch_of gave {got!r}", why)
        tests = [(size, 4 * s0 + 1), ((2, (size,)), (2, (4 * s0 + 1,))), (3, 3), ("add", "add")]
        tests += [(layout((size, 2), (2, 1), 4), layout((4 * s0 + 1, 2), (2, 1), 4))]
        tests += [(layout((2, 2), (size, 1), size), layout((2, 2), (4 * s0 + 1, 1), 4 * s0 + 1))]
        for value, expected in tests:
            if mini.sizes.at(value, s0) != expected:
                what = f"at({value}, {s0}): expected {expected}, got {mini.sizes.at(value, s0)}"
                raise WrongAnswer(what, "A size is times * s0 + plus; tuples and layouts are gone into.")
    if mini.sizes.batch_of(fakes[:1], fakes[:1]) is not None or mini.sizes.at(size, None) is not size:
        raise WrongAnswer("a call without formulas", "Its batch is None; and at(value, None) is the value as it is.")
