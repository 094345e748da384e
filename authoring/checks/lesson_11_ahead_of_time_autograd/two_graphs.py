"""Exercise 11.8: cut in two."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles
from .halves import joint_of, listed

TWO_GRAPHS = Step(
    "11.8",
    "cut in two",
    file="aot",
    minutes=15,
    hints=(
        "Both are a Graph() whose inputs, nodes and outputs you set, with the nodes of the joint graph themselves.",
        "forward: the inputs without tangents; what is not late; the outputs, then what is saved."
        " backward: what is saved, then the tangents;"
        " the gradients.",
        "backward's nodes are all of joint.nodes but the saved ones: without_dead_code() removes what no"
        " gradient needs. What is left is"
        " late, or is made again.",
    ),
)
SECTION = "Cutting it in two"


@TWO_GRAPHS.case("the halves are the whole", points=3, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    x, w, t = (doubles(mini, np.cos(np.arange(6.0)).reshape(sizes)) for sizes in ((2, 3), (3, 2), (6,)))
    for text, f, sizes in (
        ("x @ w", lambda x, w: [ops.matmul(x, w)], (2, 2)),
        ("exp(x @ w)", lambda x, w: [ops.exp(ops.matmul(x, w))], (2, 2)),
        ("exp((x @ w).sum())", lambda x, w: [ops.exp(ops.sum(ops.matmul(x, w)))], ()),
    ):
        joint = joint_of(mini, f)
        tangent = doubles(mini, t.numpy()[: int(np.prod(sizes))].reshape(sizes))
        _, saved = mini.aot.late_and_saved(joint, 1)
        forward, backward = tried(text, "", mini.aot.partition, joint, 1)
        shown = f"{text}\n{joint}\nforward:\n{forward}\nbackward:\n{backward}"
        expect(
            f"{shown}\nforward's outputs",
            listed([*joint.outputs[:1], *saved]),
            listed(forward.outputs),
            "The outputs, then what is saved.",
        )
        for name, graph in (("forward", forward), ("backward", backward)):
            if len(graph.nodes) != len({node for node in graph.nodes if needed(graph, node)}):
                dead = "Dead code is left in it: without_dead_code() removes what no output needs."
                raise WrongAnswer(f"{shown}\n{name}", dead)
        why = "What backward needs and is not given it must make again: its nodes are all but the saved ones."
        first = tried(f"{shown}\nforward.run", "", forward.run, x, w)
        order = "backward gets what is saved, then the tangents."
        expect(
            f"{shown}\nbackward's inputs",
            [*map(str, saved), *map(str, joint.inputs[-1:])],
            [*map(str, backward.inputs)],
            order,
        )
        second = tried(f"{shown}\nbackward.run", why, backward.run, *first[1:], tangent)
        got, wanted = [*first[:1], *second], joint.run(x, w, tangent)
        if not all(np.allclose(a.numpy(), b.numpy()) for a, b in zip(wanted, got, strict=True)):
            raise WrongAnswer(f"{shown}\none after the other they give other numbers than the joint graph", "")


def needed(graph: Any, node: Any) -> bool:
    """Whether an output depends on a node."""
    known = {node}
    for other in graph.nodes:
        if known & set(other.inputs):
            known.add(other)
    return bool(known & set(graph.outputs))
