"""Exercise 13.2: the rule of the index algebra that takes a common factor out of a division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, Misconception, WrongAnswer, agree
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.inductor.ir.index import Index, flatten, symbol, unflatten

COMMON_FACTOR = Exercise(
    "13.2",
    "a rule for divisions",
    answer="common_factor",
    minutes=15,
    place="inductor.common_factor",
    hints=(
        "Try the factors of the divisor, the largest first. What has to be true of the terms that it does not divide?",
        "Those terms, and the constant modulo the factor, are the rest. Its bounds() must lie within 0 .. factor - 1.",
        "rest = Index(tuple((atom, n) for atom, n in base.terms if n % factor), base.constant % factor)",
    ),
)
SECTION = "Index arithmetic"
I, J, K = symbol("i", 8), symbol("j", 4), symbol("k", 3)


def factors(divisor: int) -> list[int]:
    return [factor for factor in range(divisor, 0, -1) if divisor % factor == 0]


def rest_of(base: Index, factor: int, constant: bool = True) -> Index:
    return Index(tuple((a, n) for a, n in base.terms if n % factor), base.constant % factor if constant else 0)


def fits(rest: Index, factor: int) -> bool:
    low, high = rest.bounds()
    return low >= 0 and high < factor


def truth(base: Index, divisor: int) -> int:
    return next((factor for factor in factors(divisor) if fits(rest_of(base, factor), factor)), 1)


def divides_all(base: Index, divisor: int) -> int:
    numbers = [*(count for _, count in base.terms), base.constant]
    return next(factor for factor in factors(divisor) if all(n % factor == 0 for n in numbers))


def smallest(base: Index, divisor: int) -> int:
    found = [f for f in reversed(factors(divisor)) if f > 1 and fits(rest_of(base, f), f)]
    return found[0] if found else 1


def without_constant(base: Index, divisor: int) -> int:
    return next((f for f in factors(divisor) if fits(rest_of(base, f, constant=False), f)), 1)


def one_too_many(base: Index, divisor: int) -> int:
    tried = [(f, rest_of(base, f).bounds()) for f in factors(divisor)]
    return next((f for f, (low, high) in tried if low >= 0 and high <= f), 1)


def any_sign(base: Index, divisor: int) -> int:
    return next((f for f in factors(divisor) if rest_of(base, f).bounds()[1] < f), 1)


IDEAS = (
    Misconception("A term that is not divided may stay out, if it is too small to make up a factor.", divides_all),
    Misconception("That one is a factor, but not the largest: begin at the divisor, and go down.", smallest),
    Misconception("The constant belongs to the rest, modulo the factor. It may push the rest over.", without_constant),
    Misconception("A rest that reaches the factor itself makes up one more. It must stay below.", one_too_many),
    Misconception("A negative rest borrows one from the quotient, since division rounds down.", any_sign),
)
PLAIN = [(4 * I, 8), (4 * I + J, 8), (4 * I + J, 12), (8 * I + 2 * J, 16), (3 * I + K, 12)]
CAREFUL = [(4 * I + J + 1, 8), (4 * I + 2 * J, 8), (6 * I + 2 * K + 1, 12), (2 * I + K, 8), (4 * I + 5, 8)]
SIGNS = [(4 * I - J, 8), (8 * I - 2 * J + 6, 16), (4 * I + K + 4, 8)]


@COMMON_FACTOR.case("small rests", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    agree(answer, truth, PLAIN, IDEAS, why="i is 0 .. 7, j is 0 .. 3 and k is 0 .. 2.")


@COMMON_FACTOR.case("rests that are nearly too large", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    agree(
        answer, truth, [*PLAIN, *CAREFUL], IDEAS, why="Look at the bounds of the rest: i is 0 .. 7, j 0 .. 3, k 0 .. 2."
    )


@COMMON_FACTOR.case("terms that are subtracted", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    agree(answer, truth, [*PLAIN, *CAREFUL, *SIGNS], IDEAS, why="Both bounds of the rest matter.")


@COMMON_FACTOR.case("in the running package", points=1, section="The package's own")
def _(answer: Callable[..., Any]) -> None:
    agree(answer, truth, PLAIN[:2], IDEAS)
    x = torch.arange(32.0).reshape(8, 4)
    with splice("inductor.common_factor", answer):
        row, column = unflatten(flatten((I, J), (8, 4)), (4, 8))
        got = torch.compile(lambda x: x.reshape(4, 8).t().reshape(16, 2) + 1, backend="loops")(x)
    if str(row) != "i // 2":
        raise WrongAnswer(f"the row of 4*i + j, read in rows of 8: expected i // 2, got {row}", "Return the factor.")
    if not torch.equal(got, x.reshape(4, 8).t().reshape(16, 2) + 1):
        raise WrongAnswer("x.reshape(4, 8).t().reshape(16, 2) + 1 gives other numbers", "Every digit asks for it.")
