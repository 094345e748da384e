"""Exercise 18.3: how near two ways to compute a loss are, over a whole training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.on_mini import OnMini, mini

from .on_digits import loss_of

HOW_NEAR = OnMini(
    "18.3",
    "how near?",
    answer="how_near",
    minutes=20,
    hints=(
        "Two runs, each from the beginning. What must be the same in both, and what may differ?",
        "make() draws its weights from nn.random. Set nn.random = np.random.default_rng(0) before each run.",
        "Per step: zero_grad, loss, backward, step, and loss.item() into a list. Then max(abs(a - b)) of both lists.",
    ),
    seconds=90,
    megabytes=2048,
)
SECTION = "The door"
FRESH = "Two equal losses from the same beginning are apart by nothing. Does the second run begin where the first did?"
LAST = "They were apart in the middle, and together again at the end. Look at all steps."
FIRST = "The losses of the first step are equal, and the gradients are not. That is seen only once a step was taken."
CLEARED = "The difference is that of runs in which old gradients are added to new ones. Who clears them?"
SIGNED = "The second loss may be the larger one. What counts is how far apart they are."


def problem() -> tuple[Callable[[], Any], list[tuple[Any, Any]]]:

    draw = np.random.default_rng(5)
    data = [
        (
            mini.tensor.from_numpy(draw.random((8, 6), dtype=np.float32) + (n == 2)),
            mini.tensor.from_numpy(draw.integers(0, 3, 8)),
        )
        for n in range(5)
    ]
    return lambda: mini.nn.Linear(6, 3), data


def wrong_gradient(model: Any, x: Any, targets: Any) -> Any:
    """The loss itself, and a gradient with something added to it."""
    weight = model.weight
    with mini.nn.no_grad():
        same = (weight * weight).sum()
    return loss_of()(model, x, targets) + 3 * (weight * weight).sum() - same * 3


def once_more(model: Any, x: Any, targets: Any) -> Any:
    """Half more at the batch whose numbers lie above 1; the gradient is right."""
    return loss_of()(model, x, targets) + (0.5 if x.numpy().mean() > 1 else 0.0)


def losses(make: Callable[[], Any], data: Sequence[Any], loss: Callable[..., Any], *, clear: bool) -> list[float]:

    mini.nn.random = np.random.default_rng(0)
    model, found = make(), []
    optimizer = mini.nn.Adam(model.parameters(), lr=0.01)
    for x, targets in data:
        if clear:
            optimizer.zero_grad()
        value = loss(model, x, targets)
        value.backward()
        optimizer.step()
        found.append(value.item())
    return found


def apart(first: Callable[..., Any], second: Callable[..., Any], *, clear: bool = True) -> list[float]:
    make, data = problem()
    pairs = zip(losses(make, data, first, clear=clear), losses(make, data, second, clear=clear), strict=True)
    return [a - b for a, b in pairs]


def given(answer: Callable[..., Any], first: Callable[..., Any], second: Callable[..., Any]) -> float:
    make, data = problem()
    got = answer(make, data, first, second)
    if not isinstance(got, (int, float)) or isinstance(got, bool) or math.isnan(got):
        raise WrongAnswer(f"how_near gave {got!r}, expected a number")
    return float(got)


@HOW_NEAR.case("the same twice", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    if (got := given(answer, loss_of(), loss_of())) != 0:
        raise WrongAnswer(f"the same loss twice: expected 0.0, got {got:.2g}", FRESH)


@HOW_NEAR.case("a loss that is off once", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    got = given(answer, loss_of(), once_more)
    if not math.isclose(got, 0.5, abs_tol=1e-4):
        is_signed = math.isclose(given(answer, once_more, loss_of()), 0.5, abs_tol=1e-4)
        raise WrongAnswer(f"a loss that is 0.5 more at the third step: got {got:.2g}", SIGNED if is_signed else LAST)


@HOW_NEAR.case("a wrong gradient", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    got, differences = given(answer, loss_of(), wrong_gradient), apart(loss_of(), wrong_gradient)
    expected = max(map(abs, differences))
    if not math.isclose(got, expected, rel_tol=1e-3, abs_tol=1e-6):
        uncleared = max(map(abs, apart(loss_of(), wrong_gradient, clear=False)))
        why = CLEARED if math.isclose(got, uncleared, rel_tol=1e-3) else FIRST if got < 1e-5 else LAST
        raise WrongAnswer(f"the right loss, a wrong gradient: expected {expected:.4g}, got {got:.4g}", why)


@HOW_NEAR.case("eager and compiled", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:

    if (got := given(answer, loss_of(), wrong_gradient)) < 1e-3:
        raise WrongAnswer(f"a wrong gradient is apart by {got:.2g} only", FIRST)
    if (got := given(answer, loss_of(), mini.front.compile(loss_of()))) > 1e-4:
        raise WrongAnswer(f"eager and compiled: expected less than 1e-4, got {got:.2g}", FRESH)
