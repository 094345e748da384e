"""Exercise 04.2: nodes, and the graph that is a list of them."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect

OWN_GRAPHS = Step(
    "04.2",
    "nodes and graphs",
    file="graph",
    minutes=12,
    hints=(
        "A node's inputs are those of its arguments that are nodes. It writes if its op is one of the class Write.",
        "Count how often each name was given: self.counts. The first one of an op has no number, the second has 1.",
        'The name of an input is "x" and a number, always. It goes to self.inputs, all others to self.nodes.',
    ),
)
SECTION = "What a graph is"


@OWN_GRAPHS.case("a node", points=1, section=SECTION)
def _(mini: Any) -> None:
    graph, ops = mini.graph, mini.ops
    value = mini.tensor.fake((2,))
    first = graph.Node("x0", "input", (), value)
    node = graph.Node("add", ops.add, (first, 1.5, first), value)
    expect("str of a node named 'add'", "add", str(node), "A node is called by its name.")
    got = attempt(lambda: list(node.inputs))
    expect(
        "inputs of add(x0, 1.5, x0)", [first, first], got, "The number is an argument, and no input: only nodes are."
    )
    writer = graph.Node("fill", ops.Write("fill", None), (first, 1.5), value)
    why = "Every op of the class ops.Write writes into its first argument, whatever it is called."
    expect("writes, of a node of an op of the class Write", True, writer.writes, why)
    expect("writes, of a node of add", False, node.writes, why)
    expect("writes, of an input", False, first.writes, why)


@OWN_GRAPHS.case("a graph", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, value = mini.ops, mini.tensor.fake((2,))
    graph = mini.graph.Graph()
    expect(
        "inputs, nodes and outputs of a new graph", ([], [], []), (graph.inputs, graph.nodes, graph.outputs), "Lists."
    )
    made = [graph.add(op, (), value) for op in ("input", ops.add, ops.mul, "input", ops.add, ops.add, ops.copy_)]
    expected = ["x0", "add", "mul", "x1", "add1", "add2", "copy_"]
    why = "Each op is counted by itself; its first node has no number, but for the inputs."
    expect("names after add of input, add, mul, input, add, add, copy_", expected, [str(node) for node in made], why)
    why = "The inputs are a list of their own; the nodes are in the order in which they were added."
    got = [str(node) for node in graph.inputs], [str(node) for node in graph.nodes]
    expect("its inputs and its nodes", (["x0", "x1"], ["add", "mul", "add1", "add2", "copy_"]), got, why)
    node = graph.add(ops.add, (made[0], 2), value)
    expect(
        "op, args and value of a node", (ops.add, (made[0], 2), value), (node.op, node.args, node.value), "Keep them."
    )
