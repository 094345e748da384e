"""Exercise 09.2: one step of AdamW for one parameter, and the package's optimizer running on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.optim.functional import AdamState, adamw

ADAMW = Exercise(
    "09.2",
    "a step of AdamW",
    answer="adamw_step",
    minutes=15,
    hints=(
        "Four lines move the state: step, exp_avg, exp_avg_sq. Then p shrinks by the decay, then it takes its step.",
        "Both means begin at zero: divide exp_avg by 1 - beta1 ** step and exp_avg_sq by 1 - beta2 ** step, where the"
        " first step has number 1.",
        "p = p * (1 - lr * weight_decay) - lr * mean / (square.sqrt() + eps), mean and square being the corrected"
        " ones; the state keeps the uncorrected.",
    ),
)
SECTION = "An optimizer is a function"
PACKAGE = "The package's own"
OPTIONS: dict[str, Any] = {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-8, "weight_decay": 0.0}
UpdateRule = Callable[..., Any]
IDEAS = {
    "uncorrected": "Both means start from zero, so the first steps are wrong without bias correction: divide by"
    " 1 - beta ** step.",
    "in the gradient": "Your weight decay goes through the division by the root of the squares. In AdamW it shrinks"
    " p itself.",
    "eps inside": "eps is added to the root, not under it: square.sqrt() + eps.",
    "no root": "Divide by the root of the mean square, or large gradients take small steps and small ones huge steps.",
    "no decay": "weight_decay is an argument that changes nothing in your step: p shrinks by lr * weight_decay.",
    "corrected state": "You kept the corrected means in the state. The correction is for this step only: keep the"
    " means themselves.",
}


def variant(idea: str, p: Any, g: Any, state: Any, lr: float, betas: Any, eps: float, weight_decay: float) -> Any:
    """A step by someone who has this idea."""
    if idea == "in the gradient":
        g = g + weight_decay * p
    step = state.step + 1
    mean, square = state.exp_avg * betas[0] + g * (1 - betas[0]), state.exp_avg_sq * betas[1] + g * g * (1 - betas[1])
    kept, corrected = (mean, square), (mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step))
    if idea == "corrected state":
        kept = corrected
    mean, square = kept if idea == "uncorrected" else corrected
    if idea not in ("no decay", "in the gradient"):
        p = p * (1 - lr * weight_decay)
    size = square if idea == "no root" else (square + eps).sqrt() if idea == "eps inside" else square.sqrt()
    return p - lr * mean / (size if idea == "eps inside" else size + eps), AdamState(step, *kept)


def several(step: UpdateRule, gradients: list[float], options: dict[str, Any]) -> list[tuple[float, ...]]:
    """(p, step, exp_avg, exp_avg_sq) after each of several steps, from p = 1."""
    p, zero = torch.tensor([1.0]), torch.tensor([0.0])
    state, rows = AdamState(0, zero, zero), list[tuple[float, ...]]()
    for gradient in gradients:
        p, state = step(p, torch.tensor([gradient]), state, **options)
        rows.append((p.item(), float(state.step), state.exp_avg.item(), state.exp_avg_sq.item()))
    return rows


def right(p: Any, g: Any, state: Any, **options: Any) -> Any:
    (p,), (state,) = adamw([p], [g], [state], **options)
    return p, state


def near(a: Any, b: Any) -> bool:
    return all(abs(x - y) <= 1e-4 * (1 + abs(y)) for r, s in zip(a, b, strict=True) for x, y in zip(r, s, strict=True))


def judge(answer: UpdateRule, gradients: list[float], **changed: Any) -> None:
    options = OPTIONS | changed
    expected, got = several(right, gradients, options), outcome(several, (answer, gradients, options))
    said = f"p = 1, gradients {gradients}, {', '.join(f'{k}={v}' for k, v in options.items())}"
    if not isinstance(got, list):
        why = "Return two things: the new p, and state._replace(step=..., exp_avg=..., exp_avg_sq=...)."
        raise WrongAnswer(f"{said}: got {got!r}", why)
    if near(got, expected):
        return
    at = next(i for i in range(len(got)) if not near(got[i : i + 1], expected[i : i + 1]))
    names = ("p", "step", "exp_avg", "exp_avg_sq")
    shown = [", ".join(f"{n} {v:.5g}" for n, v in zip(names, row[at], strict=True)) for row in (expected, got)]
    raise WrongAnswer(
        f"{said}, after step {at + 1}: expected {shown[0]}; got {shown[1]}", idea_of(got, gradients, options)
    )


def idea_of(got: list[tuple[float, ...]], gradients: list[float], options: dict[str, Any]) -> str:
    if all(row[1] == 0 for row in got) or (len(got) > 1 and len({row[1:] for row in got}) == 1):
        return "The state you returned is the one that came in. Without a new state every step is the first."
    for idea, message in IDEAS.items():
        if near(got, several(lambda *args, idea=idea, **named: variant(idea, *args, **named), gradients, options)):
            return message
    return "Work out the first step on paper: with zero means, no decay and no eps it moves p by exactly lr."


@ADAMW.case("the first step moves by lr, whatever the gradient", points=1, section=SECTION)
def _(answer: UpdateRule) -> None:
    judge(answer, [1.0])
    judge(answer, [1000.0])


@ADAMW.case("several steps", points=2, section=SECTION)
def _(answer: UpdateRule) -> None:
    judge(answer, [1.0, 1.0])
    judge(answer, [1.0, -2.0, 0.5, 3.0])


@ADAMW.case("eps and decay in their places", points=2, section=SECTION)
def _(answer: UpdateRule) -> None:
    judge(answer, [2.0, 1.0], eps=0.5)
    judge(answer, [2.0, 1.0], weight_decay=0.5)


@ADAMW.case("spliced in, optim.AdamW trains by it", points=1, section=PACKAGE)
def _(answer: UpdateRule) -> None:
    def trained() -> list[float]:
        w = nn.Parameter(torch.tensor([3.0, -1.0]))
        optimizer = torch.optim.AdamW([w], lr=0.1)
        for _ in range(10):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        return w.tolist()

    expected = trained()
    with splice("optim.adam", answer):
        got = outcome(trained, ())
    if not isinstance(got, list) or not near([got], [expected]):
        why = "The package called your step for each parameter. Get the cases above to pass first."
        raise WrongAnswer(f"ten steps of optim.AdamW on w * w: expected {expected}, got {got!r}", why)
