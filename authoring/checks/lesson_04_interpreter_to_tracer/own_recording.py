"""Exercise 04.4: a layer below the program, which writes down each op that passes."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect, must_raise
from .own_traces import lines

OWN_RECORDING = Step(
    "04.4",
    "the layer that records",
    file="graph",
    minutes=20,
    hints=(
        "Each tensor that the program holds while it is traced is a fake; self.node_of[id(fake)] is its node.",
        "A call: the nodes of its arguments, then the op itself, on the fakes of these; what it gives gets a node.",
        "A write gives its first argument back: add a node, but leave node_of as it is. A tensor that is not in node_of"
        " comes from outside: a RuntimeError.",
    ),
)
RUNNING, GRAPH = "Tracing by running", "What a graph is"


@OWN_RECORDING.case("inputs", points=1, section=RUNNING)
def _(mini: Any) -> None:
    record, tensor = mini.graph.Record(), mini.tensor
    x = tensor.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    turned = tensor.Tensor(x.storage, x.layout.permute((1, 0)))
    turned.requires_grad = True
    got = record.input(turned)
    if not got.is_fake:
        raise WrongAnswer(
            "the tensor that `input` gives has data", "While tracing, nobody may look at numbers: give a fake."
        )
    what = "sizes, strides and requires_grad of the fake for a transpose"
    expected = ((3, 2), (1, 3), True)
    expect(what, expected, (got.sizes, got.strides, got.requires_grad), "Strides decide whether a view is possible.")
    again = record.input(got)
    if again is got or len(record.graph.inputs) != 2:
        raise WrongAnswer("two inputs are one tensor", "Each input is a fake of its own, also if it was given a fake.")


@OWN_RECORDING.case("ops", points=2, section=RUNNING)
def _(mini: Any) -> None:
    fake, trace = mini.tensor.fake, mini.graph.trace
    graph = attempt(trace, lambda x, y: (x + 1).relu() @ y, fake((2, 3)), fake((3, 4)))
    got: Any = lines(graph) if not isinstance(graph, str) else graph
    why = "A node for each op, whose arguments are the nodes of the tensors, and the numbers."
    expect("(x + 1).relu() @ y", ["add = add(x0, 1)", "relu = relu(add)", "matmul = matmul(relu, x1)"], got, why)
    expect(
        "the sizes of its output", (2, 4), graph.outputs[0].value.sizes, "A node's value is a fake of what it gives."
    )
    graph = attempt(trace, lambda x: [x.exp(), x, x.sin() * 0 + 3][:2], fake((2,)))
    got = (lines(graph), [str(node) for node in graph.outputs]) if not isinstance(graph, str) else graph
    why = "A list of results is a list of outputs; a node that none of them needs goes away."
    expect("[x.exp(), x] (and x.sin() * 0 + 3, thrown away)", (["exp = exp(x0)"], ["exp", "x0"]), got, why)


@OWN_RECORDING.case("writes", points=1, section=GRAPH)
def _(mini: Any) -> None:
    trace, tensor = mini.graph.trace, mini.tensor

    def twice(x: Any) -> Any:
        y = x * 1
        y.add_(x)
        return y.add_(y) + y

    graph = attempt(trace, twice, tensor.fake((2,)))
    got = lines(graph)[-1] if not isinstance(graph, str) else graph
    why = "A write gives its first argument back. That is the tensor which `mul` made, so it is known by that node."
    expect("y = x * 1, y.add_(x), y.add_(y) + y: the last line", "add2 = add(mul, mul)", got, why)
    x = tensor.tensor([1.0, 2.0])
    expect(
        "the same, run on [1, 2]", [tensor.tensor([8.0, 16.0])], attempt(graph.run, x), "Writes happen in their order."
    )


@OWN_RECORDING.case("tensors from outside", points=2, section=GRAPH)
def _(mini: Any) -> None:
    w = mini.tensor.tensor([1.0, 2.0])
    why = "It is no argument of the graph. No call could give another one in its place: refuse it."
    trace, fake = mini.graph.trace, mini.tensor.fake((2,))
    for text, f in (("x + w", lambda x: x + w), ("w.add_(x)", lambda x: w.add_(x)), ("w", lambda x: w)):
        must_raise(f"tracing {text}, where w is a real tensor", why, trace, f, fake, kind=RuntimeError)
    expect("w, after that", [1.0, 2.0], w.tolist(), "Refuse it before the op runs.")
