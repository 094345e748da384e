"""Exercise 13.14: a node becomes a box, views above all."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_steps import count, judge, numbers, steps_of

OWN_NODES = Step(
    "13.14",
    "a node becomes a box",
    file="loops",
    minutes=25,
    hints=(
        "lower asks what kind the op is: Reduction, Product, View or ops.regroup, ops.slice_backward, ops.iota, "
        "another Factory;"
        " else it is element by element. Each of the last four is Box(value.sizes, value.dtype, lambda h, index: ...).",
        "view: if x.memory is (buffer, layout), the op's kernel gives the new layout (for regroup "
        "layout.view(sizes), which may be"
        " None): then stored(buffer, new). Otherwise a box that asks x for another element.",
        "What is computed becomes a box that asks x for another element: at VIEWED[op](index, x.sizes, *args).",
    ),
)
SECTION = "Lowering, rule by rule"


@OWN_NODES.case("each kind of op", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, x = mini.ops, numbers(2, 3)
    why = "Which kind of op is it? Each has its own function."
    judge(mini, lambda x: x.exp() * 2, [x], "x.exp() * 2", why)
    judge(mini, lambda x: x.sum(1) + x.amax(1), [x], "x.sum(1) + x.amax(1)", why)
    judge(mini, lambda x: x @ x.t(), [x], "x @ x.t()", why)
    judge(mini, lambda x: ops.slice_backward(x, 1, 5, 1, 1), [x], "slice_backward", "It is among_zeros of the box.")
    judge(
        mini,
        lambda x: ops.full((2, 1), 2.5, "float32") + x,
        [x],
        "full + x",
        "full's element is its number, h.value.",
    )
    counted = "iota counts from its number on: element i is i + number, said by h.index."
    judge(mini, lambda x: ops.iota((3,), 4, "int64") + x, [x], "iota((3,), 4) + x", counted)


@OWN_NODES.case("views of memory are layouts", points=2, section="Lowering, rule by rule")
def _(mini: Any) -> None:
    x = numbers(4, 6)
    for program, said in (
        (lambda x: (x @ x.t()).t()[1:] + 1, "(x @ x.t()).t()[1:] + 1"),
        (
            lambda x: x.reshape(2, 2, 6).permute(1, 0, 2)[:, :, 1:5:2] + 1,
            "x.reshape(2, 2, 6).permute(1, 0, 2)[:, :, 1:5:2] + 1",
        ),
    ):
        lowering = judge(mini, program, [x], said, "A view shows the same elements.")
        reads = [index for step in lowering.steps if hasattr(step, "body") for _, index in step.reads()]
        if not all(index.is_affine for index in reads):
            why = (
                "What is in memory needs another layout, and no formula: op.kernel(layout, *args), layout.view(sizes)."
            )
            raise WrongAnswer(f"{said}: it reads at {', '.join(map(str, reads))}", why)
    product = steps_of(mini, lambda x: x @ x.t(), mini.tensor.from_numpy(x))
    count(product, 1, "x @ x.t()", "x.t() is x's memory with another layout: nothing is copied for the product.")
    regrouped = judge(
        mini, lambda x: x @ x.reshape(6, 4), [x], "x @ x.reshape(6, 4)", "A view shows the same elements."
    )
    says = "Of memory a regroup is a layout, too, where layout.view(sizes) gives one: the product takes it as it is."
    count(regrouped, 1, "x @ x.reshape(6, 4)", says)


@OWN_NODES.case("other views are formulas", points=2, section="Lowering, rule by rule")
def _(mini: Any) -> None:
    x = numbers(3, 4)
    why = "Where strides can't say it, or where there is no memory: the position is the same under both sizes."
    one = judge(mini, lambda x: x.t().reshape(2, 6) + 1, [x], "x.t().reshape(2, 6) + 1", why)
    count(one, 1, "x.t().reshape(2, 6) + 1", "No copy is needed: it reads where the elements are.")
    judge(mini, lambda x: (x + 1).reshape(2, 6)[:, 1:].t() * 2, [x], "(x + 1).reshape(2, 6)[:, 1:].t() * 2", why)
    judge(mini, lambda x: (x.sum(0) + 1).expand(2, 4) + 1, [x], "(x.sum(0) + 1).expand(2, 4) + 1", why)
