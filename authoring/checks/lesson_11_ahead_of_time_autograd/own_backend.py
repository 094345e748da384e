"""Exercise 11.10: a backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried

OWN_BACKEND = Step(
    "11.10",
    "a backend",
    file="aot",
    minutes=25,
    hints=(
        "f = Functional(graph), and partition(joint_graph(f), count) with count = all results of f: computed outputs"
        " and written inputs.",
        "Compile both halves. Where no input requires grad the second has no outputs: then nothing is to be compiled.",
        "A call: run the first half in no_grad, split its results at count. If Tape.enabled, and with a second half,"
        " make a CallNote, and give each result of which"
        " f.differentiable says so an OutputNote. Then f.finish(inputs, outputs).",
    ),
)
SECTION = "The package's own"


def run_both(mini: Any, text: str, f: Any, why: str, *flags: bool) -> None:
    """Eagerly, and by the backend: outputs, arguments and gradients."""
    seen = []
    for compiled in (False, True):
        args = [
            mini.tensor.from_numpy(np.array(x), requires_grad=flag)
            for x, flag in zip(([1.0, 2.0], [3.0, 4.0]), flags, strict=True)
        ]
        call = f
        if compiled:
            graph = mini.graph.trace(f, *args)
            call = tried(text, why, mini.aot.aot(lambda graph: graph.run), graph)
        outputs = list(tried(text, why, call, *args))
        noted = [out.requires_grad for out in outputs]
        loss = args[1] * 1
        for out in outputs:
            loss = loss + out * out
        if any(flags):
            tried(f"{text}, then backward", why, mini.tape.backward, mini.ops.sum(loss))
        grads = [None if x.grad is None else x.grad.tolist() for x in args]
        seen.append(([out.tolist() for out in outputs], [x.tolist() for x in args], noted, grads))
    for what, wanted, got in zip(
        ("the outputs", "the arguments afterwards", "requires_grad of the outputs", "the gradients"), *seen, strict=True
    ):
        expect(f"{text}: {what}", wanted, got, why)


@OWN_BACKEND.case("as eagerly", points=3, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops

    def total(x: Any, y: Any) -> Any:
        ops.copy_(y, ops.add(y, ops.mul(x, x)))
        return [ops.mul(x, 2)]

    run_both(
        mini, "x * y, without gradients", lambda x, y: [ops.mul(x, y)], "One graph, run and finished.", False, False
    )
    why = "Outputs first, then what is saved: split the results at count."
    run_both(mini, "exp(x) * y", lambda x, y: [ops.mul(ops.exp(x), y)], why, True, True)
    independent = "y * 2 does not depend on anything that requires grad: f.differentiable says so."
    run_both(
        mini, "x * 2 and y * 2, y wants none", lambda x, y: [ops.mul(x, 2), ops.mul(y, 2)], independent, True, False
    )
    views = "Views of arguments are among the outputs: finish puts them there."
    run_both(mini, "x * 2 and y[:1]", lambda x, y: [ops.mul(x, 2), ops.slice_(y, 0, 0, 1, 1)], views, True, False)
    why = "An argument that was written to is a result, too, and has a history afterwards: count it."
    run_both(mini, "y += x * x; x * 2", total, why, True, False)


@OWN_BACKEND.case("in no_grad", points=1, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.from_numpy(np.array([1.0]), requires_grad=True)
    f = lambda x: [mini.ops.mul(x, 2)]
    call = mini.aot.aot(lambda graph: graph.run)(mini.graph.trace(f, x))
    with mini.tape.no_grad():
        (out,) = tried("x * 2", "", call, x)
    if out.requires_grad or out.grad_fn is not None:
        raise WrongAnswer(
            "with no_grad(): a compiled x * 2 requires grad", "Nothing is noted while Tape.enabled is False."
        )


@OWN_BACKEND.case("what the compiler is given", points=1, section=SECTION)
def _(mini: Any) -> None:
    for flag, wanted in ((False, 1), (True, 2)):
        x = mini.tensor.from_numpy(np.array([1.0]), requires_grad=flag)
        graphs: list[Any] = []

        def compiler(graph: Any, graphs: list[Any] = graphs) -> Any:
            graphs.append(graph)
            return graph.run

        def f(x: Any) -> Any:
            y = mini.ops.exp(x)
            mini.ops.copy_(y, x)
            return [y]

        tried("a backend", "", mini.aot.aot(compiler), mini.graph.trace(f, x))
        expect(
            f"x.requires_grad = {flag}: how many graphs the compiler got",
            wanted,
            len(graphs),
            "One, or a forward and a backward.",
        )
        if any(node.writes for graph in graphs for node in graph.nodes):
            raise WrongAnswer(
                f"the compiler was given\n{graphs[0]}",
                "Writes became values before that: give it the halves.",
            )
