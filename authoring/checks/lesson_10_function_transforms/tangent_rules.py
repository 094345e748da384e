"""Exercise 10.8: how a result moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..lesson_08_autograd.trying import doubles, rounded, tried
from .looping import numbers

TANGENT_RULES = Step(
    "10.8",
    "how a result moves",
    file="transforms",
    minutes=20,
    hints=(
        "A derivative rule multiplies by the transposed Jacobian. Element by element the Jacobian is"
        " diagonal, and that of softmax is"
        " symmetric: there the rule does for both directions: DERIVATIVES[op](t, out, *values)[i].",
        "A product is linear in each argument: t @ y, and x @ t. Sums, casts and padding are linear: the"
        " op itself, of t. These come last.",
        "amax: DERIVATIVES[op](ones, out, *values)[0] says which share each element has; sum share * t"
        " over the dims. log_softmax:"
        " t - (out.exp() * t).sum(dim, True).",
    ),
)
SECTION = "Forwards, by two passes backwards"
CALLS: list[tuple[str, list[tuple[int, ...]], tuple[Any, ...], str]] = [
    ("exp", [(3,)], (), "Element by element the rule of the tape does for both directions."),
    ("div", [(3,), (3,)], (), "Of the rule's gradients take the one of argument i."),
    ("softmax", [(2, 3)], (1,), "Its Jacobian is symmetric: the rule of the tape does."),
    ("log_softmax", [(2, 3)], (1,), "Its Jacobian is not symmetric: t minus the mean of t under the softmax."),
    ("matmul", [(2, 3), (3, 4)], (), "A product is linear in each argument: t @ y, x @ t."),
    (
        "sum_",
        [(2, 3)],
        ((1,), False),
        "It is linear: it moves by the sum of the tangent. The tape's rule leads the other way back.",
    ),
    ("slice_backward", [(2,)], (0, 5, 1, 2), "It is linear: the tangent is put among zeros, too."),
    ("to_", [(2,)], ("float32",), "It is linear: the tangent is cast, too."),
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
            got = tried(text, why, mini.transforms.Forward().tangent, op, i, doubles(mini, t), out, values)
            near = got is not None and got.sizes == wanted.shape
            if not near or not np.allclose(got.numpy(), wanted, atol=0.3 if name == "to_" else 1e-6):
                shown = rounded(got.numpy()) if hasattr(got, "numpy") else got
                raise WrongAnswer(f"{text}, tangent {rounded(t)}: it moves by {rounded(wanted)}, got {shown}", why)


@TANGENT_RULES.case("several are the largest", points=1, section=SECTION)
def _(mini: Any) -> None:
    values = [doubles(mini, [3.0, 1.0, 3.0]), (0,), False]
    out = mini.ops.amax.run(*values)
    got = tried(
        "amax", "", mini.transforms.Forward().tangent, mini.ops.amax, 0, doubles(mini, [1.0, 5.0, 2.0]), out, values
    )
    if got.tolist() != 1.5:
        why = "The largest share it, here as in the gradient: half of 1 and half of 2."
        raise WrongAnswer(f"amax of [3, 1, 3], tangent [1, 5, 2]: expected 1.5, got {got.tolist()}", why)
