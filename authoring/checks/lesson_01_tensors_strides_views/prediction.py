"""Exercise 01.2: which expressions give views, and with which strides."""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise

from ..predicting import judge_predictions

PREDICTION = Exercise(
    "01.2",
    "view or copy: predict",
    answer="prediction",
    minutes=8,
    hints=(
        "Draw the 12 cells of the storage, and write under them which elements the expression wants, in order.",
        "If the wanted cells can be reached by equal jumps in each dimension, it is a view; the jumps are the strides.",
        "x[1:] is rows 1 and 2: cells 4 to 11, no gap, so .reshape(8) is one dimension of stride 1. "
        "x[:, 1:] leaves out a cell in each row.",
    ),
)

COPY = "copy"
UNEVEN = "The cells lie at uneven distances, and one stride a dimension can't say that. What is left for reshape to do?"
PREDICTIONS: dict[str, dict[Any, str]] = {
    "x.t()": {
        (4, 1): "Sizes and strides both swap places. With the old strides the swapped sizes would read the rows again.",
        COPY: "Nothing moves: swapping the sizes and the strides is enough to read the same cells column by column.",
    },
    "x[1]": {
        (4, 1): "Choosing one row removes dimension 0: its size and its stride are gone; only the offset remembers it."
    },
    "x[:, 1]": {
        (1,): "These are the strides of a row. To go down a column is to pass a whole row each time.",
        COPY: "A column is a view as well: it starts at offset 1 and jumps a row at a time.",
    },
    "x[:, ::2]": {
        (4, 1): "A step of 2 takes every second cell: it multiplies that dimension's stride.",
        (
            2,
            1,
        ): "These would be the strides of a compact copy, two elements a row. The view still lives in rows of 4 cells.",
    },
    "x[:1].expand(3, 4)": {
        (
            4,
            1,
        ): "There is only one row of cells in x[:1]. To read it three times, a step along dimension 0 must not move.",
        COPY: "expand never copies. Which stride reads the same row again and again?",
    },
    "x[1:].reshape(8)": {COPY: "Rows 1 and 2 lie side by side without a gap. Does anything have to move?"},
    "x.t().reshape(12)": {(1,): UNEVEN, (4,): UNEVEN},
    "x[:, 1:].reshape(9)": {(1,): UNEVEN},
}


def layout_of(expression: str) -> Any:
    """What the package does: the strides if the result looks at x's own storage, or "copy"."""
    x = torch.arange(12).reshape(3, 4)
    result = eval(expression, {"x": x})
    return tuple(result.stride()) if result.storage is x.storage else COPY


def reason(expression: str, predicted: Any) -> str:
    known = PREDICTIONS[expression].get(predicted) if isinstance(predicted, tuple | str) else None
    return known or "Which cells does it want, in which order? Are the jumps equal?"


def judge(answer: Any, *expressions: str) -> None:
    judge_predictions(answer, expressions, layout_of, reason)


@PREDICTION.case(
    "transposing, choosing a row, a column, every second column", points=2, section="Views: arithmetic on four things"
)
def _(answer: Any) -> None:
    judge(answer, "x.t()", "x[1]", "x[:, 1]", "x[:, ::2]")


@PREDICTION.case("expanding", points=1, section="Views: arithmetic on four things")
def _(answer: Any) -> None:
    judge(answer, "x[:1].expand(3, 4)")


@PREDICTION.case("reshaping: when the jumps are even and when not", points=2, section="When strides run out")
def _(answer: Any) -> None:
    judge(answer, "x[1:].reshape(8)", "x.t().reshape(12)", "x[:, 1:].reshape(9)")
