"""Exercise 01.3: an is_contiguous that is wrong about sizes of 1 and 0."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, Misconception, agree
from minitorch_compile.tensor.memory import strides as package

from .layouts import Ints, row_major

CONTIGUITY = Exercise(
    "01.3",
    "find the bug: is_contiguous",
    answer="is_contiguous",
    minutes=10,
    place="tensor.is_contiguous",
    hints=(
        "Print step, size and stride in the loop for sizes (4, 1), strides (1, 4). Which comparison is the unfair one?",
        "A dimension of size 1 has a single index, 0. How often is its stride ever used?",
        "Compare the stride only if the size isn't 1; and a tensor with a 0 among its sizes has no elements to be "
        "out of order.",
    ),
)


def strict_strides(sizes: Ints, strides: Ints) -> bool:
    return strides == row_major(sizes)


def gives_up_at_one(sizes: Ints, strides: Ints) -> bool:
    """True as soon as a size-1 dimension is met from the right."""
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            return True
        if stride != step:
            return False
        step *= size
    return True


CONTIGUITY_MISTAKES = (
    Misconception(
        "The cells have no gaps, but they are not in row-major order: reading row by row jumps back and forth. "
        "Contiguous means dense and in order.",
        package.is_dense,
    ),
    Misconception(
        "You let a size of 1 excuse the whole tensor. It excuses its own stride only; the other dimensions still "
        "count.",
        lambda sizes, strides: 1 in sizes or strict_strides(sizes, strides),
    ),
    Misconception(
        "You stopped at the first dimension of size 1. Skip it, and go on with the dimensions to its left.",
        gives_up_at_one,
    ),
    Misconception(
        "Equal to the strides of a new tensor is too much to ask: the stride of a size-1 dimension is never used, "
        "so any value is right.",
        strict_strides,
    ),
)


def layouts(sizes_allowed: tuple[int, ...]) -> list[tuple[Ints, Ints]]:
    """Small sizes with the strides of a new tensor, of its transpose, and of a view with gaps; the smallest first."""
    found = []
    for ndim in (1, 2, 3):
        for sizes in itertools.product(sizes_allowed, repeat=ndim):
            fresh = row_major(sizes)
            turned = tuple(reversed(row_major(tuple(reversed(sizes)))))
            found += [(sizes, fresh), (sizes, turned), (sizes, tuple(2 * stride for stride in fresh))]
    return list(dict.fromkeys(found))


@CONTIGUITY.case("what was right stays right", points=0, section="When strides run out")
def _(answer: Callable[..., Any]) -> None:
    agree(answer, package.is_contiguous, layouts((2, 3)), CONTIGUITY_MISTAKES)


@CONTIGUITY.case(
    "the stride of a size-1 dimension doesn't matter, the others do", points=2, section="When strides run out"
)
def _(answer: Callable[..., Any]) -> None:
    agree(answer, package.is_contiguous, layouts((1, 2, 3)), CONTIGUITY_MISTAKES)


@CONTIGUITY.case("a tensor without elements is contiguous", points=1, section="When strides run out")
def _(answer: Callable[..., Any]) -> None:
    empty = [(sizes, strides) for sizes, strides in layouts((0, 1, 2)) if 0 in sizes]
    nothing = "With a size of 0 there is no element, so none is out of place, whatever the strides say."
    agree(answer, package.is_contiguous, empty, why=nothing)
