"""Exercise 04.8: going into a function, with a frame of its own that records into the same graph."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_traces import breaks, lines, whole

OWN_INLINING = Step(
    "04.8",
    "going into a function",
    file="tracer",
    minutes=10,
    hints=(
        "A Tracer is a Frame: make one of the function and its arguments, give it this trace, and run it to its end.",
        "run() gives a pair, ('return', value).",
        "Default values of a function from outside must be of CONSTANTS + ALWAYS_THE_SAME, or it is a"
        " Break. One that the"
        " trace has made, id(function) in self.trace.made, may have any.",
    ),
)
SECTION, SOURCES = "Python disappears", "Where a value came from"
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


def remembers(x: Any, seen: list[Any] = []) -> Any:  # noqa: B006 (a default that changes is wanted)
    seen.append(1)
    return x * len(seen)


def called(x: Any) -> Any:
    return remembers(x)


def harmless(x: Any, how: Any = factorial, n: int = 3, *, name: str = "a") -> Any:
    return x * how(n) + len(name)


def calls_harmless(x: Any) -> Any:
    return harmless(x)


def made_here(x: Any) -> Any:
    scale = [2, 3]
    return (lambda v, by=scale: v * by[1])(x)


@OWN_INLINING.case("default values", points=2, section=SOURCES)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0])
    remembers.__defaults__ = ([],)
    why = "A default value lives on between calls, and nobody guards it. If it can change, break."
    breaks(mini, called, (x,), why)
    if remembers.__defaults__ != ([],):
        raise WrongAnswer("tracing has changed the list that is the default", why)
    why = "Numbers, strings and functions can't change: go in."
    trace = whole(mini, calls_harmless, (x,), why)
    expect(
        "a function with the defaults factorial, 3 and 'a'",
        ["mul = mul(x0, 6)", "add = add(mul, 1)"],
        lines(trace.record.graph),
        why,
    )
    why = "A function that the trace itself has made is new at each call, and so are its default values: go in."
    trace = whole(mini, made_here, (x,), why)
    expect("a lambda whose default is a list made here", ["mul = mul(x0, 3)"], lines(trace.record.graph), why)
