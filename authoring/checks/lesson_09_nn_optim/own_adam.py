"""Exercise 09.8: Adam, as a class that writes into parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

OWN_ADAM = Step(
    "09.8",
    "Adam",
    file="nn",
    minutes=15,
    hints=(
        "For each parameter two tensors are kept, zeros at first: the mean of its gradients, and that of their squares."
        " A step moves both a little, then the parameter. Nobody may note that for a gradient.",
        "mean becomes mean * a + grad * (1 - a), written with copy_; square likewise with grad * grad and b. For this"
        " step only they are divided by 1 - a ** steps and 1 - b ** steps; the first step has number 1.",
        "with no_grad(): ... p.sub_(mean * (lr / (1 - a ** steps)) / ((square / (1 - b ** steps)).sqrt() + eps)). A p"
        " whose grad is None is passed over.",
    ),
)
SECTION = "An optimizer is a function"
BETAS = (0.8, 0.9)
NOTED = "A step is no part of what is derived: work under no_grad()."


def expected(gradients: list[float], lr: float, eps: float, idea: str = "") -> list[float]:
    """p after each step, from 1; `idea` names a mistake that somebody may make."""
    p, mean, square, path = 1.0, 0.0, 0.0, []
    a, b = BETAS
    for step, g in enumerate(gradients, 0 if idea == "from 0" else 1):
        mean, square = mean * a + g * (1 - a), square * b + g * g * (1 - b)
        if idea == "forgets":
            mean, square = g * (1 - a), g * g * (1 - b)
        corrected = (mean, square) if idea == "uncorrected" else (mean / (1 - a**step), square / (1 - b**step))
        p -= lr * corrected[0] / ((corrected[1] + eps) ** 0.5 if idea == "eps inside" else corrected[1] ** 0.5 + eps)
        path.append(p)
    return path


IDEAS = {
    "uncorrected": "Both means begin at 0, so the first ones are too small: divide by 1 - beta ** steps.",
    "forgets": "Each step began anew: the means of the step before must be kept, by copy_.",
    "eps inside": "eps is added to the root, not under it.",
}


def steps(mini: Any, gradients: list[float], lr: float, eps: float) -> list[float]:
    p = mini.nn.parameter([1.0])
    optimizer, path = mini.nn.Adam([p], lr, BETAS, eps), []
    for g in gradients:
        p.grad = mini.tensor.tensor([g])
        optimizer.step()
        path.append(p.item())
    return path


def judge(mini: Any, gradients: list[float], lr: float, eps: float, why: str) -> None:
    wanted, got = expected(gradients, lr, eps), outcome(steps, (mini, gradients, lr, eps))
    said = f"p = 1, gradients {gradients}, lr {lr}, betas {BETAS}, eps {eps}"
    if not isinstance(got, list):
        raise WrongAnswer(f"{said}: got {got!r}", NOTED if "no_grad" in repr(got) else why)
    if np.allclose(got, wanted, rtol=1e-4):
        return
    told = [m for idea, m in IDEAS.items() if np.allclose(got, expected(gradients, lr, eps, idea), rtol=1e-4)]
    fact = f"{said}: expected {np.round(wanted, 5).tolist()}, got {np.round(got, 5).tolist()}"
    raise WrongAnswer(fact, told[0] if told else why)


@OWN_ADAM.case("the first step moves by lr, whatever the gradient", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "After one step both corrected means are those of this gradient: g / sqrt(g * g) is 1 or -1."
    for g in (1.0, -1000.0):
        judge(mini, [g], 0.1, 1e-8, why)


@OWN_ADAM.case("several steps", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "mean * a + grad * (1 - a), and the same with b for the squares; then the step, with both corrected."
    judge(mini, [1.0, 2.0], 0.1, 1e-8, why)
    judge(mini, [1.0, -2.0, 0.5, 3.0], 0.01, 0.5, why)


@OWN_ADAM.case("parameters are written to, and nothing is noted", points=2, section=SECTION)
def _(mini: Any) -> None:
    p, other = mini.nn.parameter([1.0, 2.0]), mini.nn.parameter([3.0])
    optimizer = mini.nn.Adam(iter([p, other]), 0.1)
    storage = p.storage
    (p * p).sum().backward()
    try:
        optimizer.step()
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except RuntimeError as error:
        raise WrongAnswer(f"step raised {error!r}", NOTED) from error
    except Exception as error:
        why = "A parameter that took no part in the loss has no gradient, None: pass it over."
        raise WrongAnswer(f"step, with a parameter whose grad is None: it raised {error!r}", why) from error
    if p.storage is not storage or p.grad_fn is not None or not np.allclose(p.tolist(), [0.9, 1.9], atol=1e-4):
        why = "Write into the parameter, p.sub_(...): the model holds this tensor, and would not see another."
        raise WrongAnswer(f"after a step of p = [1, 2], loss p * p: expected [0.9, 1.9] in p's memory, got {p!r}", why)
    optimizer.zero_grad()
    if p.grad is not None:
        raise WrongAnswer(
            f"after zero_grad: expected None as p.grad, got {p.grad!r}", "backward adds to what is there: clear it."
        )


@OWN_ADAM.case("a model learns", points=1, section=SECTION)
def _(mini: Any) -> None:
    x, y = mini.tensor.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), mini.tensor.tensor([0, 1, 1, 1])
    model = mini.nn.Linear(2, 2)
    optimizer, losses = mini.nn.Adam(model.parameters(), 0.1), []
    for _step in range(60):
        optimizer.zero_grad()
        loss = mini.nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if not losses[-1] < 0.2:
        why = "Get the cases above to pass first; then the loss falls from about 0.7 to below 0.2."
        raise WrongAnswer(f"60 steps of `or`: the loss went from {losses[0]:.3f} to {losses[-1]:.3f}", why)
