"""Exercise 04.8: going into a function, with a frame of its own that records into the same graph."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_traces import lines, whole

OWN_INLINING = Step(
    "04.8",
    "going into a function",
    file="tracer",
    minutes=10,
    hints=(
        "A Tracer is a Frame: make one of the function and its arguments, give it this trace, and run it to its end.",
        "Its `trace` is self.trace: so it reads and records where you do. Give it both kinds of arguments.",
        "frame = Tracer(function, args, kwargs); frame.trace = self.trace; frame.run() gives a pair, ('return',"
        " value).",
    ),
)
SECTION = "Python disappears"
OFFSET = 1


def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


def inner(x: Any) -> Any:
    return x + OFFSET


def outer(x: Any, n: int) -> Any:
    return inner(x * factorial(n)) * 2


@OWN_INLINING.case("one graph", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = (
        "A frame of its own, which has the same trace, and so the same graph and guards; its value is"
        " what the call gives."
    )
    trace = whole(mini, outer, (mini.tensor.tensor([1.0]), 4), why)
    expected = ["mul = mul(x0, 24)", "add = add(mul, 1)", "mul1 = mul(add, 2)"]
    expect("the graph of inner(x * factorial(4)) * 2", expected, lines(trace.record.graph), why)
    said = [str(guard) for guard in trace.guards]
    if not any("OFFSET" in text for text in said):
        why = "The inner function reads a global. If Python runs it, nobody sees that: interpret it."
        raise WrongAnswer(f"an inner function uses the global OFFSET, and the guards are {said}", why)


def named(x: Any, k: int, by: int = 1, *, more: int = 0) -> Any:
    return x * k + by + more


def calls_named(x: Any) -> Any:
    return named(x, more=5, k=2)


def remembers(x: Any, seen: list[Any] = []) -> Any:  # noqa: B006 (a default that changes is wanted)
    seen.append(1)
    return x * len(seen)


def called(x: Any) -> Any:
    return remembers(x)


@OWN_INLINING.case("names and defaults", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0])
    why = "Arguments come by name, too, and some don't come: a frame knows what to do, if it is given both."
    trace = whole(mini, calls_named, (x,), why)
    expected = ["mul = mul(x0, 2)", "add = add(mul, 1)", "add1 = add(add, 5)"]
    expect("the graph of named(x, more=5, k=2)", expected, lines(trace.record.graph), why)
    remembers.__defaults__ = ([],)
    why = (
        "A default value lives on between calls. It was read with its function, so it is guarded, and changed for real."
    )
    region = mini.breaks.Region(called)
    got = [region(x).tolist() for _ in range(3)], remembers.__defaults__[0]
    expect("three calls of a function that counts in its default", ([[1.0], [2.0], [3.0]], [1, 1, 1]), got, why)
