"""Exercise 13.11: views and padding as maps of an index."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .run_loops import at

OWN_INVERSES = Step(
    "13.11",
    "the inverse of an index",
    file="loops",
    minutes=15,
    hints=(
        "The question is always: of the new box element `index` is wanted; which element of the old one is that? "
        "For x[2:8:3] it"
        " is index * 3 + 2.",
        "permute: new dimension p shows the old one dims[p]. So old dimension d gets the index of the place where d "
        "stands in dims.",
        "among_zeros: i = index[dim] - start. It is one of x's if 0 <= i < step * x.sizes[dim], and i % step is 0 "
        "(left out for a"
        " step of 1); then element i // step. h.inside(conditions, lambda: x.at(h, inner), dtype): read only where "
        "it is.",
    ),
)
SECTION = "Lowering, rule by rule"


def box_of(mini: Any, array: Any) -> tuple[Any, dict[Any, Any]]:
    layout = mini.tensor.Layout.dense(array.shape)
    buffer = mini.loops.Buffer("x0", array.shape, array.dtype, layout)
    return mini.loops.stored(buffer, layout), {buffer: array.reshape(-1)}


def judge(mini: Any, body: Any, memory: Any, expected: Any, said: str, why: str) -> None:
    for index in np.ndindex(expected.shape):
        try:
            got = at(mini, memory, body, index)
        except IndexError as error:
            raise WrongAnswer(f"{said}, element {index}: it read {error}", why) from None
        if got != expected[index]:
            raise WrongAnswer(f"{said}, element {index}: expected {expected[index]}, got {got}", why)


@OWN_INVERSES.case("views", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = np.arange(24, dtype="float32").reshape(2, 3, 4)
    box, memory = box_of(mini, x)
    ops, viewed = mini.ops, mini.loops.VIEWED

    def view(op: Any, *args: Any) -> Any:
        return lambda h, index: box.at(h, viewed[op](index, box.sizes, *args))

    permuted = "New dimension p is the old one dims[p]; asked for is the way back, where each old one stands in dims."
    judge(mini, view(ops.permute, (1, 2, 0)), memory, x.transpose(1, 2, 0), "x.permute(1, 2, 0)", permuted)
    sliced = "Number i of x[start::step] is number i * step + start of x."
    judge(mini, view(ops.slice_, 1, 1, 3, 1), memory, x[:, 1:3], "x[:, 1:3]", sliced)
    judge(mini, view(ops.slice_, 2, 1, 4, 2), memory, x[:, :, 1:4:2], "x[:, :, 1:4:2]", sliced)
    regrouped = "The element at index has a position; the position is the same under both sizes: flatten, then split."
    judge(mini, view(ops.regroup, (4, 6)), memory, x.reshape(4, 6), "x of (2, 3, 4) regrouped to (4, 6)", regrouped)
    box, memory = box_of(mini, x[:, :1, :1].copy())
    wide = np.broadcast_to(x[:, :1, :1], (5, 2, 3, 4))
    judge(
        mini,
        view(ops.expand, (5, 2, 3, 4)),
        memory,
        wide,
        "x.expand(5, 2, 3, 4)",
        "All copies are the one element: broadcast.",
    )


@OWN_INVERSES.case("among zeros", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = np.arange(1, 7, dtype="float32").reshape(2, 3)
    box, memory = box_of(mini, x)
    outside = "Outside there are zeros, and nothing may be read there: the box is asked inside of the function."
    between = "With a step, the places between are zeros, too: i % step has to be 0."
    for dim, size, start, step, why in (
        (1, 5, 1, 1, outside),
        (0, 4, 2, 1, outside),
        (1, 9, 1, 3, between),
        (1, 10, 0, 2, between),
    ):
        expected = mini.ops.pad(x, dim, size, start, step)

        def body(h: Any, index: Any, dim: int = dim, size: int = size, start: int = start, step: int = step) -> Any:
            return mini.loops.among_zeros(h, index, np.dtype("float32"), box, dim, size, start, step)

        said = f"x of {x.shape} at {start}, step {step}, of {size} in dimension {dim}"
        judge(mini, body, memory, expected, said, why)
