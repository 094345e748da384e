"""Step 07.6: off for the compiler's own work, and for what the program wants to be left alone."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

ON_AND_OFF = Step(
    "07.6",
    "on and off",
    file="frames",
    minutes=12,
    hints=(
        "quiet makes another function: it puts ORIGINAL in the place of Frame.apply, calls, and puts back what was"
        " there.",
        "What was there need not be ORIGINAL: a hook may be entered. Remember it first, and put it back in a `finally`,"
        " since the function may raise.",
        "disable: functools.partial(quiet(function)). A partial is written in C, so neither the hook nor the tracer"
        " finds"
        " a Python function behind it.",
    ),
)
SECTION = "On and off"
RECURSION = "The hook that calls itself"


def marked(frame: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """In the place of Frame.apply while a case runs."""
    return "taken over"


class Hooked:
    """A hook of our own is entered."""

    def __init__(self, mini: Any) -> None:
        self.frame = mini.interpreter.Frame

    def __enter__(self) -> None:
        self.before, self.frame.apply = self.frame.apply, marked

    def __exit__(self, *error: object) -> None:
        self.frame.apply = self.before


@ON_AND_OFF.case("quiet within, and afterwards as before", points=2, section=RECURSION)
def _(mini: Any) -> None:
    frame, seen = mini.interpreter.Frame, []

    def work(a: int, *, b: int) -> int:
        seen.append(frame.apply)
        return a + b

    quiet = mini.frames.quiet(work)
    if seen:
        raise WrongAnswer("quiet(work) has called work already", "It gives a function, which is called later.")
    with Hooked(mini):
        got = quiet(1, b=2)
        after = frame.apply
    if got != 3:
        raise WrongAnswer(f"quiet(work)(1, b=2): expected 3, got {got!r}", "It takes and gives what the function does.")
    if seen != [mini.frames.ORIGINAL]:
        raise WrongAnswer(
            "while the quiet function ran, the hook was on",
            "The backend is Python, too. If its calls came to the hook, compiling would compile the compiler.",
        )
    if after is not marked:
        raise WrongAnswer(
            "a hook was entered; after a quiet call it is off",
            "Put back what was there before the call, whatever it was.",
        )


@ON_AND_OFF.case("also if it raises", points=1, section=SECTION)
def _(mini: Any) -> None:
    def fails() -> None:
        raise ZeroDivisionError

    with Hooked(mini):
        got = outcome(mini.frames.quiet(fails), ())
        after = mini.interpreter.Frame.apply
    if "ZeroDivisionError" not in repr(got):
        raise WrongAnswer(f"the function raised, and quiet gave {got!r}", "The error is the program's: let it pass.")
    if after is not marked:
        raise WrongAnswer(
            "a quiet function raised an error, and the hook is off from then on",
            "An error ends the call, too: put back in a `finally`.",
        )


@ON_AND_OFF.case("disabled: left alone by all", points=2, section=SECTION)
def _(mini: Any) -> None:
    frame, seen = mini.interpreter.Frame, []

    def inner(x: Any) -> Any:
        seen.append(frame.apply)
        return x * 2

    disabled = mini.frames.disable(inner)
    x = mini.tensor.tensor([1.0])
    with Hooked(mini):
        got = outcome(disabled, (x,))
    if seen != [mini.frames.ORIGINAL] or got.tolist() != [2.0]:
        raise WrongAnswer(
            f"disable(f)(x) gave {got!r}, expected f's result, with the hook off within",
            "What it calls is left alone as well: make it quiet.",
        )

    if mini.frames.behind(disabled, (x,))[0] is not None:
        raise WrongAnswer(
            "behind(disable(f), (x,)) finds a Python function",
            "Who looks for one goes into it: give it something that is written in C.",
        )

    def outer(x: Any) -> Any:
        return disabled(x + 1) + 1

    traced = mini.tracer.Trace(mini.interpreter.Frame(outer, (x,), {}))
    traced.run()
    ops = [str(node.op) for node in traced.record.graph.nodes]
    if ops != ["add"]:
        raise WrongAnswer(
            f"outer(x) = disabled(x + 1) + 1 was traced, and the graph has {ops}, expected ['add']",
            "The tracer went into it, as it goes into every Python function.",
        )
