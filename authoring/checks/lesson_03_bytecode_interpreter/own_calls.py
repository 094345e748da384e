"""Exercise 03.9: calls, with their two places for the callable, keywords and stars."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_frames import after, agrees, frame_of, noting

OWN_CALLS = Step(
    "03.9",
    "calls",
    file="interpreter",
    minutes=12,
    hints=(
        "Below the arguments lie two places. Take both off, throw the NULL away: what is left is the function, and"
        " perhaps a first argument.",
        "The values of the keywords were pushed last, and the tuple of their names on top of them.",
        "function, *first = [half for half in self.popn(2) if half is not NULL]; then"
        " self.push(self.apply(function, *first, *args, **kwargs)). The flag of CALL_FUNCTION_EX is a bit: & 1.",
    ),
)
SECTION, APPLY = "Calls", "The package's interpreter"


def told(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


@OWN_CALLS.case("positions", points=2, section=SECTION)
def _(mini: Any) -> None:
    null = mini.interpreter.NULL
    why = (
        "Two places are for the callable, and one of them may be NULL: before 3.13 the lower one, later the upper one."
    )
    expect("CALL 0 on ['x', NULL, f]", ["x", ((), {})], after(frame_of(mini, ["x", null, told]), "CALL", 0), why)
    expect(
        "CALL 2 on ['x', f, NULL, 1, 2]",
        ["x", ((1, 2), {})],
        after(frame_of(mini, ["x", told, null, 1, 2]), "CALL", 2),
        why,
    )
    why = "If neither place is NULL, the second is the first argument: self."
    expect(
        "CALL 1 on ['x', f, 'self', 1]",
        ["x", (("self", 1), {})],
        after(frame_of(mini, ["x", told, "self", 1]), "CALL", 1),
        why,
    )


@OWN_CALLS.case("keywords", points=1, section=SECTION)
def _(mini: Any) -> None:
    null = mini.interpreter.NULL
    why = "The tuple of names is on top; the last values are for them, the others go by position."
    got = after(frame_of(mini, ["x", null, told, 1, 2, 3, ("a", "b")]), "CALL_KW", 3)
    expect("CALL_KW 3 on ['x', NULL, f, 1, 2, 3, ('a', 'b')]", ["x", ((1,), {"a": 2, "b": 3})], got, why)
    got = after(frame_of(mini, [null, told, 1, ("a",)]), "CALL_KW", 1)
    expect("CALL_KW 1 on [NULL, f, 1, ('a',)]", [((), {"a": 1})], got, why)


@OWN_CALLS.case("stars", points=1, section=SECTION)
def _(mini: Any) -> None:
    null = mini.interpreter.NULL
    got = after(frame_of(mini, ["x", null, told, (1, 2)]), "CALL_FUNCTION_EX", 0)
    expect(
        "CALL_FUNCTION_EX 0 on ['x', NULL, f, (1, 2)]",
        ["x", ((1, 2), {})],
        got,
        "No keywords: one value is to be spread.",
    )
    got = after(frame_of(mini, ["x", told, null, [1], {"a": 2}]), "CALL_FUNCTION_EX", 1)
    expect(
        "CALL_FUNCTION_EX 1 on ['x', f, NULL, [1], {'a': 2}]", ["x", ((1,), {"a": 2})], got, "The keywords lie on top."
    )
    got = after(frame_of(mini, [null, told, iter("ab")]), "CALL_FUNCTION_EX", 0)
    expect(
        "CALL_FUNCTION_EX 0 with an iterator", [(("a", "b"), {})], got, "Anything that can be looped over is spread."
    )


def calling(text: str) -> Any:
    words = text.split(" ", maxsplit=1)
    return (
        told(*words, *map(len, words), end=text.upper(), **{"n": len(words)}),
        "-".join(words),
        told(),
        told(words[0]),
    )


@OWN_CALLS.case("a whole function", points=1, section=SECTION)
def _(mini: Any) -> None:
    for text in ("a", "ab cd ef"):
        agrees(mini, calling, (text,), "A method, keywords, stars: which of the three handlers is it?")


@OWN_CALLS.case("all by apply", points=1, section=APPLY)
def _(mini: Any) -> None:
    null = mini.interpreter.NULL
    trials: list[tuple[str, Any, list[Any]]] = [
        ("CALL", 1, [null, told, 1]),
        ("CALL_KW", 1, [null, told, 1, ("a",)]),
        ("CALL_FUNCTION_EX", 0, [null, told, (1,)]),
    ]
    for op, arg, stack in trials:
        frame = frame_of(mini, stack, noting(mini))
        after(frame, op, arg)
        if told not in frame.asked:
            why = "Going into a function, or recording it: the tracer decides that in `apply`."
            raise WrongAnswer(f"{op} called the function itself, and not by self.apply", why)
