"""For the checks of `mini.graph` and `mini.tracer`: graphs as lines, traces, and functions run compiled and plainly."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer

from ..comparing import attempt, expect


def lines(graph: Any) -> list[str]:
    """The calls of a graph, as `mul = mul(x0, 2)`."""
    return [f"{node} = {node.op}({', '.join(map(str, node.args))})" for node in graph.nodes]


def traced(mini: Any, function: Callable[..., Any], *args: Any) -> Any:
    """The trace of a call, as far as it goes."""
    trace = mini.tracer.Trace(mini.interpreter.Frame(function, args, {}))
    trace.reason = None
    trace.run()
    return trace


def reason(trace: Any) -> str:
    return "it went to the end" if trace.reason is None else f"{type(trace.reason).__name__}: {trace.reason}"


def whole(mini: Any, function: Callable[..., Any], args: tuple[Any, ...], why: str) -> Any:
    """A trace that must reach the end of the function."""
    trace = traced(mini, function, *args)
    if trace.frame.outcome is None:
        raise WrongAnswer(f"the trace of {function.__name__} stopped: {reason(trace)}", why)
    return trace


def breaks(mini: Any, function: Callable[..., Any], args: tuple[Any, ...], why: str) -> Any:
    """A trace that must end before the function does, by a Break."""
    trace = traced(mini, function, *args)
    if not isinstance(trace.reason, mini.tracer.Break):
        fact = f"the trace of {function.__name__} must stop with a Break"
        raise WrongAnswer(f"{fact}; {reason(trace)}", why)
    return trace


def like_python(mini: Any, function: Callable[..., Any], args: tuple[Any, ...], why: str) -> None:
    """Compiled and called three times, it gives what Python gives, and changes its arguments in the same way."""
    region = mini.breaks.Region(function)
    for call in range(3):
        mine, plain = copy.deepcopy(args), copy.deepcopy(args)
        expected, got = attempt(function, *plain), attempt(region, *mine)
        fact = f"{function.__name__}, compiled, call {call + 1}"
        expect(fact, expected, got, why)
        expect(f"{fact}: its arguments afterwards", plain, mine, why)
