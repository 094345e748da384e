"""Exercise 12.7: a graph of prims."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

OWN_DECOMPOSER = Step(
    "12.7",
    "the decomposer",
    file="prims",
    minutes=10,
    hints=(
        "graph.run calls one op after the other. Run it within your layer, and trace that: what is recorded is what"
        " comes out"
        " below the layer.",
        "trace(function, *examples, position=0) records at the bottom of the stack. The examples are the inputs' "
        "fakes: node.value"
        " for node in graph.inputs.",
        "Refuse first: any(node.writes for node in graph.nodes) raises a RuntimeError. Then def run(*inputs): with "
        "Decompose(rules):"
        " return graph.run(*inputs), and with no_grad(): return trace(run, ..., position=0).",
    ),
)
SECTION = "The package's decomposer"


def decomposed(mini: Any, program: Any, *tensors: Any) -> Any:
    graph = mini.graph.trace(program, *tensors)
    result = outcome(mini.prims.decompose, (graph,))
    if not isinstance(result, mini.graph.Graph):
        raise WrongAnswer(f"decompose(graph) gave {result!r}", "It gives a new Graph, which trace makes.")
    return result


@OWN_DECOMPOSER.case("prims only, and the same values", points=2, section=SECTION)
def _(mini: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = [mini.tensor.from_numpy(rng.random(sizes, dtype="float32")) for sizes in ((3, 4), (4,))]
    for program, text in (
        (lambda x, y: x - y, "x - y"),
        (lambda x, y: (x.softmax(1) * y).relu(), "(x.softmax(1) * y).relu()"),
        (lambda x, y: (x.t().reshape(12).sigmoid(), -y), "x.t().reshape(12).sigmoid(), -y"),
    ):
        graph = decomposed(mini, program, x, y)
        left = [node.op.name for node in graph.nodes if node.op in mini.prims.DECOMPOSITIONS]
        if left:
            why = (
                "The recorder has to stand below your layer: position=0, or entered first. Above it, it sees the "
                "ops as they were."
            )
            raise WrongAnswer(f"{text}: {', '.join(left)} are still in the graph", why)
        expected = program(x, y)
        for a, b in zip(graph.run(x, y), expected if isinstance(expected, tuple) else [expected], strict=True):
            if a.sizes != b.sizes or not np.allclose(a.numpy(), b.numpy(), atol=1e-6):
                why = "The graph has the inputs of the old one, in their order, and gives its outputs."
                raise WrongAnswer(f"{text}: expected {b.tolist()}, got {a.tolist()}", why)


@OWN_DECOMPOSER.case("without a tape", points=1, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0], requires_grad=True)
    graph = decomposed(mini, lambda x: x.sigmoid(), x)
    if any(node.value.grad_fn is not None for node in graph.nodes):
        why = "Its derivatives are in the graph already, or nobody wants them: decompose within no_grad()."
        raise WrongAnswer("an input requires grad: the tape has noted the prims", why)


@OWN_DECOMPOSER.case("no writes", points=1, section="Sweeping up")
def _(mini: Any) -> None:
    graph = mini.graph.trace(lambda x: x.add_(1), mini.tensor.fake((2,)))
    try:
        mini.prims.decompose(graph)
    except RuntimeError:
        return
    why = (
        "x.exp() before a write and after it are two values, and your layer would take them for one. "
        "Functional(graph) has no writes."
    )
    raise WrongAnswer("x.add_(1): expected a RuntimeError, got a graph", why)
