"""Exercise 12.2: a decomposition of log_softmax that holds for every input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.far.there import there
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.tensor import Tensor

from .accuracy import worst

LOG_SOFTMAX = Exercise(
    "12.2",
    "a rule that holds: log_softmax",
    answer="log_softmax",
    minutes=15,
    place="prims.log_softmax",
    hints=(
        "The logarithm of softmax is x - log(sum(exp(x))). Which part of this overflows, and what can be subtracted?",
        "With s = x - (the largest of its row), the result is s - log(sum(exp(s))). Mind keepdim.",
        "s = x - torch.amax(x, dim, True), then s - torch.log(torch.sum(torch.exp(s), dim, True)).",
    ),
)
SECTION = "Equal on paper"
ULPS = 8.0


def rows(*numbers: list[float]) -> Tensor:
    return torch.tensor(list(numbers))


def judge(answer: Callable[..., Any], x: Tensor, dim: int, why: str, ulps: float = ULPS) -> None:
    got = outcome(answer, (x, dim, None))
    text = f"log_softmax({x.tolist()}, {dim}, None)"
    truth = x.double().log_softmax(dim)
    if not isinstance(got, Tensor):
        raise WrongAnswer(f"{text}: expected a tensor, got {got!r}", why)
    if got.shape != x.shape or got.dtype is not x.dtype:
        raise WrongAnswer(f"{text}: expected {x.dtype} of {list(x.shape)}, got {got.dtype} of {list(got.shape)}", why)
    off, place = worst(got, truth)
    if off > ulps:
        raise WrongAnswer(
            f"{text}: element {place} is {got.flatten()[place].item()}, and should be"
            f" {truth.float().flatten()[place].item()}",
            why,
        )


@LOG_SOFTMAX.case("tame numbers, along either dimension", points=1, section="Rules, and a mode that applies them")
def _(answer: Callable[..., Any]) -> None:
    x = rows([0.0, 1.0, 2.0], [3.0, 1.0, -1.0], [0.5, 0.5, 4.0])
    judge(answer, x[0], 0, "Compare with torch.log_softmax.", ulps=256.0)
    why = "Maximum and sum are taken along dim, and kept (keepdim) so that they fit each row again."
    for dim in (1, -1, 0):
        judge(answer, x, dim, why, ulps=256.0)


@LOG_SOFTMAX.case("large numbers", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "e to the 1000 is infinity. Subtract the largest element of the row first: then no power is above 1."
    judge(answer, rows([1000.0, 1001.0]), 1, why)
    judge(answer, rows([-1000.0, -1001.0]), 1, why)


@LOG_SOFTMAX.case("unlikely classes", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "softmax of this is 0 in float32, and its logarithm is lost. Don't go through softmax: stay with logarithms."
    judge(answer, rows([0.0, -200.0]), 1, why)


@LOG_SOFTMAX.case("rows of different height", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "Each row needs its own maximum. With one for all, the low rows have nothing but zeros to add up."
    judge(answer, rows([0.0, 1.0], [1000.0, 1001.0]), 1, why)
    judge(answer, rows([0.0, 1000.0], [1.0, 1001.0]), 0, why)


@there
def in_the_package(answer: Callable[..., Any], x: Tensor) -> Tensor:
    """The sum of each row's probabilities, where the answer is the package's rule."""
    with splice("prims.log_softmax", answer):
        compiled = torch.compile(lambda x: x.log_softmax(1).exp().sum(1), backend="aot_eager_decomp_partition")
        total: Tensor = compiled(x)
    return total


@LOG_SOFTMAX.case("another dtype asked for, in the running package", points=1, section="The package's decomposer")
def _(answer: Callable[..., Any]) -> None:
    x = rows([0.0, 1.0], [2.0, 5.0])
    got = outcome(answer, (x, 1, torch.float64))
    if not isinstance(got, Tensor) or got.dtype is not torch.float64:
        raise WrongAnswer(
            f"log_softmax(x, 1, torch.float64): got {got!r}", "If dtype is given, convert x to it before anything else."
        )
    if not torch.allclose(got, x.double().log_softmax(1), rtol=1e-12):
        raise WrongAnswer("log_softmax(x, 1, torch.float64): not correct to 12 digits", "Convert x first, not last.")
    total = in_the_package(answer, x)
    if not torch.allclose(total, torch.ones(2)):
        raise WrongAnswer(f"in the package, the probabilities of a row add up to {total}", "They should add up to 1.")
