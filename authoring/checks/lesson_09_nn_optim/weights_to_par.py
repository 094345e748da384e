"""Exercise 09.3: first weights for a tower of 30 layers, judged by the measured size of what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome

WEIGHTS = Exercise(
    "09.3",
    "weights to par",
    answer="initial",
    minutes=10,
    seconds=30.0,
    hints=(
        "A unit adds up `inputs` products. What is the variance of the sum, if each weight has variance v?",
        "To keep the mean square through a relu, which halves it, v must be 2 / inputs. A deviation is the root of a"
        " variance.",
        "torch.randn(outputs, inputs) has variance 1. Multiply it by (2 / inputs) ** 0.5.",
    ),
)
SECTION = "How to begin"
PAR = 4.0
IDEAS: tuple[tuple[Callable[[int, int], float], str], ...] = (
    (
        lambda o, i: 1.0,
        "With deviation 1 a unit adds up `inputs` products of size 1, and each layer multiplies the size.",
    ),
    (
        lambda o, i: (1 / i) ** 0.5,
        "That keeps the size through a linear layer. A relu after it halves the mean square.",
    ),
    (lambda o, i: 2 / i, "2 / inputs is the variance. What randn is multiplied by is the deviation, its root."),
    (lambda o, i: (2 / o) ** 0.5, "You divided by the fan out. What a unit adds up are its inputs: the other size."),
    (lambda o, i: (2 / (3 * i)) ** 0.5, "A uniform number in +-b has variance b * b / 3: the bound must be wider."),
    (lambda o, i: (1 / (3 * i)) ** 0.5, "These are Linear's own weights: variance 1 / (3 inputs), a sixth of par."),
)


def weights(answer: Callable[..., Any], outputs: int, inputs: int) -> torch.Tensor:
    got = outcome(answer, (outputs, inputs))
    if not isinstance(got, torch.Tensor):
        raise WrongAnswer(f"initial({outputs}, {inputs}): expected a tensor, got {got!r}")
    if list(got.shape) != [outputs, inputs]:
        raise WrongAnswer(
            f"initial({outputs}, {inputs}): expected sizes {[outputs, inputs]}, got {list(got.shape)}",
            "A weight has a row for each output, as in Linear: (outputs, inputs).",
        )
    return got.detach()


def idea_of(answer: Callable[..., Any]) -> str:
    """What the deviations of two weights of different sizes have in common with a known idea."""
    sizes = [(400, 100), (100, 400)]
    found = [weights(answer, *size).std().item() for size in sizes]
    for deviation, message in IDEAS:
        if all(abs(f / deviation(*size) - 1) < 0.1 for f, size in zip(found, sizes, strict=True)):
            return message
    if max(found) < 1e-6:
        return "All weights are equal, so all units of a layer compute the same and learn the same, for ever."
    return f"Measured deviations: {found[0]:.3g} for (400, 100), {found[1]:.3g} for (100, 400). Which should they be?"


def judge_tower(answer: Callable[..., Any], widths: list[int], text: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(256, widths[0])
    for inputs, outputs in zip(widths, widths[1:], strict=False):
        x = (x @ weights(answer, outputs, inputs).T).relu()
    size = (x * x).mean().sqrt().item()
    if not 1 / PAR <= size <= PAR:
        raise WrongAnswer(
            f"{text}: numbers of size 1 go in, of size {size:.3g} come out; par is 0.25 to 4", idea_of(answer)
        )


@WEIGHTS.case("one layer", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    torch.manual_seed(0)
    for outputs, inputs in ((400, 100), (100, 400)):
        x = torch.randn(256, inputs)
        y = (x @ weights(answer, outputs, inputs).T).relu()
        size = (y * y).mean().sqrt().item()
        if not 0.9 <= size <= 1.1:
            said = f"initial({outputs}, {inputs}), then a relu: numbers of size 1 go in, of size {size:.3g} come out"
            raise WrongAnswer(said, idea_of(answer))


@WEIGHTS.case("a tower of 30 layers", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_tower(answer, [256] * 31, "30 layers of 256")


@WEIGHTS.case("layers of changing widths", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_tower(answer, [512, *[256, 128] * 10, 32], "512 inputs, 20 layers of 256 and 128, 32 outputs")
