"""What a learner predicts: a dictionary from each question to what will happen. A miss is told without the answer.

>>> reason = lambda question, predicted: "Count on your fingers."
>>> judge_predictions({"1 + 1": 2, "2 * 3": 6}, ["1 + 1", "2 * 3"], eval, reason)
>>> judge_predictions({"1 + 1": 3}, ["1 + 1"], eval, reason)
Traceback (most recent call last):
minitorch_compile.course.checking.exercise.WrongAnswer: 1 + 1: not 3. Count on your fingers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import eq
from typing import Any

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer

CONTAINERS = (tuple, list, set, frozenset, dict)
PLAIN = (bool, int, float, complex, str, bytes, type(None), range, slice)


def judge_predictions(
    answer: Any,
    questions: Iterable[str],
    happens: Callable[[str], Any],
    reason: Callable[[str, Any], str],
    alike: Callable[[Any, Any], bool] = eq,
) -> None:
    """`happens(question)` finds it out; `reason(question, predicted)` is what to think of, not the answer."""
    if not isinstance(answer, dict):
        raise WrongAnswer(f"expected a dict with the questions as they stand there, got {type(answer).__name__}")
    for question in questions:
        predicted = answer.get(question, ...)
        if predicted is ...:
            raise NotWritten(f"{question} is still `...`")
        if not (is_plain(predicted) and alike(predicted, happens(question))):
            raise WrongAnswer(f"{question}: not {predicted!r}", reason(question, predicted))


def is_plain(predicted: Any) -> bool:
    """Whether it is made of Python's own values only: another object may say that it equals everything."""
    if isinstance(predicted, tuple | list | set | frozenset | dict):
        parts = [*predicted.items()] if type(predicted) is dict else [*predicted]
        return type(predicted) in CONTAINERS and all(map(is_plain, parts))
    return type(predicted) in PLAIN
