"""Exercise 03.5: a frame, which is a call under way."""

from __future__ import annotations

import types
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect

OWN_FRAME = Step(
    "03.5",
    "a frame",
    file="interpreter",
    minutes=15,
    hints=(
        "A step: look at the instruction, count on, and only then call its handler, which may be a jump.",
        "The variables of enclosing functions are slots, too: dict(zip(code.co_freevars, function.__closure__ or ())).",
        "The locals: if co_varnames begins with '.0', {'.0': args[0]}, else inspect.getcallargs(function, *args,"
        " **kwargs). run: outcome = None, then step until it is something else.",
    ),
)
SECTION, GENERATORS = "The smallest interpreter", "A generator is a frame that waits"


def scaled(x: Any, *rest: Any, scale: int = 2, **named: Any) -> Any:
    return x * scale, rest, named


def outer() -> Any:
    k = 3

    def inner(x: Any) -> Any:
        return x + k

    return inner


@OWN_FRAME.case("what a frame begins with", points=2, section=SECTION)
def _(mini: Any) -> None:
    slots = attempt(lambda: mini.interpreter.Frame(scaled, (1, 2, 3), {"a": 4}).locals)
    expected = {"x": 1, "rest": (2, 3), "named": {"a": 4}, "scale": 2}
    if slots != expected:
        fact = f"a call with (1, 2, 3) and a=4, parameters (x, *rest, scale=2, **named): expected {expected!r}"
        raise WrongAnswer(f"{fact}, got {slots!r}", "inspect.getcallargs knows how Python does it.")
    generator: Any = (i for i in "ab")
    comprehension = types.FunctionType(generator.gi_code, {})
    why = "A comprehension is a function of one argument, which has no name that anybody could write: `.0`."
    expect(
        "the locals of a comprehension, which is called with ('items',)",
        {".0": "items"},
        attempt(lambda: mini.interpreter.Frame(comprehension, ("items",), {}).locals),
        why,
    )
    frame = attempt(mini.interpreter.Frame, outer(), (1,), {})
    if isinstance(frame, str):
        raise WrongAnswer(
            f"Frame(function, (1,), {{}}): {frame}", "What does a call need before its first instruction?"
        )
    expect(
        "the stack, the place and the outcome of a new frame",
        ([], 0, None),
        (frame.stack, frame.at, frame.outcome),
        "It has not begun.",
    )
    if getattr(frame.locals.get("k"), "cell_contents", None) != 3:
        fact = f"a frame of a function that uses k of an enclosing one: its slots are {frame.locals!r}"
        raise WrongAnswer(fact, "The cells of the function's closure are among the slots, under the names co_freevars.")


@OWN_FRAME.case("one step", points=1, section=SECTION)
def _(mini: Any) -> None:
    seen: list[Any] = []

    class Noting(mini.interpreter.Frame):
        at: int

        def LOAD_CONST(self, value: Any) -> None:
            seen.append((value, self.at))
            self.at = 5

    frame = Noting(scaled, (1,), {})
    frame.program = [("LOAD_CONST", "here")]
    frame.step()
    why = (
        "Count on before the handler runs: a jump sets the number of the next instruction, and must have the last word."
    )
    expect("a handler that jumps to 5: what it saw, and where the frame is", ([("here", 1)], 5), (seen, frame.at), why)


@OWN_FRAME.case("to the end, and on", points=1, section=GENERATORS)
def _(mini: Any) -> None:
    class Counting(mini.interpreter.Frame):
        def step(self) -> None:
            self.steps = getattr(self, "steps", 0) + 1
            self.outcome = ("yield", self.steps) if self.steps % 3 == 0 else None

    frame = Counting(scaled, (1,), {})
    why = "Step until there is an outcome, and give it."
    expect("run, with an outcome at the third step", ("yield", 3), attempt(frame.run), why)
    why = "A frame that has yielded is run on: its outcome is of the last time, so begin with none."
    expect("run, once more", ("yield", 6), attempt(frame.run), why)


@OWN_FRAME.case("the stack", points=1, section=SECTION)
def _(mini: Any) -> None:
    frame = mini.interpreter.Frame(scaled, (1,), {})
    for value in "abcd":
        frame.push(value)
    got = attempt(lambda: (frame.popn(2), frame.popn(0), frame.pop(), frame.stack))
    why = "popn takes the topmost, the one pushed last comes last; and 0 values are none."
    expect("push a, b, c, d; popn(2), popn(0), pop(), the stack", (["c", "d"], [], "b", ["a"]), got, why)


@OWN_FRAME.case("apply", points=1, section="The package's interpreter")
def _(mini: Any) -> None:
    frame = mini.interpreter.Frame(scaled, (1,), {})
    got = attempt(lambda: frame.apply(scaled, 2, 3, scale=5, a=1))
    expect(
        "apply(scaled, 2, 3, scale=5, a=1)",
        scaled(2, 3, scale=5, a=1),
        got,
        "Plain Python just calls, with all arguments.",
    )
