"""Exercise 18.5: a model with a memory, which reads an image row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.on_mini import OnMini

from .on_digits import digits, made, percent, require_one_graph, scores_of, trained

ROW_BY_ROW = OnMini(
    "18.5",
    "row by row",
    answer="Rows",
    minutes=25,
    hints=(
        "A Python loop over the 8 rows. What goes from one turn to the next?",
        "The next state is tanh of a product of the row plus a product of the state; both products are made once.",
        "__init__: self.see = nn.Linear(8, 32), self.keep = nn.Linear(32, 32), self.say = nn.Linear(32, 10).",
    ),
    seconds=150,
    megabytes=2048,
)
SECTION = "A model of letters"
ENOUGH = 90.0
FORGETS = "The state of a row must go into that of the next. Else only the last row counts."
NO_ORDER = "If what the rows give is only added up, nobody knows which came first."
NOT_SHARED = "The same weights read each row: that is why the model is small, and why its kernels are compiled once."


def numbers(model: Any) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@ROW_BY_ROW.case("it remembers", points=2, section=SECTION)
def _(network: Any) -> None:
    model, images = made(network), digits()[1][:16]
    before = scores_of(model, images)
    for row in (7, 0):
        other = images.copy()
        other[:, row] = 1 - other[:, row]
        if np.abs(scores_of(model, other) - before).max() < 1e-6:
            raise WrongAnswer(f"row {row} of the images makes no difference to the scores", FORGETS)
    turned = images.copy()
    turned[:, [2, 5]] = turned[:, [5, 2]]
    if np.abs(scores_of(model, turned) - before).max() < 1e-6:
        raise WrongAnswer("with rows 2 and 5 exchanged the scores are the same", NO_ORDER)


@ROW_BY_ROW.case("the same weights for each row", points=1, section=SECTION)
def _(network: Any) -> None:
    model = made(network)
    scores_of(model, digits()[1][:1])
    shapes = [parameter.shape for parameter in model.parameters()]
    if (64 in {size for shape in shapes for size in shape[:1]}) or sum(shape[:1] == (8,) for shape in shapes) > 1:
        raise WrongAnswer(f"the parameters have the shapes {shapes}", NOT_SHARED)
    if numbers(model) > 4000:
        raise WrongAnswer(f"it has {numbers(model):,} parameters, expected at most 4,000", NOT_SHARED)


@ROW_BY_ROW.case("it trains through the stack", points=2, section=SECTION)
def _(network: Any) -> None:
    scores_of(made(network), digits()[1][:1])
    require_one_graph(network)
    if (reached := percent(trained(network))) < ENOUGH:
        raise WrongAnswer(
            f"after 15 epochs it reads {reached:.1f} percent, expected {ENOUGH:.0f} or more",
            "It has a state, and hasn't learned to use it. Does each parameter get a gradient?",
        )
