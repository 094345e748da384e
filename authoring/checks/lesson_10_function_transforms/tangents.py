"""Exercise 10.7: how a result moves, by two passes back."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles

TANGENTS = Step(
    "10.7",
    "forwards, by two passes back",
    file="transforms",
    minutes=20,
    hints=(
        "The lesson's push_forward does it with the package. Your `grad` takes a function with one number for a"
        " result, and"
        " gives the gradient in its first argument.",
        "The way back for weights g: grad(lambda v: (function(v) * g).sum())(x). It has the sizes of x.",
        "def weighted(g): return (the way back for g * t).sum(). The tangent is grad(weighted) at any g: take the"
        " value itself,"
        " function(ops.clone(x)).",
    ),
)
SECTION = "Forwards, by two passes backwards"
DIRECTION = "Backwards alone leads the other way: how one number moves with all of x. Its own way back turns it round."
WEIGHTS = "x moves along t: weight each slope with it before you sum."
LINEAR = "What you take the second gradient of must depend on g: the way back begins with it."


MATRIX = np.arange(6.0).reshape(3, 2)


def programs(mini: Any) -> list[tuple[str, Any]]:
    matrix = doubles(mini, MATRIX)
    return [
        ("A @ v", lambda v: (matrix @ v.reshape(2, 1)).reshape(3)),
        ("v**3", lambda v: v**3),
        ("v * v.sum()", lambda v: v * v.sum()),
    ]


@TANGENTS.case("of the result's sizes", points=1, section=SECTION)
def _(mini: Any) -> None:
    x, t = doubles(mini, [1.0, 2.0]), doubles(mini, [1.0, 10.0])
    for text, f in programs(mini):
        value, tangent = tried(f"jvp(lambda v: {text}, ...)", "", mini.transforms.jvp, f, x, t)
        expect(
            f"jvp(lambda v: {text}, [1, 2], [1, 10]): the value", f(x).tolist(), value.tolist(), "It is function(x)."
        )
        expect(f"jvp(lambda v: {text}, [1, 2], [1, 10]): the tangent's sizes", value.sizes, tangent.sizes, DIRECTION)


@TANGENTS.case("against differences", points=2, section=SECTION)
def _(mini: Any) -> None:
    x, t, step = np.array([1.0, 2.0]), np.array([1.0, 10.0]), 1e-6
    for text, f in programs(mini):
        ends = [f(doubles(mini, x + move * t)).numpy() for move in (step, -step)]
        wanted = (ends[0] - ends[1]) / (2 * step)
        tangent = mini.transforms.jvp(f, doubles(mini, x), doubles(mini, t))[1].numpy()
        if tangent.shape != wanted.shape or not np.allclose(tangent, wanted, atol=1e-5):
            shown = [round(float(number), 4) for number in wanted]
            raise WrongAnswer(
                f"jvp(lambda v: {text}, [1, 2], [1, 10]): it moves by {shown}, got {tangent.tolist()}",
                WEIGHTS if tangent.any() else LINEAR,
            )


@TANGENTS.case("what does not move", points=1, section=SECTION)
def _(mini: Any) -> None:
    x, t = doubles(mini, [1.0, 2.0]), doubles(mini, [1.0, 10.0])
    why = "It does not depend on x: the value as it is, and a tangent of zeros of its sizes."
    constant = lambda v: doubles(mini, [5.0, 6.0, 7.0])
    value, tangent = tried("jvp(lambda v: constant)", why, mini.transforms.jvp, constant, x, t)
    expect("jvp of a constant", ([5.0, 6.0, 7.0], [0.0] * 3), (value.tolist(), tangent.tolist()), why)


@TANGENTS.case("x stays as it was", points=1, section=SECTION)
def _(mini: Any) -> None:
    x, t = doubles(mini, [1.0, 2.0]), doubles(mini, [1.0, 10.0])
    with suppress(RuntimeError):  # its gradient is refused
        mini.transforms.jvp(lambda v: mini.ops.copy_(v, t), x, t)
    expect("x, after the jvp of a function that writes into v", [1.0, 2.0], x.tolist(), "x was written to: clone it.")
