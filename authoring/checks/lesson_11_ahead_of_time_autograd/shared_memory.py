"""Exercise 11.3: which memory a node shares."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles

SHARED_MEMORY = Step(
    "11.3",
    "which memory, and how it is viewed",
    file="aot",
    minutes=20,
    hints=(
        "A node whose op is a View or a Write shares the memory of its first argument; any other has"
        " memory of its own: (node, ()).",
        "A View adds (node.op, node.args[1:]) at the end of its argument's views. A Write adds nothing:"
        " it gives back what it wrote into.",
        "written: path[node][0] of all nodes that write, as indices of inputs. computed: the outputs whose path begins"
        " at no input.",
    ),
)
SECTION = "Programs that write"


def program(mini: Any) -> Any:
    ops = mini.ops

    def f(x: Any, y: Any) -> Any:
        row = ops.slice_(x, 0, 1, 2, 1)
        turned = ops.permute(row, (1, 0))
        new = ops.copy_(turned, ops.exp(y))
        return [new, ops.neg(new), row, ops.view(ops.neg(y), (2,)), y]

    return f


@SHARED_MEMORY.case("paths", points=2, section=SECTION)
def _(mini: Any) -> None:
    graph = mini.graph.trace(program(mini), doubles(mini, [[1.0, 2.0], [3.0, 4.0]]), doubles(mini, [[5.0], [6.0]]))
    f = tried("Functional(graph)", "", mini.aot.Functional, graph)
    by_name = {str(node): node for node in graph.inputs + graph.nodes}
    cut, turn = (mini.ops.slice_, (0, 1, 2, 1)), (mini.ops.permute, ((1, 0),))
    for name, base, views, why in (
        ("x0", "x0", (), "An input is memory of its own."),
        ("exp", "exp", (), "What an op computes is memory of its own."),
        (
            "slice",
            "x0",
            (cut,),
            "A view shares its argument's memory, and looks at it through its op and the rest of its arguments.",
        ),
        ("permute", "x0", (cut, turn), "A view of a view: all views on the way, from the memory outwards."),
        ("copy_", "x0", (cut, turn), "A write gives back the very tensor that it wrote into: it has that one's path."),
    ):
        got = f.path.get(by_name[name])
        wanted = (by_name[base], views)
        if got is None or (got[0], tuple(got[1])) != wanted:
            raise WrongAnswer(f"{graph}\npath[{name}]: expected {wanted}, got {got}", why)


@SHARED_MEMORY.case("what is written, what is a view", points=3, section=SECTION)
def _(mini: Any) -> None:
    graph = mini.graph.trace(program(mini), doubles(mini, [[1.0, 2.0], [3.0, 4.0]]), doubles(mini, [[5.0], [6.0]]))
    f = tried("Functional(graph)", "", mini.aot.Functional, graph)
    expect(
        f"{graph}\nwritten",
        [0],
        list(f.written),
        "It is x0, the memory behind the view, that has other values afterwards: its index.",
    )
    why = "The other outputs are views of inputs (or inputs): they are made anew at each call, not computed."
    expect(f"{graph}\ncomputed", [graph.outputs[1], graph.outputs[3]], list(f.computed), why)
    expect("how many inputs", 2, len(f.inputs), "inputs are the fakes of the graph's inputs.")
