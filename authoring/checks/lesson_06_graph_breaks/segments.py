"""Step 06.8: one piece of a function: guards, a graph, and the state that it leaves."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect

SEGMENTS = Step(
    "06.8",
    "one piece",
    file="breaks",
    minutes=20,
    hints=(
        "The graph has no outputs when tracing ends. Which of its values does anybody need? Those that are copied when"
        " the state is made: so make it once, with a Copy that notes them.",
        "Order: trace and run; require_same_setting; a State, with a Copy whose third argument notes a fake and gives"
        " it back, as self.alive.setdefault(id(fake), fake) does; without_dead_code; the backend, once.",
        "run: outputs = self.compiled(*[source.find(frame) for source in self.trace.input_sources]), and a State with"
        " Copy(self.guards, frame, lambda fake: results[id(fake)]), replayed. results: dict(zip(self.alive, outputs)).",
    ),
)
SECTION = "A tracer that breaks"


def two_uses(x: Any, y: Any) -> Any:
    unused = x * 100
    del unused
    kept = x * 2
    pair = [kept, kept + y]
    x.sum().item()
    return pair


def no_tensor(x: Any, items: Any) -> Any:
    items.append(len(items))
    return x


def writes(a: Any, b: Any) -> Any:
    a.add_(1)
    return b * 2


class Backend:
    """Counts the graphs that it was given."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []

    def __call__(self, graph: Any) -> Any:
        self.graphs.append(graph)
        return graph.run


def start(mini: Any, function: Any, *args: Any) -> tuple[Any, Any, Backend]:
    backend = Backend()
    frame = mini.interpreter.Frame(function, args, {})
    return mini.breaks.Segment(frame, backend), frame, backend


def tensors(mini: Any) -> tuple[Any, Any]:
    return mini.tensor.tensor([1.0, 2.0]), mini.tensor.tensor([10.0, 20.0])


@SEGMENTS.case("the graph computes what is needed", points=2, section="What is carried over")
def _(mini: Any) -> None:
    segment, _, backend = start(mini, two_uses, *tensors(mini))
    if not segment.graph.outputs:
        raise WrongAnswer(
            "the graph has no outputs",
            "What is alive at the break is an output: the State, made once, asks Copy for each of these fakes.",
        )
    if len(backend.graphs) != 1 or backend.graphs[0] is not segment.graph:
        raise WrongAnswer(
            f"the backend was given {len(backend.graphs)} graphs", "One piece has one graph, compiled once."
        )
    ops = [str(node.op) for node in segment.graph.nodes]
    expect(
        "the calls in the graph",
        ["mul", "add", "sum"],
        ops,
        "What no output needs is no part of it: without_dead_code.",
    )
    outputs = [str(node.op) for node in segment.graph.outputs]
    expect("its outputs, each once", ["add", "mul", "sum"], sorted(outputs), "x and y are inputs, and have a source.")


@SEGMENTS.case("run leaves the frame at the break", points=2, section=SECTION)
def _(mini: Any) -> None:
    x, y = tensors(mini)
    segment, frame, backend = start(mini, two_uses, x, y)
    for a, b, expected in ((x, y, [12.0, 24.0]), (y, x, [21.0, 42.0])):
        frame = mini.interpreter.Frame(two_uses, (a, b), {})
        segment.run(frame)
        if frame.program[frame.at - 1][0] == "RETURN_VALUE" or frame.outcome is not None:
            raise WrongAnswer("the frame has ended", "The trace ended before the instruction that breaks.")
        pair = frame.locals.get("pair")
        got = pair[1].tolist() if isinstance(pair, list) and isinstance(pair[1], mini.tensor.Tensor) else pair
        why = "The tensors of this call go in, in the order of input_sources, and the results take the places of fakes."
        expect(f"x = {a.tolist()}, y = {b.tolist()}: pair[1]", expected, got, why)
        if frame.locals["x"] is not a:
            raise WrongAnswer("the variable x has another tensor", "What has a source is found in the frame.")
    if len(backend.graphs) != 1:
        raise WrongAnswer(
            f"after two runs the backend was given {len(backend.graphs)} graphs", "Compile once, run often."
        )


@SEGMENTS.case("effects without a graph", points=1, section=SECTION)
def _(mini: Any) -> None:
    items: list[Any] = []
    segment, frame, backend = start(mini, no_tensor, tensors(mini)[0], items)
    if backend.graphs:
        raise WrongAnswer(
            "nothing was computed, and the backend was given a graph", "An empty graph needs no compiler."
        )
    expect("after tracing, the program's list", [], items, "Tracing does nothing to the program's objects: run does.")
    segment.run(frame)
    expect("after one run the list", [0], items, "The effects of the trace happen at each run.")


@SEGMENTS.case("one memory, two tensors", points=2, section="The package's own")
def _(mini: Any) -> None:
    x, y = tensors(mini)
    segment, frame, _ = start(mini, writes, x, y)
    frame.locals = {"a": x, "b": x}
    if segment.guards.first_failing(frame) is None:
        raise WrongAnswer(
            "traced with two tensors; called with one as both arguments, all guards hold",
            "A write into the first is seen through the second: require_same_setting(guards, frame) guards against it.",
        )
    view = mini.tensor.Tensor(x.storage, x.layout)
    segment, frame, backend = start(mini, writes, x, view)
    if backend.graphs:
        raise WrongAnswer(
            "a graph with a write, whose inputs share memory, was given to the backend",
            "A backend takes the inputs for different memories. Such a graph runs call by call: graph.run.",
        )
    segment.run(frame)
    expect("a += 1; return b * 2, where b is a view of a = [1, 2]", [4.0, 6.0], frame.outcome[1].tolist(), "In order.")
