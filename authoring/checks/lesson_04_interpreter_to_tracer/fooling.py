"""Exercise 04.5: a program that stand-ins get wrong in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.fx import symbolic_trace
from minitorch_compile.tensor import Tensor

from .capturing import capture

FOOLING = Exercise(
    "04.5",
    "fool the stand-in",
    answer="fooled",
    minutes=12,
    hints=(
        "A stand-in is an object of class Proxy. What can a program ask about an object without calling its methods?",
        "What is type(x)? Is x in a list of tensors, is it None, is it an instance of torch.Tensor?",
        "The lesson has an example: isinstance(x, torch.Tensor). Make the result depend on it in your own way.",
    ),
)
SECTION = "Where running isn't enough"
INPUTS = ([1.0, 2.0, 3.0], [-1.0, 0.5, 4.0], [0.0, 0.0, 0.0])


def inputs() -> list[Tensor]:
    return [torch.tensor(numbers) for numbers in INPUTS]


def plain_runs(answer: Callable[..., Any]) -> list[Tensor]:
    """What the program itself gives; the same twice, and a tensor."""
    first, second = ([outcome(answer, (x,)) for x in inputs()] for _ in range(2))
    for numbers, a, b in zip(INPUTS, first, second, strict=True):
        if not isinstance(a, Tensor):
            fact = f"fooled(tensor({numbers})): expected a tensor, got {a!r}"
            raise WrongAnswer(fact) from getattr(a, "error", None)
        if not isinstance(b, Tensor) or a.tolist() != b.tolist():
            again = b.tolist() if isinstance(b, Tensor) else b
            fact = f"fooled(tensor({numbers})), called twice: {a.tolist()}, then {again}"
            raise WrongAnswer(fact, "A program that gives two results can't be got wrong. No dice, and no memory.")
    return first


def judge_difference(answer: Callable[..., Any]) -> None:
    expected = plain_runs(answer)
    try:
        traced = symbolic_trace(answer)
    except ValueError as error:
        why = "It is refused, loudly. That is the honest kind of failure; we want the silent kind."
        raise WrongAnswer(f"symbolic_trace(fooled): {str(error).partition('.')[0]}", why) from error
    except (TypeError, AttributeError) as error:
        why = "The stand-in can't do that, and says so. Ask it something that it can answer."
        raise WrongAnswer(f"symbolic_trace(fooled) raised {type(error).__name__}: {error}", why) from error
    got = [outcome(traced, (x,)) for x in inputs()]
    for value in got:
        if not isinstance(value, Tensor):
            why = "The graph fails when it runs, which is noticed. We want it to run, and to be wrong."
            raise WrongAnswer(f"the graph {traced.graph.compact()}: expected a tensor, got {value!r}", why)
    if all(a.shape == b.shape and a.tolist() == b.tolist() for a, b in zip(expected, got, strict=True)):
        fact = f"the graph {traced.graph.compact()} gives the same as fooled for {len(INPUTS)} tensors"
        why = "The stand-in saw all that your program does. What does a program do besides calling methods of x?"
        raise WrongAnswer(fact, why)


@FOOLING.case("the stand-in's graph gives something else", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_difference(answer)


@FOOLING.case("the interpreter's doesn't", points=1, section="Tracing by interpreting")
def _(answer: Callable[..., Any]) -> None:
    judge_difference(answer)
    for x, expected in zip(inputs(), plain_runs(answer), strict=True):
        got, _ = capture(answer, x)
        if not isinstance(got, Tensor) or got.tolist() != expected.tolist():
            why = "You fooled the interpreter, too. Please tell the authors: this must not happen."
            raise WrongAnswer(f"compiled: fooled(tensor({x.tolist()})): expected {expected.tolist()}, got {got!r}", why)
