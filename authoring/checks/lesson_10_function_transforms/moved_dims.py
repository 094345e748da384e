"""Exercise 10.5: what names dimensions."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.step import Step

from .looping import judge_loop

MOVED_DIMS = Step(
    "10.5",
    "what names dimensions",
    file="transforms",
    minutes=20,
    hints=(
        "The caller's dimension 0 is dimension 1 of what is inside. And where an op lists all dimensions"
        " or sizes, the batch comes first.",
        "Reduction: its dims, each one more, and keepdim. permute: (0, ...). slice_ and"
        " slice_backward: dim + 1, and the rest as it is. view and expand: (value.sizes[0], *sizes).",
        "expand may add dimensions: value must first be aligned to len(sizes), or the batch is taken for"
        " one of them. Casts, and whatever"
        " names no dimension, get their arguments as they are.",
    ),
)
SHIFT = "Reductions: one further to the right"


@MOVED_DIMS.case("reductions", points=2, section=SHIFT)
def _(mini: Any) -> None:
    ops = mini.ops
    why = "The caller's dimension 0 is dimension 1 in here: dimension 0 is the batch, and examples are not mixed."
    judge_loop(mini, "sum over 0", lambda x: ops.sum_(x, (0,), False), [(2, 2)], [], why)
    judge_loop(mini, "amax over 0 and 2", lambda x: ops.amax(x, (0, 2), True), [(3, 2, 4, 2)], [], why)
    judge_loop(mini, "softmax along 0", lambda x: ops.softmax(x, 0), [(2, 2)], [], why)
    judge_loop(mini, "log_softmax along -2", lambda x: ops.log_softmax(x, -2), [(2, 3, 2)], [], why)


@MOVED_DIMS.case("views", points=2, section=SHIFT)
def _(mini: Any) -> None:
    ops = mini.ops
    judge_loop(
        mini,
        "permute(1, 0)",
        lambda x: ops.permute(x, (1, 0)),
        [(2, 2, 3)],
        [],
        "The batch stays in front: 0, then the others.",
    )
    judge_loop(
        mini, "view(3, 2)", lambda x: ops.view(x, (3, 2)), [(2, 2, 3)], [], "The batch keeps its size, in front."
    )
    judge_loop(mini, "view(1, 1)", lambda x: ops.view(x, (1, 1)), [(2,)], [], "The batch keeps its size, in front.")
    judge_loop(
        mini,
        "slice 0 from 1 to 3",
        lambda x: ops.slice_(x, 0, 1, 3, 1),
        [(3, 3)],
        [],
        "The example's dimension 0, not the batch.",
    )
    judge_loop(
        mini,
        "slice_backward",
        lambda x: ops.slice_backward(x, 1, 5, 1, 2),
        [(2, 3, 2)],
        [],
        "dim moves; size, start and step don't.",
    )


@MOVED_DIMS.case("expand, and what names nothing", points=1, section="What a rule must not forget")
def _(mini: Any) -> None:
    ops = mini.ops
    why = "expand adds dimensions in front of the example's, behind the batch: align value to the new rank first."
    judge_loop(mini, "expand(2, 3)", lambda x: ops.expand(x, (2, 3)), [(4, 1, 3)], [], why)
    judge_loop(mini, "expand(2, 3)", lambda x: ops.expand(x, (2, 3)), [(4, 3)], [], why)
    judge_loop(mini, "expand(2, 3)", lambda x: ops.expand(x, (2, 3)), [(2, 3)], [], why)
    judge_loop(mini, "expand(2, 2)", lambda x: ops.expand(x, (2, 2)), [(2,)], [], why)
    judge_loop(mini, "to float32", lambda x: ops.to_(x, "float32"), [(2, 3)], [], "It names no dimension.")
