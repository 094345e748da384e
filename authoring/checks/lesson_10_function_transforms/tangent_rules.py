"""Exercise 10.8: how a result moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import tried
from ..lesson_08_autograd.nudging import doubles, rounded
from .looping import numbers

TANGENT_RULES = Step(
    "10.8",
    "how a result moves",
    file="transforms",
    minutes=20,
    hints=(
        "For one argument the rule gives J^T g, and the wanted tangent is J t. The number (J^T g) * t, summed, is"
        " g * (J t), summed: what is its gradient in g?",
        "Write a function of g alone, inside of `tangent`: it gives that number. grad(that function)(out): g may be any"
        " tensor of out's sizes, since the function is linear.",
        "zip(DERIVATIVES[op](g, out, *values), tangents) pairs each part with its tangent; the sum of (part * t).sum()"
        " over those whose t is not None.",
    ),
)
SECTION = "Forwards, by two passes backwards"
CALLS: list[tuple[str, list[tuple[int, ...]], tuple[Any, ...], str]] = [
    ("exp", [(3,)], (), "Each part of the rule is weighted with its tangent, and the sum has a gradient in g."),
    ("log_softmax", [(2, 3)], (1,), "Its Jacobian is not symmetric: the tape's rule alone leads the other way back."),
    ("div", [(3,), (3,)], (), "Only one argument moves, and one that does not move has none: leave out its part."),
    ("add", [(3,), (2, 3)], (), "The result's sizes: grad gives those of its argument, so ask it at `out`."),
    ("matmul", [(2, 3), (3, 4)], (), "The tape's rule alone leads the other way back."),
    ("sum_", [(2, 3)], ((1,), False), "It moves by the sum of the tangent. The tape's rule leads the other way back."),
    ("slice_backward", [(2,)], (0, 5, 1, 2), "The tangent is put among zeros, too."),
    ("to_", [(2,)], ("float32",), "The tangent is cast, too."),
    ("amax", [(3,)], ((0,), False), "The result moves as its largest element does: one number for each row."),
    ("amax", [(2, 3)], ((1,), True), "The result moves as its largest element does: one number for each row."),
]


@TANGENT_RULES.case("against differences", points=4, section=SECTION)
def _(mini: Any) -> None:
    step = 1e-6
    for name, shapes, rest, why in CALLS:
        op = getattr(mini.ops, name)
        arrays = [1.5 + numbers(sizes) * (1 if at else -1) for at, sizes in enumerate(shapes)]
        values = [*[doubles(mini, array) for array in arrays], *rest]
        out = op.run(*values)
        for i, array in enumerate(arrays):
            t = np.cos(np.arange(array.size)).reshape(array.shape)
            ends = []
            for move in (step, -step):
                moved = [*values[:i], doubles(mini, array + move * t), *values[i + 1 :]]
                ends.append(op.run(*moved).numpy().astype(np.float64))
            wanted = (ends[0] - ends[1]) / (2 * step)
            text = (
                f"{name} of {' and '.join(map(str, shapes))}{', ' if rest else ''}{', '.join(map(str, rest))},"
                f" argument {i}"
            )
            tangents = [doubles(mini, t) if at == i else None for at in range(len(values))]
            got = tried(text, why, mini.transforms.Forward().tangent, op, tangents, out, values)
            near = got is not None and got.sizes == wanted.shape
            if not near or not np.allclose(got.numpy(), wanted, atol=0.3 if name == "to_" else 1e-6):
                shown = rounded(got.numpy()) if hasattr(got, "numpy") else got
                raise WrongAnswer(f"{text}, tangent {rounded(t)}: it moves by {rounded(wanted)}, got {shown}", why)


@TANGENT_RULES.case("both move", points=1, section=SECTION)
def _(mini: Any) -> None:
    values = [doubles(mini, [3.0, 4.0]), doubles(mini, [5.0, 6.0])]
    tangents = [doubles(mini, [1.0, 10.0]), doubles(mini, [100.0, 1000.0])]
    why = "Both arguments move: their contributions are added up, y dx + x dy."
    out = mini.ops.mul.run(*values)
    got = tried("mul", why, mini.transforms.Forward().tangent, mini.ops.mul, tangents, out, values)
    if got.tolist() != [305.0, 4060.0]:
        raise WrongAnswer(f"x * y: expected [305, 4060], got {got.tolist()}", why)
