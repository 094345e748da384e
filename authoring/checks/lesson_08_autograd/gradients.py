"""Exercise 08.1: what .grad holds at the end of a small program."""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise

from ..predicting import judge_predictions

GRADIENTS = Exercise(
    "08.1",
    "what is in .grad: predict",
    answer="gradients",
    minutes=10,
    hints=(
        "backward() without an argument starts with slope 1, so it needs a single number to start from.",
        "Leaves collect: slopes are added to .grad. Everything that isn't a leaf passes on and keeps nothing.",
        "For the in-place ones ask which values the formulas need. exp needs its output. An addition needs nothing.",
    ),
)
SECTION = "What can go wrong"
EXPLAINED = {
    "(x * x).sum().backward()": "What is the slope of x squared?",
    "(x * x).sum().backward(); (x * x).sum().backward()": "Slopes are added to what is there: two walks, twice"
    " the slope.",
    "(x * x.detach()).sum().backward()": "The detached factor is a constant to the tape, so only the other one counts.",
    "(x * x).backward()": "backward() starts from a single number; from two, it would have to know how to weigh them.",
    "y = (x * x).sum(); y.backward(); y.backward()": (
        "The tape is spent when it has been walked: what it kept is freed. retain_graph=True keeps it."
    ),
    "y = x.exp(); y.mul_(2); y.sum().backward()": "exp had kept its output for the walk back, and it was overwritten.",
    "y = x + 1; y.mul_(2); y.sum().backward()": "Adding keeps nothing, so its output may be overwritten.",
    "y = x * 3; y.sum().backward(); x = y": "The name x now stands for y, which is no leaf: it passed its slope on.",
}


def what_happens(program: str) -> Any:
    names: dict[str, Any] = {"torch": torch, "x": torch.tensor([1.0, 2.0], requires_grad=True)}
    try:
        exec(program, names)
    except RuntimeError:
        return "raises"
    grad = names["x"].grad
    return None if grad is None else grad.tolist()


def judge(answer: Any, programs: list[str]) -> None:
    judge_predictions(answer, programs, what_happens, lambda program, predicted: EXPLAINED[program])


PROGRAMS = list(EXPLAINED)


@GRADIENTS.case("leaves, constants, and single numbers", points=2, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, PROGRAMS[:4])


@GRADIENTS.case("a spent tape, overwritten values, and what is no leaf", points=2, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, PROGRAMS[4:])
