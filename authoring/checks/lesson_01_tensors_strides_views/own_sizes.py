"""Exercise 01.5: `mini.tensor` begins with the strides of a new tensor and the sizes that operands share."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Misconception, agree
from minitorch_compile.course.checking.step import Step

from .layouts import Ints, row_major

OWN_SIZES = Step(
    "01.5",
    "strides, and sizes that broadcast",
    file="tensor",
    minutes=12,
    hints=(
        "For the strides go through the sizes from the last to the first. For broadcasting write the shapes below each"
        " other, aligned at the right: where does dimension 0 of (4,) stand below (2, 3, 4)?",
        "Broadcasting begins with ones, as many as the longest shape has dimensions. Each shape then writes into the"
        " last len(sizes) of them.",
        "for dim, size in enumerate(sizes, len(result) - len(sizes)): where result[dim] is 1 it becomes size; otherwise"
        " size must be 1 or the same, or it is a RuntimeError.",
    ),
)
STRIDES = "Strides say how far to jump"
VIEWS = "Views: arithmetic on four things"
ERROR = "a RuntimeError"

STRIDES_MISTAKES = (
    Misconception(
        "You noted the steps from the last dimension on and did not turn them round: the first entry belongs to the"
        " first dimension.",
        lambda sizes: row_major(sizes)[::-1],
    ),
    Misconception(
        "Each stride is one size too far: note the step first, then multiply it. The last dimension has stride 1.",
        lambda sizes: tuple(int(np.prod(sizes[dim:])) for dim in range(len(sizes))),
    ),
    Misconception(
        "A size of 0 made the strides before it 0, and a stride of 0 means repetition. Count a size of 0 as 1.",
        lambda sizes: tuple(int(np.prod(sizes[dim + 1 :])) for dim in range(len(sizes))),
    ),
)


def numpys(*shapes: Ints) -> Ints | str:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return ERROR


def columns(shapes: tuple[Ints, ...], left: bool = False) -> list[Ints]:
    """The sizes that meet in each dimension."""
    longest = max(map(len, shapes), default=0)
    ones = [(1,) * (longest - len(sizes)) for sizes in shapes]
    padded = [sizes + more if left else more + sizes for sizes, more in zip(shapes, ones, strict=True)]
    return list(zip(*padded, strict=True))


BROADCAST_MISTAKES = (
    Misconception(
        "You aligned the shapes at the left. A row of 4 fits below a matrix of rows of 4: the last dimensions meet.",
        lambda *shapes: numpys(*zip(*columns(shapes, left=True), strict=True)),
    ),
    Misconception(
        "A size of 1 fits to any size: it is stretched, whichever of the shapes it stands in.",
        lambda *shapes: tuple(c[0] for c in columns(shapes)) if all(len({*c}) == 1 for c in columns(shapes)) else ERROR,
    ),
    Misconception(
        "A size of 1 that comes after a larger one is refused by you: it is stretched, too.",
        lambda *shapes: numpys(*shapes) if all(one_first(c) for c in columns(shapes)) else ERROR,
    ),
    Misconception(
        "You took the larger of the two. A 1 is stretched to 0, as to any size: there is then nothing to read.",
        lambda *shapes: tuple(max(c) for c in columns(shapes)) if numpys(*shapes) != ERROR else ERROR,
    ),
    Misconception(
        "These sizes don't fit, and you gave an answer. Unequal sizes of which none is 1 are a RuntimeError.",
        lambda *shapes: "a tuple" if numpys(*shapes) == ERROR else numpys(*shapes),
    ),
)


def one_first(column: Ints) -> bool:
    """Whether no 1 comes after another size."""
    return list(column) == sorted(column, key=lambda size: size != 1)


@OWN_SIZES.case("the strides of a new tensor", points=1, section=STRIDES)
def _(mini: Any) -> None:
    inputs = [((3,),), ((2, 3),), ((2, 3, 4),), ((2, 1, 3),), ((),), ((2, 0),), ((2, 0, 3),)]
    why = "The last dimension has stride 1, each one before it the product of all sizes to its right."
    agree(mini.tensor.contiguous_strides, row_major, inputs, STRIDES_MISTAKES, why)


@OWN_SIZES.case("sizes that broadcast, and sizes that don't", points=2, section=VIEWS)
def _(mini: Any) -> None:
    def broadcast_sizes(*shapes: Ints) -> Any:
        try:
            return mini.tensor.broadcast_sizes(*shapes)
        except NotImplementedError:
            raise
        except RuntimeError:
            return ERROR

    def or_any(*shapes: Ints) -> Any:  # which answer was given to sizes that don't fit is not told
        got = broadcast_sizes(*shapes)
        return "a tuple" if isinstance(got, tuple) and numpys(*shapes) == ERROR else got

    or_any.__name__ = "broadcast_sizes"
    shapes: list[Ints] = [(), (1,), (3,), (4,), (0,), (3, 1), (3, 4), (4, 3), (2, 3, 1)]
    pairs = sorted(itertools.product(shapes, repeat=2), key=lambda pair: sum(map(len, pair)))
    why = "Aligned at the right, sizes are equal or one of them is 1; the result has as many as the longest shape."
    agree(or_any, numpys, [*pairs, ((3, 1), (4,), ()), ((1, 1), (3, 1), (1, 4))], BROADCAST_MISTAKES, why)
    none = (
        "Any number of shapes may be none: nothing is stretched, and the sizes are (). max of nothing needs a default."
    )
    agree(or_any, numpys, [()], why=none)
