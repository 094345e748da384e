"""Exercise 11.6: a program for which making things again costs much and saves little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.aot import JointGraph
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.measures.cutting import cheapest, joint_graph, read, size, work
from minitorch_compile.tensor import Tensor, empty_fake

LOSING = Exercise(
    "11.6",
    "where recomputation loses",
    answer="losing",
    minutes=12,
    hints=(
        "What is made again is everything between what is saved and what is read. How can that be long?",
        "Additions and products with numbers read nothing, so nobody saves anything in the midst of a row of them."
        " At its end there should be something that reads.",
        "Two values must be read, far from each other, so that one of the two can be given up: begin with x.sin(), then"
        " sixty times x = x * 1.01 in a loop, and end with exp.",
    ),
)
SECTION = "The graph as pipes"
OPERATIONS, BYTES, NUMBERS = 50, 4000, 1000


def joint_of(program: Callable[..., Any]) -> JointGraph:
    """RuntimeError and the like if it isn't differentiable."""
    return joint_graph(program, empty_fake((NUMBERS,)).requires_grad_())


def judged(answer: Callable[..., Any]) -> JointGraph:
    x = torch.linspace(0.1, 1, NUMBERS, requires_grad=True)
    try:
        y = answer(x)
        if not isinstance(y, Tensor) or not y.requires_grad:
            raise WrongAnswer(f"losing(x) gave {type(y).__name__}", "It should return a tensor computed from x.")
        return joint_of(answer)
    except (WrongAnswer, NotWritten, NotImplementedError):
        raise
    except Exception as error:
        raise WrongAnswer(f"losing(x), of {NUMBERS} numbers: {type(error).__name__}: {error}") from error


def measured(joint: JointGraph) -> tuple[int, int, str]:
    """The operations that the cheapest cut adds, the bytes that it spares, and both in words."""
    everything, least = read(joint), cheapest(joint)
    more = work(joint, least) - work(joint, everything)
    spared = sum(map(size, everything)) - sum(map(size, least))
    return more, spared, f"the cheapest cut spares {spared} bytes and makes {more} operations again"


@LOSING.case(f"at least {OPERATIONS} operations are made again", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    more, spared, fact = measured(judged(answer))
    if more >= OPERATIONS:
        return
    if spared == 0:
        why = "Nothing can be spared: what is read is as narrow as the graph is anywhere. Two values must be read, of"
        raise WrongAnswer(fact, f"{why} which one is enough.")
    raise WrongAnswer(fact, "The way from what is saved to what is read is short. What could make it longer?")


@LOSING.case(f"at most {BYTES} bytes are spared", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    more, spared, fact = measured(judged(answer))
    if more <= 0:
        raise WrongAnswer(fact, "First let something be made again.")
    if spared > BYTES:
        raise WrongAnswer(
            fact,
            "That is a bargain. Each value that is read and not saved spares memory: let few be read in the midst.",
        )
