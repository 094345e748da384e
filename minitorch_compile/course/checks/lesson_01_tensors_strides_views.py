"""Lesson 01: where an element lies, strides, views, contiguity, reshaping and windows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.tensor import strides as package

from ..exercise import Exercise, Misconception, NotWritten, WrongAnswer, agree, call_text, diagnose, outcome
from ..splice import splice

Ints = tuple[int, ...]
TITLE = "01 tensors, strides, views"

POSITION = Exercise(
    "01.1",
    "where an element lies",
    answer="position",
    minutes=5,
    hints=(
        "Take x of sizes (2, 3), strides (3, 1). One step along dimension 0 moves 3 places. How far do i steps move?",
        "Each dimension adds its own part: index times stride. The parts add up.",
        "Start with the offset; loop over zip(index, strides); add the product each time. An empty loop is right for "
        "0-d.",
    ),
)


def position(index: Ints, strides: Ints, offset: int = 0) -> int:
    return offset + sum(i * stride for i, stride in zip(index, strides, strict=True))


NO_OFFSET = Misconception(
    "That is the way from the view's first element. A view may begin in the middle of the storage: the offset says "
    "where.",
    lambda index, strides, offset=0: position(index, strides),
)
LAST_STRIDE_ONE = Misconception(
    "You took the last stride to be 1. That holds for a fresh tensor; a column, or a transposed view, steps farther.",
    lambda index, strides, offset=0: position(index, (*strides[:-1], 1), offset),
)
STRIDES_ADDED = Misconception(
    "You added the stride once, however large the index is. Index i means i steps, each a stride long.",
    lambda index, strides, offset=0: offset + sum(i + stride for i, stride in zip(index, strides, strict=True)),
)
POSITION_MISTAKES = (NO_OFFSET, LAST_STRIDE_ONE, STRIDES_ADDED)
ANY_NUMBER_OF_DIMENSIONS = "An index has one entry a dimension, and there may be none, one, or five. Loop over them."


@POSITION.case("the rows and columns of a matrix", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    inputs = [((0, 1), (3, 1)), ((1, 0), (3, 1)), ((1, 2), (3, 1)), ((1, 2), (1, 2)), ((2, 1), (8, 2))]
    agree(answer, position, inputs, POSITION_MISTAKES)


@POSITION.case("a view that begins in the middle of the storage", points=1, section="Views: arithmetic on four things")
def _(answer: Callable[..., Any]) -> None:
    inputs = [((0,), (1,), 5), ((1,), (2,), 3), ((1, 1), (4, 1), 6)]
    agree(answer, position, inputs, POSITION_MISTAKES)


@POSITION.case("any number of dimensions, also none", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    inputs = [((), (), 7), ((3,), (2,)), ((1, 1, 1), (12, 4, 1)), ((1, 0, 2, 1), (24, 8, 2, 1), 1)]
    agree(answer, position, inputs, POSITION_MISTAKES, why=ANY_NUMBER_OF_DIMENSIONS)


CONTIGUOUS_STRIDES = Exercise(
    "01.2",
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
    return tuple(package.numel(sizes[:dim]) for dim in range(len(sizes)))


def row_major(sizes: Ints) -> Ints:
    return tuple(package.numel(max(size, 1) for size in sizes[dim + 1 :]) for dim in range(len(sizes)))


STRIDES_MISTAKES = (
    Misconception(
        "These are column-major strides: neighbours in a column lie side by side, as in Fortran. "
        "A new tensor is row-major: the last dimension is the one with stride 1.",
        column_major,
    ),
    Misconception(
        "Each stride is one size too far: a dimension's own size doesn't count, only the sizes to its right. "
        "The last dimension has nothing to its right, so its stride is 1.",
        lambda sizes: tuple(package.numel(sizes[dim:]) for dim in range(len(sizes))),
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
        lambda sizes: tuple(package.numel(sizes[dim + 1 :]) for dim in range(len(sizes))),
    ),
)


@CONTIGUOUS_STRIDES.case("rows lie one after the other", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    agree(answer, row_major, [((2, 2),), ((2, 3),), ((3, 2),), ((4, 1),)], STRIDES_MISTAKES)


@CONTIGUOUS_STRIDES.case("any number of dimensions", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    inputs = [((3,),), ((2, 2, 2),), ((2, 3, 4),), ((2, 1, 3, 5),)]
    agree(answer, row_major, inputs, STRIDES_MISTAKES, why=ANY_NUMBER_OF_DIMENSIONS)


@CONTIGUOUS_STRIDES.case("no dimensions, and sizes of 0", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    zero_dimensions = "A 0-d tensor has one element and no dimensions, so no strides: the empty tuple."
    agree(answer, row_major, [((),), ((2, 0),), ((2, 0, 3),)], STRIDES_MISTAKES, why=zero_dimensions)


@CONTIGUOUS_STRIDES.case("spliced in, every new tensor is laid out by it", points=1, section="The package's own tensor")
def _(answer: Callable[..., Any]) -> None:
    with splice("tensor.contiguous_strides", answer):
        got = outcome(lambda: torch.zeros(2, 3, 4).stride(), ())
    if got != (12, 4, 1):
        raise WrongAnswer(
            f"torch.zeros(2, 3, 4).stride(): expected (12, 4, 1), got {got!r}",
            "The package called your function for every tensor it made. Get the three cases above to pass first.",
        )


PREDICTION = Exercise(
    "01.3",
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
UNEVEN = (
    "The cells lie at uneven distances, and one stride a dimension can't say that. reshape had to move them: a copy."
)
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
        COPY: "expand never copies: a stride of 0 reads the same row again and again.",
    },
    "x[1:].reshape(8)": {
        COPY: "Rows 1 and 2 lie side by side without a gap, so one dimension of stride 1 reads them: no copy needed."
    },
    "x.t().reshape(12)": {(1,): UNEVEN, (4,): UNEVEN},
    "x[:, 1:].reshape(9)": {(1,): UNEVEN},
}


def layout_of(expression: str) -> Any:
    """What the package does: the strides if the result looks at x's own storage, or "copy"."""
    x = torch.arange(12).reshape(3, 4)
    result = eval(expression, {"x": x})
    return tuple(result.stride()) if result.storage is x.storage else COPY


def judge_predictions(answer: Any, expressions: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"prediction: expected a dict of the eight expressions, got {type(answer).__name__}")
    for expression in expressions:
        predicted = answer.get(expression, ...)
        if predicted is ...:
            raise NotWritten(f"{expression} is still `...`")
        happens = layout_of(expression)
        if predicted != happens:
            general = "Which cells does it want, in which order? Are the jumps equal?"
            why = PREDICTIONS[expression].get(predicted, general) if isinstance(predicted, tuple | str) else general
            raise WrongAnswer(f"{expression}: you predicted {predicted!r}, it is {happens!r}", why)


@PREDICTION.case(
    "transposing, choosing a row, a column, every second column", points=2, section="Views: arithmetic on four things"
)
def _(answer: Any) -> None:
    judge_predictions(answer, ["x.t()", "x[1]", "x[:, 1]", "x[:, ::2]"])


@PREDICTION.case("expanding", points=1, section="Views: arithmetic on four things")
def _(answer: Any) -> None:
    judge_predictions(answer, ["x[:1].expand(3, 4)"])


@PREDICTION.case("reshaping: when the jumps are even and when not", points=2, section="When strides run out")
def _(answer: Any) -> None:
    judge_predictions(answer, ["x[1:].reshape(8)", "x.t().reshape(12)", "x[:, 1:].reshape(9)"])


CONTIGUITY = Exercise(
    "01.4",
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


def visited(sizes: Ints, strides: Ints) -> list[int]:
    """The storage positions that a view reads, in reading order."""
    return [position(index, strides) for index in itertools.product(*map(range, sizes))]


def melts_by_size(sizes: Ints, strides: Ints, target: Ints) -> Ints:
    """The strides of a new tensor, times the old last stride."""
    return tuple(stride * (strides[-1] if strides else 1) for stride in row_major(target))


def only_contiguous(sizes: Ints, strides: Ints, target: Ints) -> Ints | None:
    return row_major(target) if package.is_contiguous(sizes, strides) else None


def keeps_size_one(sizes: Ints, strides: Ints, target: Ints) -> Ints | None:
    """Refuses whenever a size-1 dimension's stride doesn't fit its neighbours."""
    fits = all(strides[d] == sizes[d + 1] * strides[d + 1] for d in range(len(sizes) - 1) if 1 in sizes[d : d + 2])
    return package.view_strides(sizes, strides, target) if fits else None


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
    return [s for ndim in (1, 2, 3) for s in itertools.product(sizes, repeat=ndim) if package.numel(s) == count]


def judge_views(answer: Callable[..., Any], views: list[tuple[Ints, Ints]]) -> None:
    """Any strides that read the right cells are right: those of size-1 dimensions are free."""
    wrong = []
    for sizes, strides in views:
        for target in factorisations(package.numel(sizes)):
            arguments = (sizes, strides, target)
            expected, got = package.view_strides(*arguments), outcome(answer, arguments)
            if not reads_the_same(expected, got, arguments):
                wrong.append((arguments, expected, got))
    if wrong:
        raise WrongAnswer(*describe_wrong_view(wrong))


def reads_the_same(expected: Ints | None, got: Any, arguments: tuple[Ints, Ints, Ints]) -> bool:
    sizes, strides, target = arguments
    if expected is None or got is None:
        return expected is got
    is_strides = isinstance(got, tuple) and len(got) == len(target) and all(isinstance(step, int) for step in got)
    return is_strides and visited(target, got) == visited(sizes, strides)


def describe_wrong_view(wrong: list[tuple[Any, Any, Any]]) -> tuple[str, str]:
    arguments, expected, got = wrong[0]
    fact = f"{call_text('view_strides', arguments)}: expected {expected!r}, got {got!r}"
    if expected is not None and isinstance(got, tuple) and len(got) == len(arguments[2]):
        fact += f". The view reads cells {visited(*arguments[:2])}; your strides read {visited(arguments[2], got)}"
    if 0 in arguments[0]:
        return fact, "A tensor without elements reads no cell at all, so any strides do; one for each target size."
    return fact, diagnose(wrong, VIEW_MISTAKES) or "Follow the reading order by hand on this input: are the jumps even?"


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


WINDOWS = Exercise(
    "01.6",
    "windows for free",
    answer="windows",
    minutes=12,
    hints=(
        "Write the windows of [10, 11, 12, 13] of size 2 below each other. Which cell does row 1, column 1 read? Row "
        "2, column 0?",
        "Going one window down moves one element along x; so does going one element to the right inside a window.",
        "x.as_strided((windows, size), (step, step)), where step is x.stride(0) and windows is len(x) - size + 1.",
    ),
)

WINDOW_COUNT = "A window starts at each element that has size - 1 more behind it: len(x) - size + 1 of them."


def judge_windows(answer: Callable[..., Any], x: torch.Tensor, text: str, size: int) -> None:
    result = outcome(answer, (x, size))
    values = x.tolist()
    expected = [values[start : start + size] for start in range(len(values) - size + 1)]
    if not isinstance(result, torch.Tensor):
        raise WrongAnswer(f"windows({text}, {size}): expected a tensor, got {result!r}")
    got = result.tolist()
    fact = f"windows({text}, {size}): expected {expected}, got {got}"
    if len(got) == len(values) - size:
        raise WrongAnswer(fact, "The last window is missing. " + WINDOW_COUNT)
    if len(got) != len(expected):
        raise WrongAnswer(fact, "The windows overlap: each starts one element after the one before. " + WINDOW_COUNT)
    if got != expected:
        raise WrongAnswer(
            fact,
            "Your strides count cells of the storage; x itself steps x.stride(0) cells from one element to the next.",
        )
    if result.storage is not x.storage:
        copied = result.numel() * result.dtype.itemsize
        raise WrongAnswer(
            f"windows({text}, {size}): the numbers are right, but {copied} bytes were copied; par is 0",
            "Every number is already in x's storage. Which strides read it there?",
        )


@WINDOWS.case("par: 0 bytes copied", points=2, section="Views: arithmetic on four things")
def _(answer: Callable[..., Any]) -> None:
    for length, size in ((2, 1), (3, 2), (5, 3), (4, 4)):
        judge_windows(answer, torch.arange(length), f"torch.arange({length})", size)


@WINDOWS.case("of a view that skips and starts late", points=1, section="Views: arithmetic on four things")
def _(answer: Callable[..., Any]) -> None:
    judge_windows(answer, torch.arange(6)[2:], "torch.arange(6)[2:]", 2)
    judge_windows(answer, torch.arange(8)[1::2], "torch.arange(8)[1::2]", 2)


EXERCISES = (POSITION, CONTIGUOUS_STRIDES, PREDICTION, CONTIGUITY, VIEW_STRIDES, WINDOWS)
