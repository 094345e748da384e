"""Exercise 10.4: whole batches."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles
from .looping import judge_loop, numbers

BATCHES = Step(
    "10.4",
    "whole batches",
    file="transforms",
    minutes=25,
    hints=(
        "Two questions: is it an op that broadcasts, and which of its values have a batch? Only these are aligned.",
        "Broadcasting aligns at the right. The rank is the largest dim() among the arguments that are"
        " tensors, as they look from outside."
        " A value needs rank + 1 dimensions: its batch, as many 1 as are missing, then the rest.",
        "Only values that are mine are aligned. For a Write the rank is the first argument's; its result"
        " is args[0], the box that was"
        " written into. Whatever is no Pointwise, Product or Write: Box(self, self.moved(op, args[0].dim(), *values)).",
    ),
)
SECTION = "Pointwise: dimensions are aligned"
LEFT = (
    "Aligned at the right, the batch meets a dimension of the other. Put sizes of 1 behind it: so it stays on the left."
)


@BATCHES.case("element by element", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    judge_loop(mini, "-x", ops.neg, [(2,)], [], LEFT)
    judge_loop(mini, "x * 2", lambda x: ops.mul(x, 2), [(2, 3)], [], "A number is the same for all: it has no batch.")
    judge_loop(mini, "x * y", ops.mul, [(2, 3), (2, 3)], [], LEFT)
    judge_loop(
        mini,
        "x * y, y shared, of (3,)",
        ops.mul,
        [(2, 3)],
        [(3,)],
        "What is shared has no batch: it broadcasts as it is.",
    )
    judge_loop(mini, "x * y", ops.mul, [(2,), (2, 3)], [], LEFT)
    judge_loop(mini, "x * y", ops.mul, [(3, 3), (3, 2, 3)], [], LEFT)
    judge_loop(mini, "x * y, y shared, of (2, 3)", ops.mul, [(2, 3)], [(2, 3)], LEFT)
    judge_loop(mini, "where(x < y, x, 0)", lambda x, y: ops.where(ops.lt(x, y), x, 0), [(2,), (2, 2)], [], LEFT)


@BATCHES.case("products", points=1, section="Products: one tall matrix")
def _(mini: Any) -> None:
    judge_loop(mini, "x @ y", mini.ops.matmul, [(2, 2, 3), (2, 3, 2)], [], LEFT)
    judge_loop(mini, "x @ y, y shared, of (3, 2)", mini.ops.matmul, [(2, 2, 3)], [(3, 2)], LEFT)
    judge_loop(mini, "x @ y", mini.ops.matmul, [(3, 2, 3), (3, 3, 3, 2)], [], LEFT)


@BATCHES.case("writes", points=1, section="What a rule must not forget")
def _(mini: Any) -> None:
    for sizes, text in (((2, 2), "each example its own"), ((2,), "shared")):
        x, y = doubles(mini, numbers((2, 2)) * 0), doubles(mini, numbers(sizes))
        with mini.transforms.Batch() as layer:
            box, other = (mini.transforms.Box(layer, value) for value in (x, y.reshape(-1, 2)))
            got = tried(f"x.copy_(y), y {text}", "", mini.ops.copy_, box, other if len(sizes) == 2 else y)
        if got is not box:
            raise WrongAnswer(
                "x.copy_(y) gave another box than x", "A write returns its first argument, here that very box."
            )
        wanted = y.tolist() if len(sizes) == 2 else [y.tolist()] * 2
        expect(f"x.copy_(y), y {text}: x's value", wanted, x.tolist(), "It writes into what is inside the box.")
