"""Exercise 04.3: the interpreter of graphs, and what a graph can do without."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect
from .own_traces import lines

OWN_MEANING = Step(
    "04.3",
    "what a graph means, and what it can do without",
    file="graph",
    minutes=15,
    hints=(
        "A dictionary from nodes to their values: it begins with the inputs, and each node adds its own.",
        "Arguments and outputs that are no nodes stand for themselves.",
        "Dead code: go through the nodes from the last to the first. If a node is needed, or writes, then it and its"
        " inputs are needed.",
    ),
)
SECTION = "What a graph is"


def small(mini: Any) -> Any:
    """(x0 + 10) * (x0 + 10) - x0, and a number, as outputs."""
    ops, value = mini.ops, mini.tensor.fake((2,))
    graph = mini.graph.Graph()
    x = graph.add("input", (), value)
    more = graph.add(ops.add, (x, 10), value)
    square = graph.add(ops.mul, (more, more), value)
    graph.outputs = [graph.add(ops.sub, (square, x), value), 7, x, None]
    return graph


@OWN_MEANING.case("run", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([0.0, 1.0])
    got = attempt(small(mini).run, x)
    why = "A node stands for its value, also among the outputs, and anything else for itself."
    expected = [mini.tensor.tensor([100.0, 120.0]), 7, x, None]
    expect("run([0, 1]) of (x0 + 10) * (x0 + 10) - x0, 7, x0, None", expected, got, why)


@OWN_MEANING.case("another step is another interpreter", points=1, section=SECTION)
def _(mini: Any) -> None:
    seen: list[str] = []

    def step(node: Any, args: list[Any]) -> Any:
        seen.append(f"{node}({', '.join(map(str, args))})")
        return f"<{node}>"

    got = attempt(lambda: small(mini).run("X", step=step))
    expected = ["add(X, 10)", "mul(<add>, <add>)", "sub(<mul>, X)"]
    why = "`step(node, args)` computes each call, with the values of its arguments."
    expect("what `step` is asked", expected, seen, why if not isinstance(got, str) else f"{why} ({got})")
    expect("the outputs", ["<sub>", 7, "X", None], got, "What `step` gives is the value of the node.")


@OWN_MEANING.case("dead code", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, value = mini.ops, mini.tensor.fake((2,))
    graph = mini.graph.Graph()
    x = graph.add("input", (), value)
    one = graph.add(ops.exp, (x,), value)
    two = graph.add(ops.log, (one,), value)
    graph.add(ops.sin, (two,), value)
    far = graph.add(ops.cos, (x,), value)
    graph.add(ops.copy_, (x, far), value)
    three = graph.add(ops.neg, (two,), value)
    graph.outputs = [three, 3]
    result = attempt(graph.without_dead_code)
    if result is not graph:
        raise WrongAnswer(f"without_dead_code gave {result!r}", "It changes the graph and gives it back.")
    got = lines(graph)
    if not any("copy_" in line for line in got):
        why = "Nobody uses the result of a write, and yet it does something: it stays, and so does what it needs."
        raise WrongAnswer(f"exp, log, sin, cos, copy_(x0, cos), neg(log), the output: what stays is {got}", why)
    expected = ["exp = exp(x0)", "log = log(exp)", "cos = cos(x0)", "copy_ = copy_(x0, cos)", "neg = neg(log)"]
    why = "Whether a node is needed is known when all that come after it are known: go from the end on, keep the order."
    expect("exp, log, sin, cos, copy_(x0, cos), neg(log), the output: what stays", expected, got, why)
