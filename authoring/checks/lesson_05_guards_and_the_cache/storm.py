"""Exercise 05.2: a training loop that compiles at every step, rewritten to compile once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.far.there import there
from minitorch_compile.dynamo.eval_frame import region_of
from minitorch_compile.tensor import Tensor

STORM = Exercise(
    "05.2",
    "calm the storm",
    answer="Descent",
    minutes=12,
    hints=(
        "Which attribute changes with every call, and is looked at?",
        "Numbers inside a tensor are not guarded. What if the counter were a tensor?",
        "self.count = torch.tensor(0) in __init__, and self.count = self.count + 1 in step; rate is then a tensor.",
    ),
)
SECTION = "Storms and the limit"
STEPS = 30
LIMIT = 8
"""So many versions are made of what never holds again."""


def reference(steps: int) -> tuple[list[float], int]:
    """The plain computation: x after these steps."""
    x = [4.0, -3.0]
    for count in range(1, steps + 1):
        x = [value - 0.5 / count * value for value in x]
    return x, steps


class Watching:
    """A backend that runs graphs as they are, and counts graphs made and graphs run."""

    def __init__(self) -> None:
        self.made = self.runs = 0

    def __call__(self, module: Any, example_inputs: list[Any]) -> Callable[..., Any]:
        self.made += 1

        def run(*arguments: Any) -> Any:
            self.runs += 1
            return module(*arguments)

        return run


def descend(cls: Any, steps: int) -> tuple[Any, Tensor, int, int, list[str]]:
    """The learner's object after these steps, its x, graphs made and run, and the lines that break."""
    if not isinstance(cls, type):
        raise WrongAnswer(f"Descent: expected a class, got {cls!r}")
    try:
        found: tuple[Any, Tensor, int, int, list[str]] = descended(cls, steps)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    return found


@there
def descended(cls: Any, steps: int) -> tuple[Any, Tensor, int, int, list[str]]:
    watching = Watching()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the recompile limit: the last case speaks of it
        descent = cls()
        step = torch.compile(descent.step, backend=watching, dynamic=False)
        x = torch.tensor([4.0, -3.0])
        for _ in range(steps):
            x = step(x)
    is_compiled = hasattr(step, "_dynamo_dispatcher")  # not if its function is marked with disable()
    lines = [each.line for each in region_of(step).breaks] if is_compiled else []
    return descent, x, watching.made, watching.runs, lines


def judge_result(cls: Any, steps: int) -> None:
    descent, x, *_ = descend(cls, steps)
    expected, count = reference(steps)
    if not isinstance(x, Tensor) or not torch.allclose(x, torch.tensor(expected), rtol=1e-4):
        shown = x.tolist() if isinstance(x, Tensor) else x
        raise WrongAnswer(
            f"after {steps} steps: expected x = {[round(value, 4) for value in expected]}, got {shown!r}",
            "The rate is 0.5 / count, and count is one more at each step. Yours doesn't follow.",
        )
    if int(descent.count) != count:
        raise WrongAnswer(
            f"after {steps} steps: expected count = {count}, got {descent.count!r}",
            "Who reads `count` later, to save it with the model, say, must find the true number there.",
        )


@STORM.case("three steps give the right numbers", points=0, section=SECTION)
def _(answer: Any) -> None:
    judge_result(answer, 3)


@STORM.case("thirty steps give the right numbers", points=0, section=SECTION)
def _(answer: Any) -> None:
    judge_result(answer, STEPS)


@STORM.case("par: one graph, and all thirty steps run it", points=4, section=SECTION)
def _(answer: Any) -> None:
    _, _, made, runs, breaks = descend(answer, STEPS)
    fact = f"{STEPS} steps: {made} graphs were made, and {runs} graph runs done"
    if breaks:
        raise WrongAnswer(
            fact,
            f"The line `{breaks[0]}` takes a number out of a tensor, so the graph breaks there. Keep tensors.",
        )
    if 1 < made < LIMIT:
        raise WrongAnswer(
            fact,
            "What the first version had read was something else later: a counter, say, that begins as a Python number"
            " and becomes a tensor. Begin with what it is to stay.",
        )
    if made > 1:
        raise WrongAnswer(
            fact,
            "The counter is still a Python number that is looked at: each value of it is a version, up to the limit.",
        )
    if runs < STEPS:
        raise WrongAnswer(fact, "Some steps, or all, ran as plain Python. Leave the function compilable.")
