"""Exercise 02.3: which dtype a result has."""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer

DTYPES = Exercise(
    "02.3",
    "which dtype: predict",
    answer="dtypes",
    minutes=8,
    hints=(
        "Three groups, from strong to weak: tensors with dimensions, tensors without, Python numbers.",
        "The strongest group decides how wide. A weaker one counts only if its category is higher: bool,"
        " integer, float.",
        "Two ops have a rule of their own: / always makes floats, and sum adds integers up in int64.",
    ),
)
SECTION = "Promotion: which type comes out"
DEFAULT = (
    "A Python float has no width of its own. When it lifts integers to floats, the width is the default dtype, float32."
)
TENSORS = {
    "i": torch.tensor([1, 2]),
    "b": torch.tensor([True, False]),
    "h": torch.ones(2, dtype=torch.float16),
    "u": torch.ones(2, dtype=torch.uint8),
    "d": torch.tensor(1.0, dtype=torch.float64),
}
EXPLAINED: dict[str, dict[str, str]] = {
    "i + 1": {"int32": "A Python int is weak: the tensor's own width stays."},
    "i + 1.5": {"float64": DEFAULT, "int64": "Integers can't hold 1.5: the category rises to float."},
    "i / 2": {"int64": "True division makes floats, of integers too; // is the one that stays.", "float64": DEFAULT},
    "b + b": {"int64": "Both are bool, so the result is bool: + on bools is `or`. sum() is what counts them."},
    "b + 1": {"bool": "1 is an integer, and the category of integers is above bool."},
    "h * 2.5": {"float32": "A Python number never widens a tensor of its own category: half precision stays half."},
    "h * i": {
        "float32": "The float decides, and the integer has no say in how wide: float16 it stays.",
        "int64": "Floats stand above integers.",
    },
    "h * d": {"float64": "d has no dimensions, so it is weak: among floats, the tensor with dimensions decides."},
    "u * i": {"uint8": "Within a category the wider dtype wins, and both have dimensions."},
    "u.sum()": {"uint8": "Integers add up in int64, or 300 ones would make 44."},
    "i > 1.5": {"float32": "They are compared as floats, but the answers are yes and no: bool."},
}


def judge_dtypes(answer: Any, expressions: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"dtypes: expected a dict of the expressions, got {type(answer).__name__}")
    for expression in expressions:
        predicted = answer.get(expression, ...)
        if predicted is ...:
            raise NotWritten(f"{expression} is still `...`")
        happens = str(eval(expression, dict(TENSORS)).dtype).removeprefix("torch.")
        if str(predicted).removeprefix("torch.") != happens:
            general = "Which group is the strongest here, and does a weaker one have a higher category?"
            why = EXPLAINED[expression].get(str(predicted), general)
            raise WrongAnswer(f"{expression}: you predicted {predicted!r}, it is {happens!r}", why)


@DTYPES.case("tensors and Python numbers", points=2, section=SECTION)
def _(answer: Any) -> None:
    judge_dtypes(answer, ["i + 1", "i + 1.5", "b + 1", "h * 2.5"])


@DTYPES.case("two tensors", points=2, section=SECTION)
def _(answer: Any) -> None:
    judge_dtypes(answer, ["b + b", "h * i", "u * i", "h * d"])


@DTYPES.case("ops with a rule of their own", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge_dtypes(answer, ["i / 2", "u.sum()", "i > 1.5"])
