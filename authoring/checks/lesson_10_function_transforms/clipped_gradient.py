"""Exercise 10.5: the gradient of each sample, shortened, and their sum, in a fixed number of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.tensor import Tensor

from .counting import measured

CLIPPED_GRADIENT = Exercise(
    "10.5",
    "every sample has a limited say",
    answer="clipped_gradient",
    minutes=15,
    hints=(
        "Write the function for one sample first: its gradient, its length, the shortened gradient.",
        "torch.func.grad(loss)(w, x, y) is the gradient of one sample; the factor is limit / length, but at most 1.",
        "vmap over x and y of that function, with w from around it; then .sum(0).",
    ),
)
SECTION = "Per-sample gradients of a network"
PAR = 40


def line_loss(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return (x @ w - y) ** 2


def layer_loss(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return (torch.tanh(x @ w).sum() - y) ** 2


def samples(number: int) -> tuple[Tensor, Tensor]:
    xs = torch.linspace(-1, 2, number * 2, dtype=torch.float64).reshape(number, 2)
    return xs, torch.linspace(0, 3, number, dtype=torch.float64)


def each_slope(loss: Callable[..., Any], w: Tensor, xs: Tensor, ys: Tensor) -> list[Tensor]:
    slopes = []
    for x, y in zip(xs, ys):
        leaf = w.detach().clone().requires_grad_()
        slopes.append(torch.autograd.grad(loss(leaf, x, y), leaf)[0])
    return slopes


def length(slope: Tensor) -> float:
    return float((slope * slope).sum().sqrt())


def shortened(slope: Tensor, limit: float) -> Tensor:
    return slope * min(1.0, limit / length(slope)) if length(slope) > 0 else slope


def idea(got: Tensor, slopes: list[Tensor], limit: float) -> str:
    """What was computed instead."""
    whole = torch.stack(slopes)
    stretched = torch.stack([slope * (limit / length(slope)) if length(slope) > 0 else slope for slope in slopes])
    clipped = torch.stack([shortened(slope, limit) for slope in slopes])
    ideas = {
        "You shortened the sum. Each sample is shortened by itself, so that no single one can decide.": shortened(
            whole.sum(0), limit
        ),
        "Short gradients were made longer. Only those above the limit are changed: the factor is at most 1.": (
            stretched.sum(0)
        ),
        "You cut each number by itself, which turns the gradient. All numbers of a sample get one factor.": torch.clamp(
            whole, -limit, limit
        ).sum(0),
        "That is the mean over the samples; the sum was asked for.": clipped.mean(0),
        "Nothing was shortened: that is the plain sum of all gradients.": whole.sum(0),
    }
    for message, other in ideas.items():
        if got.shape == other.shape and torch.allclose(got, other):
            return message
    if bool(torch.isnan(got).any()):
        return "A gradient may be 0, and 0 / 0 is NaN. Divide the limit by the length: that is inf, which 1 cuts off."
    return "Take two samples, compute by hand, and compare."


def judge(answer: Callable[..., Any], text: str, loss: Callable[..., Any], w: Tensor, xs: Tensor, ys: Tensor) -> None:
    for limit in (0.7, 2.5):
        slopes = each_slope(loss, w, xs, ys)
        expected = torch.stack([shortened(slope, limit) for slope in slopes]).sum(0)
        got = outcome(answer, (loss, w, xs, ys, limit))
        if not isinstance(got, Tensor) or got.shape != w.shape:
            raise WrongAnswer(f"{text}: expected a tensor of sizes {list(w.shape)}, got {got!r}")
        if not torch.allclose(got, expected):
            fact = f"{text}, limit {limit}: expected {expected.tolist()}, got {got.tolist()}"
            raise WrongAnswer(fact, idea(got, slopes, limit))


@CLIPPED_GRADIENT.case("weights that are a vector", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, "five points on a line", line_loss, torch.tensor([0.5, -1.0], dtype=torch.float64), *samples(5))


@CLIPPED_GRADIENT.case("weights that are a matrix", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    w = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
    judge(answer, "a layer of (2, 3)", layer_loss, w, *samples(4))


@CLIPPED_GRADIENT.case("a sample that is right already", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    w = torch.tensor([1.0, 1.0], dtype=torch.float64)
    xs = torch.tensor([[1.0, 2.0], [1.0, 1.0]], dtype=torch.float64)
    judge(answer, "two samples, one with gradient 0", line_loss, w, xs, torch.tensor([3.0, 0.0], dtype=torch.float64))


@CLIPPED_GRADIENT.case(f"par: {PAR} operations, for any number of samples", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    w = torch.tensor([0.5, -1.0], dtype=torch.float64)
    got, work = measured(answer, line_loss, w, *samples(100), 1.0)
    if not isinstance(got, Tensor):
        raise WrongAnswer(f"100 samples: got {got!r}")
    if not work.names:
        raise WrongAnswer("100 samples: nothing was computed")
    if len(work.names) > PAR:
        raise WrongAnswer(
            f"100 samples: {len(work.names)} operations, par is {PAR}",
            "The number of operations grows with the number of samples. Where is the loop? vmap takes its place.",
        )
