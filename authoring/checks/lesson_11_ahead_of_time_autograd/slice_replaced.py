"""Exercise 11.1: writing into a slice, without writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.dispatch import mode
from minitorch_compile.tensor.dispatch.op import Op

SLICE_REPLACED = Exercise(
    "11.1",
    "the inverse of a slice",
    answer="slice_replaced",
    minutes=15,
    place="aot.slice_replaced",
    hints=(
        "Which positions along dim does the slice show? Python knows: range(size)[start:end:step].",
        "torch.index_copy(base, dim, index, new) gives a new tensor, with new at these positions along dim. There is"
        " also the way of the lesson: what lies before, the new rows, what lies behind, by torch.cat.",
        "rows = range(base.shape[dim])[start:end:step]; index = torch.tensor(list(rows), dtype=torch.int64); then"
        " index_copy.",
    ),
)
SECTION = "Programs that write"


class Writes:
    """Notes the operations that write into an argument."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.kind == "inplace":
            self.names.append(op.name)
        return op(*args, **kwargs)


def truth(base: Tensor, new: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    expected = base.clone()
    where = (slice(None),) * (dim % base.dim()) + (slice(start, end, step),)
    expected[where] = new
    return expected


def idea(base: Tensor, new: Tensor, place: tuple[Any, ...], got: Tensor) -> str:
    """What was done instead."""
    dim, start, end, step = place
    at = dim % base.dim()
    rows = range(base.shape[at])[start:end:step]
    if got.shape != base.shape:
        lost = base.shape[at] - got.shape[at] if got.dim() == base.dim() else 0
        if lost == base.shape[at] - len(rows):
            return "That is the slice alone. The whole is wanted, with the slice in it."
        if lost > 0:
            return "The rest is lost. What the slice doesn't show stays as it was, on both sides of it."
        return "The whole keeps its sizes: new rows take the place of old ones."
    if torch.equal(got, base):
        return "Nothing was replaced."
    if step != 1 and torch.equal(got, truth(base, new, dim, rows.start, rows.start + len(rows), 1)):
        return f"Your new rows lie side by side. With step {step} there are old ones between them."
    return "Compare row by row: which of them belong to the slice?"


def judge(answer: Callable[..., Any], sizes: tuple[int, ...], *place: Any) -> None:
    """`place` is dim, start, end, step."""
    base = torch.arange(float(torch.Size(sizes).numel())).reshape(sizes)
    dim, start, end, step = place
    shown = base[(slice(None),) * (dim % len(sizes)) + (slice(start, end, step),)]
    new = -1 - shown
    call = f"slice_replaced({list(sizes)}, a new {list(new.shape)}, dim={dim}, start={start}, end={end}, step={step})"
    before, expected = base.clone(), truth(base, new, *place)
    with mode(Writes()) as writes:
        got = outcome(answer, (base, new, *place))
    if not torch.equal(base, before):
        raise WrongAnswer(f"{call}: base was overwritten", "base is a value, and values are never changed.")
    if not isinstance(got, Tensor):
        raise WrongAnswer(f"{call}: expected a tensor, got {got!r}", error_idea(place, len(sizes), repr(got)))
    if got.shape != expected.shape or not torch.equal(got, expected):
        shown_result = got.tolist() if got.numel() <= 12 else f"sizes {list(got.shape)}"
        wanted = expected.tolist() if got.numel() <= 12 else f"sizes {list(expected.shape)}"
        why = idea(base, new, place, got)
        raise WrongAnswer(f"{call}: expected {wanted}, got {shown_result}", why)
    if writes.names:
        raise WrongAnswer(
            f"{call} is right, but it called {', '.join(dict.fromkeys(writes.names))}",
            "That writes, if only into a copy of yours. The graph that comes out would have a write in it again.",
        )


def error_idea(place: tuple[Any, ...], ndim: int, error: str) -> str:
    """Why there was an error, if it is known."""
    if None in place and error.startswith("TypeError"):
        return "start and end may be None, as in x[:3]. Python's own slices know what that means."
    if place[0] % ndim:
        return f"The slice lies along dimension {place[0] % ndim} here, and not along dimension 0."
    return ""


@SLICE_REPLACED.case("a stretch of rows or columns", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, (4,), 0, 1, 3, 1)
    judge(answer, (3, 3), 0, 0, 2, 1)
    judge(answer, (3, 3), 1, 1, 2, 1)
    judge(answer, (2, 3, 2), -2, 1, 3, 1)


@SLICE_REPLACED.case("ends that are left out, negative, too large", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, (4,), 0, None, 2, 1)
    judge(answer, (4,), 0, 2, None, 1)
    judge(answer, (4,), 0, -3, -1, 1)
    judge(answer, (3, 2), 0, 1, 9, 1)
    judge(answer, (3, 2), 0, 2, 1, 1)


@SLICE_REPLACED.case("every second row", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, (5,), 0, None, None, 2)
    judge(answer, (2, 7), -1, 1, 6, 3)


def written(x: Tensor) -> Tensor:
    x[:, 1:].mul_(3)
    x[::2, 0].add_(1)
    return x * 2


@SLICE_REPLACED.case("in the package: a program that writes into slices", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    ours, plain = torch.arange(6.0).reshape(3, 2), torch.arange(6.0).reshape(3, 2)
    expected = written(plain)
    try:
        with splice("aot.slice_replaced", answer):
            got = torch.compile(written, backend="aot_eager")(ours)
    except NotImplementedError:
        raise
    except Exception as error:
        raise WrongAnswer(f"x[:, 1:].mul_(3), compiled: {type(error).__name__}: {error}") from error
    if not torch.equal(got, expected) or not torch.equal(ours, plain):
        raise WrongAnswer("x[:, 1:].mul_(3), compiled, isn't what it is plainly", "Which rows belong to the slice?")
