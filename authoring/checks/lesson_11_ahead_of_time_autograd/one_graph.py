"""Exercise 11.6: one graph of both passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles

ONE_GRAPH = Step(
    "11.6",
    "one graph of both passes",
    file="aot",
    minutes=25,
    hints=(
        "Trace a function that computes the outputs, walks back from them, and gives both. The tape notes"
        " while it runs, and the walk's"
        " ops are recorded as all others.",
        "The walk begins at the outputs that require grad, each with its tangent, and ends at the"
        " histories of the inputs that do: those"
        " are walk_back's `ends`.",
        "Run f once in no_grad, on f.inputs: so you know how many outputs there are, and their sizes, for"
        " the fakes of the tangents. Then"
        " trace(..., position=0): below the tape, which then passes on to the recorder whatever it calls itself.",
    ),
)
SECTION = "Both passes, one graph"


def made(mini: Any, f: Any, *flags: bool) -> tuple[Any, Any]:
    args = [mini.tensor.fake((2,), np.float64) for _ in flags]
    for x, flag in zip(args, flags, strict=True):
        x.requires_grad = flag
    functional = mini.aot.Functional(mini.graph.trace(f, *args))
    return functional, tried("joint_graph", UNREACHED, mini.aot.joint_graph, functional)


UNREACHED = "An input that no output depends on has gradient zero: zeros of its sizes."


def judge(mini: Any, text: str, f: Any, flags: tuple[bool, ...], wanted: list[list[float]], why: str) -> None:
    """Called with x = [1, 2], y = [3, 4], and gradients [10, 100] of the outputs."""
    _, graph = made(mini, f, *flags)
    count = len(graph.inputs) - len(flags)
    values = [doubles(mini, x) for x in [[1.0, 2.0], [3.0, 4.0]][: len(flags)] + [[10.0, 100.0]] * count]
    got = tried(f"{text}\n{graph}", why, graph.run, *values)
    fact = f"{text}\n{graph}\nof {[x.tolist() for x in values]}"
    expect(
        f"{fact}: how many outputs",
        len(wanted),
        len(got),
        "It gives the outputs, too, and a gradient for each input that requires grad.",
    )
    for numbers, out in zip(wanted, got, strict=True):
        expect(fact, numbers, out.tolist(), why)


@ONE_GRAPH.case("outputs and gradients", points=3, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    why = "A gradient of an output is an input of this graph: it is not always 1."
    judge(mini, "x * 3", lambda x: [ops.mul(x, 3)], (True,), [[3.0, 6.0], [30.0, 300.0]], why)
    wanted = [[3.0, 8.0], [30.0, 400.0], [10.0, 200.0]]
    judge(mini, "x * y", lambda x, y: [ops.mul(x, y)], (True, True), wanted, why)
    judge(
        mini,
        "x * y, y wants none",
        lambda x, y: [ops.mul(x, y)],
        (True, False),
        wanted[:2],
        "Only for inputs that require grad.",
    )
    both = [[2.0, 4.0], [1.0, 4.0], [40.0, 600.0]]
    judge(
        mini,
        "x * 2 and x * x",
        lambda x: [ops.mul(x, 2), ops.mul(x, x)],
        (True,),
        both,
        "Gradients of both outputs are added up.",
    )


@ONE_GRAPH.case("what has no gradient", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    judge(
        mini,
        "y * 2, x unused",
        lambda x, y: [ops.mul(y, 2)],
        (True, True),
        [[6.0, 8.0], [0.0, 0.0], [20.0, 200.0]],
        UNREACHED,
    )
    f = lambda x, y: [ops.mul(x, 2), ops.mul(y, 2)]
    wanted = [[2.0, 4.0], [6.0, 8.0], [20.0, 200.0]]
    judge(
        mini,
        "x * 2 and y * 2, y wants none",
        f,
        (True, False),
        wanted,
        "An output without a history is no beginning of the walk.",
    )
    functional, _ = made(mini, f, True, False)
    why = "f.differentiable says of each output whether it requires grad: the call will need it."
    expect(
        "x * 2 and y * 2, y wants none: f.differentiable",
        [True, False],
        list(getattr(functional, "differentiable", [])),
        why,
    )
