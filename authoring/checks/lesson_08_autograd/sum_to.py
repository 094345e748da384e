"""Exercise 08.2: the mirror image of broadcasting, and the package's formulas using it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, Misconception, WrongAnswer, agree, outcome
from minitorch_compile.course.splicing.splice import splice

SUM_TO = Exercise(
    "08.2",
    "broadcasting, turned round",
    answer="sum_to",
    minutes=12,
    place="autograd.sum_to",
    hints=(
        "Two kinds of dimensions were stretched: new ones on the left, and those of size 1. What happens to each?",
        "The new ones disappear by torch.sum(grad, dims). The others are summed with keepdim=True.",
        "lead = len(grad.sizes) - len(like.sizes); sum over range(lead), then over each d with like.sizes[d] == 1.",
    ),
)
SECTION = "Broadcasting, turned round"
Ints = tuple[int, ...]


def slope(sizes: Ints) -> torch.Tensor:
    """Distinct numbers in these sizes."""
    return torch.arange(1, 1 + torch.Size(sizes).numel(), dtype=torch.float32).reshape(sizes)


def by_definition(grad_sizes: Ints, sizes: Ints, combine: Callable[[list[float]], float] = sum) -> Any:
    """Each element of the stretched slope is given to the element that was read there."""
    grad, lead = slope(grad_sizes), len(grad_sizes) - len(sizes)
    shares: dict[Ints, list[float]] = {}
    for index in itertools.product(*map(range, grad_sizes)):
        place = tuple(0 if n == 1 else i for i, n in zip(index[lead:], sizes, strict=True))
        shares.setdefault(place, []).append(grad[index].item())
    result = torch.zeros(sizes)
    for place, parts in shares.items():
        result[place] = combine(parts)
    return (sizes, result.tolist())


def only_lead(grad_sizes: Ints, sizes: Ints) -> Any:
    lead = len(grad_sizes) - len(sizes)
    result = slope(grad_sizes).sum(list(range(lead))) if lead else slope(grad_sizes)
    return (tuple(result.shape), result.tolist())


def dropped(grad_sizes: Ints, sizes: Ints) -> Any:
    """Summed over all stretched dimensions, none of which stays."""
    lead = len(grad_sizes) - len(sizes)
    gone = [d for d in range(len(grad_sizes)) if d < lead or (sizes[d - lead] == 1 and grad_sizes[d] != 1)]
    result = slope(grad_sizes).sum(gone) if gone else slope(grad_sizes)
    return (tuple(result.shape), result.tolist())


MISTAKES = (
    Misconception("The dimensions of size 1 were stretched, too. Sum over them as well.", only_lead),
    Misconception(
        "A dimension that was there keeps its place, with size 1: pass keepdim=True. Only the new ones disappear.",
        dropped,
    ),
    Misconception(
        "You take one of them. The number was read many times, and each reading matters: add all slopes up.",
        lambda grad_sizes, sizes: by_definition(grad_sizes, sizes, lambda parts: parts[0]),
    ),
    Misconception(
        "An average is too small: if a nudge matters in three places, the three slopes add up.",
        lambda grad_sizes, sizes: by_definition(grad_sizes, sizes, lambda parts: sum(parts) / len(parts)),
    ),
)


def on_sizes(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The learner's function, described by the sizes of its arguments."""

    def sum_to(grad_sizes: Ints, sizes: Ints) -> Any:
        result = answer(slope(grad_sizes), torch.zeros(sizes))
        return (tuple(result.shape), result.tolist())

    return sum_to


def judge(answer: Callable[..., Any], inputs: list[tuple[Ints, Ints]]) -> None:
    agree(on_sizes(answer), by_definition, inputs, MISTAKES)


@SUM_TO.case("new dimensions on the left", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [((2,), (2,)), ((2,), ()), ((3, 4), (4,)), ((2, 3, 2), (2,)), ((2, 3), ())])


@SUM_TO.case("dimensions of size 1", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [((3,), (1,)), ((3, 2), (3, 1)), ((3, 2), (1, 2)), ((3, 2), (1, 1)), ((1, 2), (1, 2))])


@SUM_TO.case("both at once", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [((2, 3), (1,)), ((2, 3, 2), (1, 2)), ((2, 3, 2), (3, 1)), ((2, 2, 2), (1, 1))])


@SUM_TO.case("spliced in, the package's formulas use it", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    def gradients() -> Any:
        column, row = torch.ones(3, 1, requires_grad=True), torch.ones(4, requires_grad=True)
        (column * row + row).sum().backward()
        return column.grad.tolist(), row.grad.tolist()

    with splice("autograd.sum_to", answer):
        got = outcome(gradients, ())
    expected = ([[4.0]] * 3, [6.0] * 4)
    if got != expected:
        raise WrongAnswer(
            f"the slopes of (column * row + row).sum(): expected {expected}, got {got!r}",
            "The formulas of mul and add called your function. Get the three cases above to pass first.",
        )
