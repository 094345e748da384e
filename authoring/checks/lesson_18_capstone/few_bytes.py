"""Exercise 18.4: a reader of digits with few bytes."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.on_mini import OnMini

from .on_digits import digits as data
from .on_digits import made, percent, require_one_graph, scores_of, trained, untrained_numbers

FEW_BYTES = OnMini(
    "18.4",
    "97 percent to par",
    answer="Reader",
    minutes=25,
    hints=(
        "A weight is 4 bytes, wherever it stands. Which of the lesson's weights are the many?",
        "The first product of the MLP has 64 x 128 weights. With half as many hidden numbers, both products halve.",
        "32 hidden numbers are 64 * 32 + 32 + 32 * 10 + 10 weights; a layer normalisation of them 64 more.",
    ),
    seconds=150,
    megabytes=2048,
)
SECTION = "One text, two stacks"
PAR, ENOUGH = 10_000, 97.0
HIDDEN = "A list is searched for parameters, a tuple or a dict is not. What is not found stays as it was drawn."
MANY = "Where do the bytes sit? A product of n by m numbers has n * m weights."
STRAIGHT = "A single product draws straight borders between digits, and that isn't enough. What bends them?"
ALONE = "A score may depend on its own image only. Is anything taken over the whole batch?"


def size_of(model: Any) -> int:
    return 4 * sum(parameter.numel() for parameter in model.parameters())


def require_sound(network: Any) -> Any:
    model = made(network)
    if lost := untrained_numbers(model):
        raise WrongAnswer(f"{lost} numbers want a gradient, and parameters() doesn't give them", HIDDEN)
    images = data()[1]
    together, alone = scores_of(model, images[:8])[:1], scores_of(model, images[:1])
    if abs(together - alone).max() > 1e-3:
        raise WrongAnswer("an image has other scores alone than among seven others", ALONE)
    return model


@FEW_BYTES.case("a model in one graph", points=0, section=SECTION)
def _(network: Any) -> None:
    require_sound(network)
    require_one_graph(network)


@FEW_BYTES.case("to par", points=2, section=SECTION)
def _(network: Any) -> None:
    if (size := size_of(require_sound(network))) > PAR:
        raise WrongAnswer(f"its parameters have {size:,} bytes, par is {PAR:,}", MANY)


@FEW_BYTES.case("it reads", points=2, section=SECTION)
def _(network: Any) -> None:
    require_sound(network)
    if (reached := percent(trained(network))) < ENOUGH:
        raise WrongAnswer(f"after 15 epochs it reads {reached:.1f} percent, expected {ENOUGH:.0f} or more", STRAIGHT)
