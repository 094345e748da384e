"""Exercise 02.4: a promote that mixes up the strengths of its operands."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, Misconception, agree

from .dtypes import SECTION

PROMOTION = Exercise(
    "02.4",
    "find the bug: promote",
    answer="promote",
    minutes=12,
    hints=(
        "Try promote((torch.float16, 1), (torch.float64, 0)). Where does the function look at the number of"
        " dimensions?",
        "Make three groups, each with a dtype of its own: tensors with dimensions, tensors without, Python numbers.",
        "Then go from the strongest group to the weakest: take its dtype if there is none yet, or if its category is "
        "higher than that of the one you have.",
    ),
)
PYTHON = {bool: torch.bool, int: torch.int64, float: torch.float32}


def category(dtype: Any) -> int:
    return 2 if dtype.is_floating_point else 0 if dtype is torch.bool else 1


def truth(*operands: Any) -> Any:
    return _combined(_groups(operands, separate_zero_dims=True))


def _groups(operands: tuple[Any, ...], separate_zero_dims: bool) -> list[list[Any]]:
    groups: list[list[Any]] = [[], [], []]
    for operand in operands:
        if not isinstance(operand, tuple):
            groups[2].append(PYTHON[type(operand)])
        else:
            groups[1 if separate_zero_dims and operand[1] == 0 else 0].append(operand[0])
    return groups


def _widest(dtypes: list[Any]) -> Any:
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = torch.promote_types(result, dtype)
    return result


def _combined(groups: list[list[Any]]) -> Any:
    found = [_widest(group) for group in groups if group]
    result = found[0]
    for dtype in found[1:]:
        if category(dtype) > category(result):
            result = dtype
    return result


MISTAKES = (
    Misconception(
        "Python numbers and tensors are one group to you: the constant 2.5 counts like a float32 tensor. It is weaker.",
        lambda *operands: _widest([dtype for group in _groups(operands, True) for dtype in group]),
    ),
    Misconception(
        "You sorted out the Python numbers, and not the tensors without dimensions: they are weaker than those"
        " that have "
        "some.",
        lambda *operands: _combined(_groups(operands, separate_zero_dims=False)),
    ),
    Misconception(
        "You let the strongest group decide alone. A weaker group still decides the category, if its own is higher.",
        lambda *operands: _widest(next(group for group in _groups(operands, True) if group)),
    ),
)
DTYPES = (torch.float32, torch.float16, torch.float64, torch.int64, torch.uint8, torch.bool)


@PROMOTION.case("what was right stays right", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    tensors = [(dtype, 1) for dtype in DTYPES]
    agree(answer, truth, [(a, b) for a, b in itertools.product(tensors, repeat=2)], MISTAKES)


@PROMOTION.case("a number lifts the category, never the width", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    numbers = (True, 2, 2.5)
    pairs = [((dtype, 1), number) for dtype in DTYPES for number in numbers]
    agree(answer, truth, [*pairs, *((number, tensor) for tensor, number in pairs)], MISTAKES)


@PROMOTION.case("a tensor without dimensions is weak, too", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    pairs = [((a, 1), (b, 0)) for a, b in itertools.product(DTYPES, repeat=2)]
    zero = [((a, 0), (b, 0)) for a, b in itertools.product(DTYPES, repeat=2)]
    agree(answer, truth, [*pairs, *((b, a) for a, b in pairs), *zero], MISTAKES[1:])
