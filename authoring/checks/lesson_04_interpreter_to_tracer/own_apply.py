"""Exercise 04.7: now or later? The one question of a tracer, asked for whatever the program does."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect
from .own_traces import breaks, like_python, lines, traced, whole

OWN_APPLY = Step(
    "04.7",
    "now or later",
    file="tracer",
    minutes=25,
    hints=(
        "A chain of questions, each with a `return`; the last line is self.compute. What has its own way comes first:"
        " getattr, setattr, and a global, which is self.trace.read(fixed(globals).item(name), value).",
        "An op: its __self__ is a Tensor, or its __module__ is 'mini.ops'. Then just call it: the layer"
        " sees it. But not if"
        " its __name__ is in NEEDS_DATA.",
        "python, slots = behind(function, args): with a Python function behind the call, self.inline(python, slots,"
        " kwargs). Of an object whose class has a Python __call__ it is behind(self.attribute(function, '__call__'),"
        " args).",
    ),
)
TRACING, GONE, SOURCES = "Tracing by interpreting", "Python disappears", "Where a value came from"
SCALE = 3.0


def mixes(x: Any, n: int) -> Any:
    k = n * 2 - 1
    return (x * k).relu() + n


@OWN_APPLY.case("plain values now, tensors later", points=1, section=TRACING)
def _(mini: Any) -> None:
    trace = whole(mini, mixes, (mini.tensor.tensor([1.0, 2.0]), 3), "Ops run on fakes, all else is done by Python.")
    expected = ["mul = mul(x0, 5)", "relu = relu(mul)", "add = add(relu, 3)"]
    expect(
        "the graph of (x * k).relu() + n, where k = n * 2 - 1 and n = 3", expected, lines(trace.record.graph), "Folded."
    )


def asks(x: Any) -> Any:
    return x.sum().item()


@OWN_APPLY.case("what needs numbers", points=1, section=TRACING)
def _(mini: Any) -> None:
    why = "A fake has no numbers. The names in NEEDS_DATA are refused by a Break, whose message says why."
    trace = breaks(mini, asks, (mini.tensor.tensor([1.0]),), why)
    if "item" not in str(trace.reason):
        raise WrongAnswer(f"the reason of the break is {trace.reason}", why)


def scaled(x: Any) -> Any:
    return x * SCALE


@OWN_APPLY.case("globals are guarded", points=1, section=SOURCES)
def _(mini: Any) -> None:
    trace = whole(mini, scaled, (mini.tensor.tensor([1.0]),), "SCALE is a global, a number.")
    said = [str(guard) for guard in trace.guards]
    if not any("SCALE" in text for text in said):
        why = "SCALE was built into the graph as 3.0. Tomorrow it may be 4.0: read it through its source."
        raise WrongAnswer(f"a function uses the global SCALE, and its guards are {said}", why)


class Layer:
    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def scale(self, x: Any) -> Any:
        return x * self.weight

    def __call__(self, x: Any) -> Any:
        return self.scale(x).relu()


def helper(x: Any, by: int = 1) -> Any:
    return x + by


def calls(x: Any, layer: Any, chosen: Any) -> Any:
    return helper(layer(x), by=2), chosen(x)


@OWN_APPLY.case("into functions, methods and objects", points=2, section=GONE)
def _(mini: Any) -> None:
    tensor = mini.tensor.tensor
    layer = Layer(tensor([2.0, 3.0]))
    why = "A function, a method, an object with __call__: each is Python code. Go into it with self.inline."
    trace = whole(mini, calls, (tensor([1.0, 2.0]), layer, layer.scale), why)
    expected = ["mul = mul(x0, x1)", "relu = relu(mul)", "add = add(relu, 2)", "mul1 = mul(x0, x1)"]
    why = "The weight is an attribute of an object from outside, so it is an input, x1, wherever it is used."
    expect("the graph of helper(layer(x), by=2) and chosen(x)", expected, lines(trace.record.graph), why)


def times(factor: float) -> Any:
    """A class of callable objects, made anew for each check."""

    class Times:
        def __call__(self, x: Any) -> Any:
            return x * factor

    return Times


def called(x: Any, layer: Any) -> Any:
    return layer(x)


@OWN_APPLY.case("what a class says of calls is guarded", points=1, section=SOURCES)
def _(mini: Any) -> None:
    kind, x = times(2.0), mini.tensor.tensor([1.0, 2.0])
    region, layer = mini.breaks.Region(called), kind()
    before = region(x, layer).tolist()
    kind.__call__ = times(3.0).__call__
    why = "A class may get another `__call__` before the next call: read it by self.attribute, which guards it."
    expect(
        "layer(x), and again with another __call__", ([2.0, 4.0], [3.0, 6.0]), (before, region(x, layer).tolist()), why
    )


def collects(x: Any, seen: list[Any]) -> Any:
    made = [x * k for k in (1, 2)]
    seen += [len(made)]
    seen.extend(range(2))
    return made + [*seen, 3], {"k": seen[-1]}


@OWN_APPLY.case("methods of lists", points=1, section=TRACING)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0, 2.0])
    why = "The interpreter asks for list.append(items, item). That is the method `append` of `items`: bind it first."
    trace = traced(mini, appends, x, [7])
    mine = trace.frame.locals["seen"]
    raised = attempt(trace.frame.apply, list.append, mine, 8)
    if not trace.changed:
        fact = "apply(list.append, a list from outside, 8): it is not among trace.changed"
        raise WrongAnswer(f"{fact}; {raised}" if raised else fact, why)
    like_python(mini, collects, (x, [7]), "Changes of a list from outside reach it.")


def appends(x: Any, seen: list[Any]) -> Any:
    return x
