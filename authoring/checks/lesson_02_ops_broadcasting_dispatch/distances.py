"""Exercise 02.1: all distances between two sets of points, without the cube."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.far.there import there
from minitorch_compile.tensor import empty_fake
from minitorch_compile.tensor.dispatch.dispatch import mode
from minitorch_compile.tensor.dispatch.op import Op

DISTANCES = Exercise(
    "02.1",
    "distances under par",
    answer="distances",
    minutes=12,
    hints=(
        "Write out (x - y)(x - y) for two vectors. Three terms: which of them need both x and y?",
        "x @ y.T has the products of each x with each y, in sizes (n, m). The other two terms need only one set each.",
        "The squares of x are a column: (x * x).sum(1, keepdim=True). Those of y are a row. A column plus a row "
        "broadcasts to (n, m).",
    ),
)
SECTION = "Broadcasting: sizes that stretch"


class _Largest:
    """The bytes of the largest result that isn't a view."""

    def __init__(self) -> None:
        self.bytes = 0

    def process(self, op: Op, args: Any, kwargs: Any) -> Any:
        result = op(*args, **kwargs)
        for x in result if isinstance(result, tuple) else (result,):
            if op.kind != "view":
                self.bytes = max(self.bytes, x.numel() * x.element_size())
        return result


@there
def largest_of(answer: Callable[..., Any], n: int, m: int, d: int) -> tuple[int, str]:
    """The bytes of the largest tensor that it makes, and what it gives if that is no tensor."""
    with mode(_Largest()) as largest:
        got = answer(empty_fake((n, d)), empty_fake((m, d)))
    return largest.bytes, "" if isinstance(got, torch.Tensor) else repr(got)


def truth(x: torch.Tensor, y: torch.Tensor) -> list[list[float]]:
    return [[sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) for q in y.tolist()] for p in x.tolist()]


def wrong_idea(expected: list[list[float]], got: Any, x: torch.Tensor, y: torch.Tensor) -> str:
    """What lies behind these numbers."""

    def is_close(other: torch.Tensor) -> bool:
        return list(got.shape) == list(other.shape) and bool(torch.allclose(got, other, atol=1e-4))

    xx, yy, xy = (x * x).sum(1, keepdim=True), (y * y).sum(1), x @ y.T
    if is_close(torch.tensor(expected).sqrt()):
        return "Asked for is the squared distance, not the distance: leave the root out."
    if is_close(xx + yy - xy):
        return "(x - y)(x - y) has twice the product in the middle: xx - 2xy + yy."
    if x.shape[0] == y.shape[0] and is_close((x * x).sum(1) + (y * y).sum(1, keepdim=True) - 2 * xy):
        return "In your answer the sums of squares meet along the wrong dimension: those of x are a column, of y a row."
    return "Compute one entry by hand: the sum over d of (x[i, d] - y[j, d]) squared."


@DISTANCES.case("the distances are right", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for n, m, d in ((1, 1, 1), (2, 2, 1), (2, 2, 2), (2, 3, 2), (4, 2, 3)):
        x, y = torch.arange(n * d).view(n, d) * 1.0, 3.0 - 2.0 * torch.arange(m * d).view(m, d)
        got = outcome(answer, (x, y))
        expected = truth(x, y)
        call = f"distances({x.tolist()}, {y.tolist()})"
        if not isinstance(got, torch.Tensor):
            why = "Which sizes met there?" if "size" in repr(got) else ""
            why = wrong_dimension(got, n, m) or why
            raise WrongAnswer(f"{call}: expected a tensor, got {got!r}", why)
        if list(got.shape) != [n, m] or not torch.allclose(got, torch.tensor(expected), atol=1e-3):
            raise WrongAnswer(f"{call}: expected {expected}, got {got.tolist()}", wrong_idea(expected, got, x, y))


def wrong_dimension(got: Any, n: int, m: int) -> str:
    """The message for a broadcast that failed because column and row were swapped."""
    if n != m and "must match" in repr(got):
        return "In your answer the sums of squares meet along the wrong dimension: those of x are a column, of y a row."
    return ""


@DISTANCES.case("par: no tensor larger than the result", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    n, m, d = 1000, 1000, 100
    got = outcome(largest_of, (answer, n, m, d))
    largest, what = got if isinstance(got, tuple) else (0, repr(got))
    if what:
        raise WrongAnswer(f"distances of 1,000 by 1,000 points in 100 dimensions: got {what}")
    if largest > 4 * n * m:
        raise WrongAnswer(
            f"distances of 1,000 by 1,000 points in 100 dimensions: your largest tensor takes {largest:,}"
            " bytes, par"
            f" is {4 * n * m:,}",
            "Broadcasting to three dimensions makes every difference before adding any up. A matrix product adds up as"
            " it goes.",
        )
