"""Exercise 09.1: a training loop with two bugs, judged by what the model and the optimizer see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import nn
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.far.there import there

LOOP = Exercise(
    "09.1",
    "find the bugs: a training loop",
    answer="fit",
    minutes=10,
    hints=(
        "Print two things in the loop: model.training before each batch, and the size of a gradient before each step.",
        "backward() adds to .grad. And model.eval() holds until somebody says otherwise.",
        "optimizer.zero_grad() before each backward(), and model.train() at the beginning of each epoch.",
    ),
)
SECTION = "Schedules and clipping"
MODES = "Two modes, and numbers that aren't trained"
BATCHES = [
    (torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1])),
    (torch.tensor([[2.0, 1.0]]), torch.tensor([1])),
    (torch.tensor([[-1.0, 1.0]]), torch.tensor([0])),
]
TEST = (torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), torch.tensor([0, 1, 1]))


class Probe(nn.Module):
    """A linear model that writes down how it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[0.5, -1.0], [1.0, 0.25]]))
        self.calls: list[tuple[int, bool, bool]] = []  # (images, training, recorded on the tape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.append((len(x), self.training, torch.is_grad_enabled()))
        return x @ self.weight.T


class Spy(torch.optim.SGD):
    """Writes down the gradient at each step, and takes none: so each batch's gradient stays what it was."""

    def __init__(self, model: Probe) -> None:
        super().__init__(model.parameters(), lr=1.0)
        self.watched, self.seen = model.weight, list[Any]()

    def step(self, closure: Any = None) -> None:
        self.seen.append(None if self.watched.grad is None else self.watched.grad.flatten().tolist())


@there
def watched(answer: Callable[..., Any], epochs: int) -> tuple[Any, list[Any], list[Any]]:
    """The learner's loop, run on a model and an optimizer that write down what they see."""
    model = Probe()
    spy = Spy(model)
    scores = answer(model, spy, BATCHES, TEST, epochs)
    return scores, spy.seen, model.calls


def watch(answer: Callable[..., Any], epochs: int) -> tuple[list[Any], list[Any]]:
    """What the model and the optimizer have written down: each call, and the gradient at each step."""
    found = outcome(watched, (answer, epochs))
    scores, seen, calls = found if isinstance(found, tuple) else (found, [], [])
    if not isinstance(scores, list) or len(scores) != epochs:
        raise WrongAnswer(f"fit(..., epochs={epochs}): expected a list of {epochs} scores, got {scores!r}")
    steps = epochs * len(BATCHES)
    if len(seen) != steps:
        why = "One step a batch: no more, no fewer."
        raise WrongAnswer(f"{epochs} epochs of 3 batches: expected {steps} steps, got {len(seen)}", why)
    return calls, seen


def gradients() -> list[list[float]]:
    weight = Probe().weight
    losses = [F.cross_entropy(images @ weight.T, labels) for images, labels in BATCHES]
    return [torch.autograd.grad(loss, weight)[0].flatten().tolist() for loss in losses]


def equal(a: list[float], b: list[float]) -> bool:
    return all(abs(x - y) < 1e-5 for x, y in zip(a, b, strict=True))


@LOOP.case("each step sees the gradient of its own batch", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    _, seen = watch(answer, epochs=2)
    expected = gradients() * 2
    right = [each is not None and equal(each, wanted) for each, wanted in zip(seen, expected, strict=True)]
    if all(right):
        return
    at = right.index(False)
    if all(each is None or not any(each) for each in seen):
        why = "You clear the gradients between backward() and step(): the optimizer sees nothing. Clear them before."
    elif right[len(BATCHES)]:
        why = "You clear the gradients once an epoch. Each backward() adds, so they must be cleared for each batch."
    else:
        why = "backward() adds to .grad, so this step follows the sum of all batches so far. Clear the gradients first."
    raise WrongAnswer(
        f"step {at + 1}: the gradient of its batch is {short(expected[at])}, the optimizer saw {short(seen[at])}",
        why,
    )


def short(numbers: list[float] | None) -> str:
    return "None" if numbers is None else f"[{', '.join(f'{x:.3f}' for x in numbers)}]"


@LOOP.case("each forward pass runs in its mode", points=2, section=MODES)
def _(answer: Callable[..., Any]) -> None:
    calls, _ = watch(answer, epochs=2)
    for number, (images, training, recorded) in enumerate(calls):
        epoch, is_test = number // (len(BATCHES) + 1) + 1, images == len(TEST[0])
        what = f"epoch {epoch}, a {'test' if is_test else 'batch'} of {images}"
        if is_test and training:
            why = "The test ran in training mode: dropout drops, and the scores depend on the batch. It needs eval()."
            raise WrongAnswer(f"{what}: model.training is True", why)
        if is_test and recorded:
            why = "The test is recorded on the tape. Scores need no gradients: no_grad(). It is not the same as eval()."
            raise WrongAnswer(f"{what}: gradients are enabled", why)
        if not is_test and not training:
            why = "After the first test the model stays in eval mode: say train() again before the next batch."
            raise WrongAnswer(f"{what}: model.training is False", why)
