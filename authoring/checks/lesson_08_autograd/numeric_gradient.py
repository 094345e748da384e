"""Exercise 08.5: slopes by nudging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome

NUMERIC_GRADIENT = Exercise(
    "08.5",
    "nudging, done properly",
    answer="numeric_gradient",
    minutes=12,
    hints=(
        "Flatten a copy of x, and go through its elements with one index.",
        "For element i make two copies, one with + step and one with - step at i; the others stay as they are.",
        "(f(up) - f(down)) / (2 * step), collected in a list, torch.stack-ed, and reshaped to x.shape.",
    ),
)
SECTION = "How do you know that a formula is right?"
PROGRAMS: list[tuple[str, Callable[..., Any], list[Any]]] = [
    ("x squared, at 3", lambda x: (x * x).sum(), [3.0]),
    ("the sum of cubes", lambda x: (x**3).sum(), [1.0, -2.0]),
    ("a product of sines", lambda x: x.sin().prod(), [0.5, 1.0, 2.0]),
    ("a matrix", lambda x: (x @ x.T).exp().sum() * 0.1, [[0.1, 0.2, 0.3], [-0.4, 0.5, 0.6]]),
]


def judge(answer: Callable[..., Any], text: str, f: Callable[..., Any], values: Any, tolerance: float) -> None:
    x = torch.tensor(values, dtype=torch.float64)
    before = x.clone()
    got = outcome(answer, (f, x))
    leaf = before.clone().requires_grad_()
    (expected,) = torch.autograd.grad(f(leaf), leaf)
    if not isinstance(got, torch.Tensor) or got.shape != x.shape:
        raise WrongAnswer(f"{text}: expected a tensor of sizes {list(x.shape)}, got {got!r}")
    if not torch.equal(x, before):
        raise WrongAnswer(f"{text}: x was {before.tolist()}, and is {x.tolist()}", "x was changed. Nudge a copy.")
    largest = (got - expected).abs().max().item()
    if largest > tolerance:
        fact = f"{text}: expected {expected.tolist()}, got {got.tolist()}"
        raise WrongAnswer(fact, idea(got, expected, largest))


def idea(got: torch.Tensor, expected: torch.Tensor, largest: float) -> str:
    if largest < 1e-3:
        return "To one side only, the error shrinks with step. Nudge to both sides, and it shrinks with step squared."
    if torch.allclose(got, 2 * expected, rtol=1e-5):
        return "The two points are two steps apart: divide by 2 * step."
    if torch.allclose(got, expected.sum() * torch.ones(expected.shape, dtype=torch.float64), rtol=1e-5):
        return "You nudged all elements at once, and so measured the sum of all slopes. One element at a time."
    return "Take one element. By how much does f change if only this one goes up, and by how much if it goes down?"


@NUMERIC_GRADIENT.case("one number", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, *PROGRAMS[0], tolerance=1e-4)


@NUMERIC_GRADIENT.case("several numbers, and a matrix", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for program in PROGRAMS[1:]:
        judge(answer, *program, tolerance=1e-3)


@NUMERIC_GRADIENT.case("an error that shrinks with step squared", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for program in PROGRAMS:
        judge(answer, *program, tolerance=1e-7)
