"""Exercise 18.1: how many graphs and steps become of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.on_mini import OnMini, mini

from ..predicting import judge_predictions

STEPS_TO_PREDICT = OnMini(
    "18.1",
    "graphs and steps: predict",
    answer="predicted",
    minutes=10,
    hints=(
        "A graph ends where Python needs a number out of a tensor. A step is a product, or a kernel.",
        "A kernel becomes the epilogue of a product if each of its rows reads only the product's same row.",
        "Loops share a kernel if they run over the same rows. softmax(0) has a row for each column of x.",
    ),
    seconds=60,
    megabytes=2048,
)
SECTION = "On the way down"
PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "(x * 2 + 1).tanh()": (
        lambda x, w: (x * 2 + 1).tanh(),
        "Three calls on the same elements. Must any of them be complete before the next begins?",
    ),
    "x.softmax(0) + x.softmax(1)": (
        lambda x, w: x.softmax(0) + x.softmax(1),
        "The one softmax is by columns, the other by rows. Their sums can share a kernel, since both have 4 rows of"
        " 4; what is added up at the end reads all of them.",
    ),
    "(x @ w + 1).relu()": (
        lambda x, w: (x @ w + 1).relu(),
        "What follows the product works on it element by element: that's an epilogue, and no step of its own.",
    ),
    "(x @ w).sum(0)": (
        lambda x, w: (x @ w).sum(0),
        "A sum down the columns needs all rows of the product, so it waits until the last is there.",
    ),
    "(x @ w) @ x": (
        lambda x, w: (x @ w) @ x,
        "A product is a call of BLAS. Nobody fuses two of them.",
    ),
    "x * x.sum().item()": (
        lambda x, w: x * x.sum().item(),
        "item() needs the number. The sum is a graph, and what uses the number is another.",
    ),
}


def truth(program: Callable[[Any, Any], Any]) -> tuple[int, int]:
    """(graphs, steps) on the stack that is there."""
    programs: list[Any] = []

    def backend(graph: Any) -> Any:
        programs.append(mini.program.Program(graph))
        return programs[-1]

    region = mini.breaks.Region(program, backend)
    region(*[mini.tensor.from_numpy(np.linspace(0, 1, 16, dtype=np.float32).reshape(4, 4)) for _ in range(2)])
    return len(region.entries()), sum(len(each.steps) for each in programs)


def judge(answer: Any, texts: list[str]) -> None:
    judge_predictions(answer, texts, lambda text: truth(PROGRAMS[text][0]), lambda text, predicted: PROGRAMS[text][1])


@STEPS_TO_PREDICT.case("loops", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, list(PROGRAMS)[:2])


@STEPS_TO_PREDICT.case("products", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, list(PROGRAMS)[2:5])


@STEPS_TO_PREDICT.case("a number that Python needs", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, list(PROGRAMS)[5:])
