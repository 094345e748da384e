"""Exercise 11.7: what is kept for later."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from .halves import joint_of, listed

KEPT_FOR_LATER = Step(
    "11.7",
    "what is kept for later",
    file="aot",
    minutes=20,
    hints=(
        "late: begin with the tangents, the last `count` inputs; go through the nodes in order, and add"
        " each that has a late input.",
        "saved: walk from the gradients (joint.outputs[count:]) to their inputs. A late node, or one that"
        " is cheap, is looked through;"
        " any other is saved, and its inputs are not asked for.",
        "An input of the graph has the op 'input', which is none of the cheap classes: so it is saved"
        " where it is needed. Give saved in"
        " the order of joint.inputs + joint.nodes.",
    ),
)
SECTION = "Cutting it in two"


@KEPT_FOR_LATER.case("what is late", points=1, section=SECTION)
def _(mini: Any) -> None:
    joint = joint_of(mini, lambda x, w: [mini.ops.exp(mini.ops.matmul(x, w))])
    late, _ = tried("late_and_saved", "", mini.aot.late_and_saved, joint, 1)
    forward = set(joint.inputs[:-1]) | set(joint.nodes[: joint.nodes.index(joint.outputs[0]) + 1])
    reached: set[Any] = set(joint.inputs[-1:])
    for node in joint.nodes:
        if reached & set(node.inputs):
            reached.add(node)
    why = "Late is what depends on a tangent, directly or through others."
    expect(f"{joint}\nlate", sorted(map(str, reached)), sorted(map(str, set(late) - (set(late) & forward))), why)
    if set(late) & forward:
        raise WrongAnswer(f"{joint}\nlate has {listed(set(late) & forward)}", "The forward pass knows no tangents.")


@KEPT_FOR_LATER.case("what is saved", points=3, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    cheap = "Pointwise work, views, casts and constants are cheap: they are made again from what they were made of."
    dear = "A product or a sum is too dear to be made again: save it."
    for text, f, wanted, why in (
        (
            "x @ w",
            lambda x, w: [ops.matmul(x, w)],
            ["x0"],
            "The gradient of w needs x; the product itself is not needed.",
        ),
        ("exp(x @ w)", lambda x, w: [ops.exp(ops.matmul(x, w))], ["x0", "matmul"], cheap),
        ("tanh(exp(x @ w))", lambda x, w: [ops.tanh(ops.exp(ops.matmul(x, w)))], ["x0", "matmul"], cheap),
        ("exp((x @ w).sum())", lambda x, w: [ops.exp(ops.sum(ops.matmul(x, w)))], ["x0", "sum"], dear),
    ):
        joint = joint_of(mini, f)
        _, saved = tried(text, "", mini.aot.late_and_saved, joint, 1)
        names = [str(node) for node in saved]
        if sorted(names) != sorted(wanted):
            if any(isinstance(node.op, ops.Pointwise | ops.View) for node in saved):
                why = cheap
            elif set(wanted) - set(names):
                why = dear
            raise WrongAnswer(f"{text}: expected {wanted}, got {names}\n{joint}", why)
        expect(
            f"{text}: saved\n{joint}",
            wanted,
            names,
            "In the order of joint.inputs + joint.nodes: both halves count on it.",
        )
