"""Exercise 01.6: a layout and the views that are arithmetic on it, compared by the cells that they read."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from ..comparing import must_raise
from .layouts import Ints, row_major

OWN_LAYOUT = Step(
    "01.6",
    "layouts",
    file="tensor",
    minutes=20,
    hints=(
        "No method touches memory: each gives another Layout, of other sizes, strides and offset. Ask of each: which"
        " cell is element (0, 0, ...) of the result? And how far is it to the next one in each dimension?",
        "narrow begins `start` steps later, so the offset grows by start * stride; of every step-th element the next is"
        " step * stride away. expand puts a 0 for each new dimension and for each 1 that becomes another size.",
        "permute: tuple(self.sizes[d] for d in dims), the same for strides, and the old offset. The size of narrow is"
        " (max(stop - start, 0) + step - 1) // step: a last step that is cut short counts.",
    ),
)
SECTION = "Views: arithmetic on four things"
Cells = NDArray[np.int64]
Start = tuple[Ints, Ints, int]
Ideas = list[tuple[str, tuple[Any, Any, int]]]  # what is told, and the sizes, strides, offset that came of it
STARTS: list[Start] = [((3,), (1,), 0), ((2, 3), (3, 1), 0), ((2, 3), (3, 1), 5), ((1, 3), (3, 1), 2)]
STARTS += [((3, 1), (1, 7), 0), ((2, 3, 4), (12, 4, 1), 1), ((4, 2), (2, 20), 0), ((), (), 4), ((0, 2), (2, 1), 0)]


def cells(layout: Any) -> Cells:
    """The position that each element has in the storage."""
    steps = [np.arange(n).reshape((-1,) + (1,) * after) for after, n in enumerate(layout.sizes[::-1])][::-1]
    found = np.full(layout.sizes, layout.offset, np.int64)
    for step, stride in zip(steps, layout.strides, strict=True):
        found = found + step * stride
    return found


def viewed(layout_of: Any, start: Start, method: str, *args: Any) -> tuple[str, Any, Any]:
    """The call as text, the layout that the method was called on, and what came."""
    layout = layout_of(*start)
    said = f"Layout{start!r}.{method}({', '.join(map(repr, args))})"
    return said, layout, outcome(getattr(layout, method), args)


def judge(said: str, got: Any, wanted: Cells, ideas: Ideas, why: str) -> None:
    """The cells must be the wanted ones; else the idea that reads the same as the answer is told."""
    if not all(isinstance(getattr(got, name, None), kind) for name, kind in (("sizes", tuple), ("strides", tuple))):
        raise WrongAnswer(f"{said}: expected a Layout of tuples, got {got!r}", why)
    if got.sizes == wanted.shape and len(got.strides) == wanted.ndim and np.array_equal(cells(got), wanted):
        return
    fact = f"{said}: expected the cells {wanted.tolist()}, got {got!r}"
    for message, (sizes, strides, offset) in ideas:
        if (tuple(sizes), tuple(strides), offset) == (got.sizes, got.strides, got.offset):
            raise WrongAnswer(fact, message)
    raise WrongAnswer(fact, why)


@OWN_LAYOUT.case("the layout of a new tensor", points=1, section="Strides say how far to jump")
def _(mini: Any) -> None:
    for sizes in ((3,), (2, 3), (), (2, 0, 3)):
        got = outcome(mini.tensor.Layout.dense, (sizes,))
        if getattr(got, "sizes", None) != sizes or got.strides != row_major(sizes) or got.offset != 0:
            why = "The strides are contiguous_strides(sizes), and it begins at the beginning: the offset is 0."
            raise WrongAnswer(f"Layout.dense({sizes}): expected strides {row_major(sizes)}, offset 0, got {got!r}", why)

    if (got := outcome(mini.tensor.Layout.dense, ([2, 3],))) != mini.tensor.Layout((2, 3), (3, 1)):
        raise WrongAnswer(f"Layout.dense([2, 3]) gave {got!r}", "Sizes may come as a list: a layout has tuples.")


@OWN_LAYOUT.case("permute: sizes and strides move together", points=1, section=SECTION)
def _(mini: Any) -> None:
    layout_of = mini.tensor.Layout
    for start in STARTS:
        for dims in itertools.permutations(range(len(start[0]))):
            said, layout, got = viewed(layout_of, start, "permute", dims)
            s, n, at = start
            back = [dims.index(d) for d in range(len(dims))]
            ideas: Ideas = [
                ("The sizes moved and the strides stayed: a dimension takes its stride along.",
                 ([s[d] for d in dims], n, at)),
                ("You went the other way round: dims[0] says which old dimension comes first.",
                 ([s[d] for d in back], [n[d] for d in back], at)),
                ("The offset is lost: a permuted view still begins where this one does.",
                 ([s[d] for d in dims], [n[d] for d in dims], 0)),
            ]  # fmt: skip
            judge(said, got, cells(layout).transpose(dims), ideas, "Dimension d of the result is dimension dims[d].")


@OWN_LAYOUT.case("permute: what names a dimension twice, or not at all, is refused", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "Every dimension must be named once, or elements would be lost: compare sorted(dims) with range."
    refused(mini, [(((2, 3), (3, 1), 0), "permute", (0, 0)), (((2, 3), (3, 1), 0), "permute", (0,))], why)


def refused(mini: Any, calls: list[tuple[Any, ...]], why: str) -> None:
    for start, method, argument in calls:
        layout = mini.tensor.Layout(*start)
        must_raise(f"Layout{start!r}.{method}({argument!r})", why, getattr(layout, method), argument)


@OWN_LAYOUT.case("narrow: part of a dimension", points=2, section=SECTION)
def _(mini: Any) -> None:
    layout_of = mini.tensor.Layout
    for start in STARTS:
        for dim, size in enumerate(start[0]):
            for low, high, step in itertools.product(range(size + 1), range(size + 1), (1, 2, 3)):
                said, layout, got = viewed(layout_of, start, "narrow", dim, low, high, step)
                wanted = cells(layout)[(slice(None),) * dim + (slice(low, high, step),)]
                ideas = narrow_ideas(start, dim, low, high, step)
                judge(said, got, wanted, ideas, "It reads what x[start:stop:step] reads in that dimension.")


def narrow_ideas(start: Start, dim: int, low: int, high: int, step: int) -> Ideas:
    """What several mistakes would have given."""
    sizes, strides, offset = start

    def by(size: int, stride: int, first: int) -> Any:
        return (*sizes[:dim], size, *sizes[dim + 1 :]), (*strides[:dim], stride, *strides[dim + 1 :]), first

    stride, count = strides[dim], len(range(low, high, step))
    begin = offset + low * stride
    return [
        ("The offset moved by `start` cells. One step in this dimension is a stride long.",
         by(count, stride * step, offset + low)),
        ("The offset is forgotten that this layout had itself.", by(count, stride * step, low * stride)),
        ("The view begins at element `start` of the dimension, so the offset must move.",
         by(count, stride * step, offset)),
        ("Every step-th element was asked for: the next one is step * stride away.", by(count, stride, begin)),
        ("A last step that is cut short was not counted: x[0:3:2] has two elements. Round up.",
         by(max(high - low, 0) // step, stride * step, begin)),
        ("From a start behind the stop there are no elements, and no negative number of them.",
         by((high - low + step - 1) // step, stride * step, begin)),
    ]  # fmt: skip


@OWN_LAYOUT.case("expand: stretched dimensions have stride 0", points=2, section=SECTION)
def _(mini: Any) -> None:
    layout_of = mini.tensor.Layout
    for start in STARTS:
        sizes, strides, offset = start
        wider = tuple(4 if n == 1 else n for n in sizes)
        for target in (sizes, wider, (2, *wider), (3, 2, *sizes)):
            said, layout, got = viewed(layout_of, start, "expand", target)
            new = len(target) - len(sizes)
            zeros = tuple(0 if n == 1 and goal != 1 else s for n, s, goal in zip(sizes, strides, target[new:]))
            ideas: Ideas = [
                ("A 1 that is stretched kept its stride: the next element would be another cell. All are the same one.",
                 (target, (0,) * new + strides, offset)),
                ("The offset is gone: the one row that is repeated lies where it lay.",
                 (target, (0,) * new + zeros, 0)),
                ("New dimensions got a stride as if memory had been copied for them. They repeat: stride 0.",
                 (target, row_major(target)[:new] + zeros, offset)),
            ]  # fmt: skip
            judge(said, got, np.broadcast_to(cells(layout), target), ideas, "It reads what numpy.broadcast_to reads.")
            if got.strides != (0,) * new + zeros:
                why = "Only what is new or stretched has stride 0: a 1 that stays a 1 keeps its own."
                raise WrongAnswer(f"{said}: expected strides {(0,) * new + zeros}, got {got.strides}", why)
    why = "Only a size of 1 can be stretched, and no dimension can be dropped: broadcast_sizes says what fits."
    start = ((2, 3), (3, 1), 0)
    refused(mini, [(start, "expand", (3,)), (start, "expand", (4, 3)), (((2, 1), (1, 1), 0), "expand", (1, 3))], why)
