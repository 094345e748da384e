"""Exercise 01.5: the strides of a reshape that copies nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import (
    Exercise,
    Misconception,
    Trial,
    WrongAnswer,
    call_text,
    diagnose,
    outcome,
)
from minitorch_compile.tensor.memory import viewing
from minitorch_compile.tensor.memory.strides import is_contiguous, numel

from .layouts import Ints, row_major, visited

VIEW_STRIDES = Exercise(
    "01.5",
    "reshape without copying",
    answer="view_strides",
    minutes=20,
    place="tensor.view_strides",
    hints=(
        "Two neighbouring dimensions can melt into one exactly if stride[d] == size[d + 1] * stride[d + 1]. Melt all "
        "you can.",
        "After melting, each remaining old dimension is an even run of cells. The new sizes must split these runs: "
        "from the right, multiply new sizes until a run is filled exactly. If a new size straddles two runs, give "
        "None.",
        "Drop size-1 dimensions first. Keep a list of (size, stride) runs; take the last run; for each new size from "
        "the right, "
        "its stride is the run's stride times the product of the new sizes already taken from that run; when the "
        "product "
        "reaches the run's size, go to the run before it; if it doesn't divide, return None.",
    ),
)


def melts_by_size(sizes: Ints, strides: Ints, target: Ints) -> Ints:
    """The strides of a new tensor, times the old last stride."""
    return tuple(stride * (strides[-1] if strides else 1) for stride in row_major(target))


def only_contiguous(sizes: Ints, strides: Ints, target: Ints) -> Ints | None:
    return row_major(target) if is_contiguous(sizes, strides) else None


def keeps_size_one(sizes: Ints, strides: Ints, target: Ints) -> Ints | None:
    """Refuses whenever a size-1 dimension's stride doesn't fit its neighbours."""
    fits = all(strides[d] == sizes[d + 1] * strides[d + 1] for d in range(len(sizes) - 1) if 1 in sizes[d : d + 2])
    return viewing.view_strides(sizes, strides, target) if fits else None


VIEW_MISTAKES = (
    Misconception(
        "You gave the strides of a new tensor. They read the cells in storage order; this view wants another order. "
        "The old strides have to be asked.",
        lambda sizes, strides, target: row_major(target),
    ),
    Misconception(
        "You looked at the last stride only. Whether a dimension can melt into its neighbour depends on both their "
        "strides.",
        melts_by_size,
    ),
    Misconception(
        "You copy whenever the tensor isn't contiguous. That is safe and wasteful: dimensions that keep their own "
        "even jumps "
        "can still be split or melted.",
        only_contiguous,
    ),
    Misconception(
        "A size-1 dimension stood in the way. Its stride is never used, so it can be dropped before you compare.",
        keeps_size_one,
    ),
)


def factorisations(count: int) -> list[Ints]:
    """All sizes of one to three dimensions with this many elements, fewest dimensions first; of none, a few."""
    if count == 0:
        return [(0,), (2, 0), (0, 1, 3)]
    sizes = range(1, count + 1)
    return [s for ndim in (1, 2, 3) for s in itertools.product(sizes, repeat=ndim) if numel(s) == count]


def judge_views(answer: Callable[..., Any], views: list[tuple[Ints, Ints]]) -> None:
    """Any strides that read the right cells are right: those of size-1 dimensions are free."""
    inputs = [(*view, target) for view in views for target in factorisations(numel(view[0]))]
    trials = [(arguments, viewing.view_strides(*arguments), outcome(answer, arguments)) for arguments in inputs]
    for trial in trials:
        if not reads_the_same(*trial):
            raise WrongAnswer(*describe_wrong_view(trial, trials))


def reads_the_same(arguments: tuple[Any, ...], expected: Ints | None, got: Any) -> bool:
    sizes, strides, target = arguments
    if expected is None or got is None:
        return expected is got
    is_strides = isinstance(got, tuple) and len(got) == len(target) and all(isinstance(step, int) for step in got)
    return is_strides and visited(target, got) == visited(sizes, strides)


def describe_wrong_view(wrong: Trial, trials: list[Trial]) -> tuple[str, str]:
    """The fact and why it is so."""
    (sizes, strides, target), expected, got = wrong
    fact = f"{call_text('view_strides', wrong[0])}: expected {expected!r}, got {got!r}"
    if 0 in sizes:
        return fact, "A tensor without elements reads no cell at all, so any strides do; one for each target size."
    if expected is not None and isinstance(got, tuple) and len(got) == len(target):
        fact += f". The view reads cells {visited(sizes, strides)}; your strides read {visited(target, got)}"
    follow = "Follow the reading order by hand on this input: are the jumps even?"
    return fact, diagnose(wrong, trials, VIEW_MISTAKES) or follow


@VIEW_STRIDES.case("a tensor in row-major order can take any sizes", points=1, section="When strides run out")
def _(answer: Callable[..., Any]) -> None:
    judge_views(answer, [((4,), (1,)), ((6,), (2,)), ((2, 2), (2, 1)), ((2, 3), (3, 1)), ((2, 2, 3), (6, 3, 1))])


@VIEW_STRIDES.case("transposed, sliced and expanded views: strides, or None", points=2, section="When strides run out")
def _(answer: Callable[..., Any]) -> None:
    views = [
        ((2, 2), (1, 2)),
        ((2, 2), (3, 1)),
        ((2, 3), (0, 1)),
        ((4, 2), (4, 1)),
        ((2, 2, 2), (8, 2, 1)),
        ((2, 2, 3), (3, 6, 1)),
    ]
    judge_views(answer, views)


@VIEW_STRIDES.case("dimensions of size 1 or 0 never stand in the way", points=1, section="When strides run out")
def _(answer: Callable[..., Any]) -> None:
    ones = [((1, 4), (9, 1)), ((4, 1), (2, 7)), ((2, 1, 2), (2, 5, 1)), ((2, 1, 3), (1, 9, 2)), ((), ())]
    judge_views(answer, [*ones, ((0, 3), (3, 1))])
