"""Exercise 01.7: the same elements under other sizes, without a copy wherever strides can say it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from .layouts import Ints, row_major
from .own_layout import Cells, Start, cells, refused

OWN_VIEW = Step(
    "01.7",
    "view",
    file="tensor",
    minutes=20,
    hints=(
        "Work from the last dimension. Some old dimension has `have` elements, `stride` apart, still to be handed out."
        " A new dimension takes some of them: when is that simply a part, and when does it need the next one outside?",
        "Drop sizes of 1 from the old ones first. If have % size is 0, the new dimension has the stride, and"
        " have // size are left, stride * size apart. Otherwise the next old dimension must join.",
        "It can join if its stride is have * stride, for then it goes on where this one ends: have *= its size. If it"
        " can't, or none is left, the answer is None. With have == 1 and size != 1 fetch the next old dimension.",
    ),
)
SECTION = "When strides run out"
STARTS: list[Start] = [((4,), (1,), 0), ((4,), (2,), 0), ((2, 2), (2, 1), 0), ((2, 2), (1, 2), 0), ((2, 2), (4, 1), 0)]
STARTS += [((2, 3, 2), (6, 2, 1), 0), ((3, 4), (1, 3), 0), ((2, 2, 3), (1, 6, 2), 0), ((2, 6), (12, 2), 0)]
STARTS += [((3, 2), (0, 1), 0), ((), (), 0)]
AT_OFFSETS: list[Start] = [((4,), (1,), 3), ((2, 3), (3, 1), 6)]
WITH_ONES: list[Start] = [((2, 1, 3), (3, 99, 1), 0), ((1, 4), (77, 1), 0), ((4, 1), (1, 50), 0), ((1, 1), (8, 9), 0)]
EMPTY: list[Start] = [((0,), (1,), 0), ((2, 0), (1, 1), 0), ((0, 3), (3, 1), 0)]
ALWAYS_NONE = (
    "You copy whenever the layout isn't that of a new tensor. A dimension of a transpose, or of every second element,"
    " can still be split: None only where no strides say it."
)
TAKEN_FOR_DENSE = (
    "A dimension was joined with the one outside it that doesn't go on where it ends: there is a gap between rows, or"
    " the order is another. They join only if the outer stride is have * stride."
)


def strides_exist(wanted: Cells) -> bool:
    """By trying: whether each step in a dimension has one length throughout."""
    return all((np.diff(wanted, axis=dim) == np.diff(wanted, axis=dim).flat[0]).all()
               for dim, size in enumerate(wanted.shape) if size > 1)  # fmt: skip


def targets(count: int) -> list[Ints]:
    small = [1, 2, 3, 4, 6, 12] if count else [0, 1, 2]
    return [t for n in range(4) for t in itertools.product(small, repeat=n) if int(np.prod(t)) == count]


def judge(mini: Any, starts: list[Start], none: str, wrong: str, raised: str) -> None:
    """`none`, `wrong`, `raised`: what is told if None came, or other cells, or an error."""
    for start in starts:
        layout = mini.tensor.Layout(*start)
        for target in targets(int(np.prod(start[0]))):
            got, wanted = outcome(layout.view, (target,)), cells(layout).reshape(target)
            fact = f"Layout{start!r}.view({target})"
            possible = wanted.size == 0 or strides_exist(wanted)
            expected = f"expected to read the cells {wanted.tolist()}" if possible else "expected None"
            if got is None:
                if possible:
                    raise WrongAnswer(f"{fact}: {expected}, got None", none)
            elif not isinstance(getattr(got, "strides", None), tuple):
                raise WrongAnswer(f"{fact}: {expected}, got {got!r}", raised)
            elif not possible or got.sizes != target or not np.array_equal(cells(got), wanted):
                raise WrongAnswer(f"{fact}: {expected}, got {got!r}", wrong)


@OWN_VIEW.case("dimensions are split and joined where strides allow it", points=3, section=SECTION)
def _(mini: Any) -> None:
    judge(
        mini, STARTS, ALWAYS_NONE, TAKEN_FOR_DENSE, "It needs no more than counting: `have` elements, `stride` apart."
    )


@OWN_VIEW.case("a view of a view begins where that one does", points=1, section=SECTION)
def _(mini: Any) -> None:
    lost = "The offset is lost: the layout begins in the middle of the storage, and so does every view of it."
    judge(mini, AT_OFFSETS, ALWAYS_NONE, lost, lost)


@OWN_VIEW.case("the stride of a size of 1 is never used", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "A dimension of size 1 stood in the way. Its stride is never used: leave it out before you begin."
    judge(mini, WITH_ONES, why, why, why)


@OWN_VIEW.case("no elements fit under any sizes without elements", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "Without elements nothing can be handed out. If 0 is among the sizes, any strides do: those of a new tensor."
    judge(mini, EMPTY, why, why, why)
    empty = mini.tensor.Layout((0, 3), (3, 1), 2).view((2, 0))
    if empty.strides != row_major((2, 0)) or empty.offset != 2:
        raise WrongAnswer(
            f"Layout((0, 3), (3, 1), 2).view((2, 0)): expected strides (1, 1), offset 2, got {empty!r}", why
        )


@OWN_VIEW.case("sizes with another number of elements are refused", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "No copy would help here either: compare numel(sizes) with numel(self.sizes) first, and raise a RuntimeError."
    start = ((2, 3), (3, 1), 0)
    refused(mini, [(start, "view", (3,)), (start, "view", (4, 2)), (start, "view", (0,)), (start, "view", ())], why)
