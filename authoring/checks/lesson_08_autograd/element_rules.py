"""Exercise 08.5: derivatives, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import tried
from .nudging import by_nudging, close, doubles, rounded

ELEMENT_RULES = Step(
    "08.5",
    "derivatives, element by element",
    file="tape",
    minutes=25,
    hints=(
        "A rule gives a list with one gradient for each tensor: g times the slope there. Write it with"
        " tensors' operators and methods,"
        " so that it can be derived and traced itself.",
        "Take what is there: exp's slope is its result, out; so it is for sqrt (1 / (2 out)), tanh (1 -"
        " out out), sigmoid (out (1 - out)),"
        " relu (out > 0), and the y of x / y gets -g out / y. sin, cos, log and mul need the arguments.",
        "maximum: [larger(g, x, y), larger(g, y, x)] with larger(g, x, y) = g / 2 where x equals y, g"
        " where y < x, 0 elsewhere. where:"
        " [None, where(chosen, g, 0), where(chosen, 0, g)]. copy_: [None, g].",
    ),
)
SECTION = "How do you know that a formula is right?"
RULES: dict[str, tuple[int, str]] = {
    "add": (2, "A nudge of either argument moves the sum as much."),
    "sub": (2, "What is subtracted moves the result the other way."),
    "mul": (2, "A nudge of x is multiplied by y: each gets the other one."),
    "div": (2, "The more you divide by, the smaller the result: -x / y**2, which is -out / y."),
    "neg": (1, "Its slope is -1 everywhere."),
    "exp": (1, "It is its own slope."),
    "log": (1, "Its slope is 1 / x."),
    "sqrt": (1, "Its slope is 1 / (2 sqrt(x)): steep near 0, flat far out."),
    "tanh": (1, "Its slope is 1 - tanh(x) squared."),
    "sin": (1, "Its slope is cos(x)."),
    "cos": (1, "Its slope is -sin(x)."),
    "sigmoid": (1, "Its slope is out (1 - out)."),
    "relu": (1, "Where the result is 0 a nudge changes nothing."),
    "maximum": (2, "Only the larger one gets the gradient."),
    "clone": (1, "A copy moves as its original."),
}


def ruled(mini: Any, name: str, g: Any, out: Any, *args: Any) -> list[Any]:
    """What a rule gives, if it has fakes for the tensors which it says it doesn't read."""
    rules = mini.tape.DERIVATIVES
    op = getattr(mini.ops, "to_" if name == "to" else name)
    if op not in rules:
        raise WrongAnswer(f"DERIVATIVES has no rule for {name}", "It gets a line, as the others.")
    names = rules[op].__code__.co_varnames
    given = [out, *args]
    hidden = (
        "It reads numbers of a tensor whose name it wrote with an underscore: nobody would notice a write to that one."
    )
    for at, value in enumerate(given):
        if isinstance(value, mini.tensor.Tensor) and names[at + 1].startswith("_"):
            given[at] = mini.tensor.fake(value.sizes, value.dtype)
    gradients = tried(f"the rule of {name}", "", rules[op], g, *given)
    for part in gradients:
        if isinstance(part, mini.tensor.Tensor):
            tried(f"the rule of {name}, a lambda of {', '.join(names)}", hidden, part.numpy)
    return list(gradients)


@ELEMENT_RULES.case("slopes, by nudging", points=3, section=SECTION)
def _(mini: Any) -> None:
    for name, (count, why) in RULES.items():
        op = getattr(mini.ops, name)
        low = 0.3 if name in ("log", "sqrt") else -1.7
        for values in ([[0.7], [1.3]], [np.linspace(low, 1.9, 5), np.linspace(2.3, 0.4, 5)]):
            args = tuple(doubles(mini, value) for value in values[:count])
            g = np.linspace(1.0, 2.0, len(values[0]))
            got = ruled(mini, name, doubles(mini, g), op.run(*args), *args)
            if len(got) != count:
                raise WrongAnswer(f"the rule of {name} gives {len(got)} gradients", f"It has {count} arguments.")
            for at in range(count):
                wanted = by_nudging(op, args, at, g)
                if not close(wanted, got[at]):
                    asked = f"{name}{tuple(rounded(arg.numpy()) for arg in args)}, gradient {rounded(g)}, argument {at}"
                    raise WrongAnswer(f"{asked}: nudging gives {rounded(wanted)}, the rule {got[at]!r}", why)


@ELEMENT_RULES.case("where nudging has no answer", points=1, section=SECTION)
def _(mini: Any) -> None:
    x, g = doubles(mini, [1.0, 2.0, 3.0]), doubles(mini, [1.0, 1.0, 1.0])
    y = doubles(mini, [2.0, 2.0, 2.0])
    got = [part.tolist() for part in ruled(mini, "maximum", g, mini.ops.maximum.run(x, y), x, y)]
    if got != [[0, 0.5, 1], [1, 0.5, 0]]:
        why = "Where both are the largest, each gets half: as PyTorch does, and the sum is right."
        raise WrongAnswer(f"maximum of [1, 2, 3] and 2: expected [[0, 0.5, 1], [1, 0.5, 0]], got {got}", why)
    got = ruled(mini, "relu", g, mini.ops.relu.run(x - y), x - y)
    if got[0].tolist() != [0, 0, 1]:
        raise WrongAnswer(
            f"relu of [-1, 0, 1]: expected [0, 0, 1], got {got[0].tolist()}", "At 0 the slope is taken as 0."
        )


@ELEMENT_RULES.case("choices, casts and writes", points=1, section=SECTION)
def _(mini: Any) -> None:
    x, y, g = (doubles(mini, values) for values in ([1.0, 2.0], [3.0, 4.0], [10.0, 20.0]))
    chosen = mini.ops.lt.run(x, 2)
    got = ruled(mini, "where", g, x, chosen, x, y)
    if got[0] is not None or [part.tolist() for part in got[1:]] != [[10, 0], [0, 20]]:
        why = "The condition has no slope: None. The gradient of an element goes to the one that was taken."
        raise WrongAnswer(f"where([True, False], x, y), gradient [10, 20]: got {got!r}", why)
    if ruled(mini, "to", g, x, x, "float64")[0].tolist() != g.tolist():
        raise WrongAnswer("to does not pass the gradient on", "The note casts it back; the rule passes it on.")
    got = ruled(mini, "copy_", g, x, x, y)
    if got[0] is not None or got[1].tolist() != g.tolist():
        raise WrongAnswer(
            f"x.copy_(y), gradient [10, 20]: got {got!r}", "What x was does not count: None. All goes to y."
        )
