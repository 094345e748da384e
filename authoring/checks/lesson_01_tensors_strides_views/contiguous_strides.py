"""Exercise 01.1: the strides of a new tensor, and the package laid out by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, Misconception, WrongAnswer, agree, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.tensor.memory.strides import numel

from .layouts import Ints, row_major

CONTIGUOUS_STRIDES = Exercise(
    "01.1",
    "strides of a new tensor",
    answer="contiguous_strides",
    minutes=10,
    place="tensor.contiguous_strides",
    hints=(
        "Work from the right. The last dimension's neighbours are 1 apart. How far apart are two rows?",
        "A dimension's stride is the number of elements in everything to its right: the product of the sizes after it.",
        "step = 1; for each size from the last to the first: note step, then step *= max(size, 1). Turn the notes "
        "round.",
    ),
)


def column_major(sizes: Ints) -> Ints:
    return tuple(numel(sizes[:dim]) for dim in range(len(sizes)))


STRIDES_MISTAKES = (
    Misconception(
        "These are column-major strides: neighbours in a column lie side by side, as in Fortran. "
        "A new tensor is row-major: the last dimension is the one with stride 1.",
        column_major,
    ),
    Misconception(
        "Each stride is one size too far: a dimension's own size doesn't count, only the sizes to its right. "
        "The last dimension has nothing to its right, so its stride is 1.",
        lambda sizes: tuple(numel(sizes[dim:]) for dim in range(len(sizes))),
    ),
    Misconception(
        "You took the next size alone. To pass one block you pass everything inside it: multiply all the sizes to "
        "the right.",
        lambda sizes: (*sizes[1:], 1) if sizes else (),
    ),
    Misconception(
        "The numbers are right, in the wrong order: you built them from the last dimension and didn't turn them round.",
        lambda sizes: tuple(reversed(row_major(sizes))),
    ),
    Misconception(
        "A size of 0 made the strides before it 0. No element is ever reached, but a stride of 0 means repetition; "
        "PyTorch counts a size of 0 as 1 here.",
        lambda sizes: tuple(numel(sizes[dim + 1 :]) for dim in range(len(sizes))),
    ),
)


TO_THE_RIGHT = (
    "One stride a dimension, whether there is one or five: the number of elements in all that is to its right."
)


@CONTIGUOUS_STRIDES.case("rows lie one after the other", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    agree(answer, row_major, [((2, 2),), ((2, 3),), ((3, 2),), ((4, 1),)], STRIDES_MISTAKES, why=TO_THE_RIGHT)


@CONTIGUOUS_STRIDES.case("any number of dimensions", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    inputs = [((3,),), ((2, 2, 2),), ((2, 3, 4),), ((2, 1, 3, 5),)]
    agree(answer, row_major, inputs, STRIDES_MISTAKES, why=TO_THE_RIGHT)


@CONTIGUOUS_STRIDES.case("no dimensions, and sizes of 0", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    no_dimensions = "A 0-d tensor has one element and no dimensions, so no strides: the empty tuple."
    agree(answer, row_major, [((),)], STRIDES_MISTAKES, why=no_dimensions)
    no_elements = f"{TO_THE_RIGHT} A size of 0 counts as 1."
    agree(answer, row_major, [((2, 0),), ((2, 0, 3),), ((2, 0, 3, 4),)], STRIDES_MISTAKES, why=no_elements)


@CONTIGUOUS_STRIDES.case("spliced in, every new tensor is laid out by it", points=1, section="The package's own tensor")
def _(answer: Callable[..., Any]) -> None:
    with splice("tensor.contiguous_strides", answer):
        got = outcome(lambda: torch.zeros(2, 3, 4).stride(), ())
    if got != (12, 4, 1):
        raise WrongAnswer(
            f"torch.zeros(2, 3, 4).stride(): expected (12, 4, 1), got {got!r}",
            "The package called your function for every tensor it made. Get the three cases above to pass first.",
        )
