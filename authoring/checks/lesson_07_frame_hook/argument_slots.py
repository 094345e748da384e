"""Exercise 07.1: the slots of a frame that a call fills, and the hook reading them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.dynamo import frame_hook
from minitorch_compile.dynamo.testing import eager

from .program_text import program_of

ARGUMENT_SLOTS = Exercise(
    "07.1",
    "the slots that a call fills",
    answer="argument_names",
    minutes=10,
    place="dynamo.argument_names",
    hints=(
        "code.co_varnames has the arguments first, and then the local variables. How many are arguments?",
        "co_argcount counts the positional ones, co_kwonlyargcount those by keyword only. *args and **kwargs have a"
        " slot each, if they are there: co_flags & inspect.CO_VARARGS, co_flags & inspect.CO_VARKEYWORDS.",
        "code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + one for each of the two flags that is set].",
    ),
)
WEIGH = """
def weigh(x, /, by=2, *rest, offset=0, **more):
    result = x * by + sum(rest) + offset
    return result, sorted(more)
"""
SECTION = "Two questions in Python"

LOCALS = "co_varnames goes on with the local variables, which no call fills."
BY_KEYWORD = "Arguments by keyword only have slots, too, behind the positional ones."
STARS = "*args and **kwargs have a slot each: a tuple and a dict. The flags of the code say whether they are there."
POSITIONAL = "Positional-only arguments are counted in co_argcount already."
NO_STARS = "This function has no *args or no **kwargs, so there is no slot for it."


def plain(x: Any, y: Any) -> Any:
    z = x + y
    half = z / 2
    return half


def only_positional(x: Any, /, y: Any) -> Any:
    total = x + y
    half = total / 2
    return half


def by_keyword(x: Any, *, y: Any, z: Any = 1) -> Any:
    both = y * z
    return x + both


def with_args(x: Any, *rest: Any) -> Any:
    first = rest[0]
    return x, first


def with_kwargs(x: Any, **more: Any) -> Any:
    keys = list(more)
    return x, keys


def everything(x: Any, /, y: Any, *rest: Any, key: Any, other: Any = 2, **more: Any) -> Any:
    result = x, y, rest, key, other, more
    return result


def nothing() -> Any:
    local = 1
    return local


ORDER = {
    inspect.Parameter.POSITIONAL_ONLY: 0,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: 0,
    inspect.Parameter.KEYWORD_ONLY: 1,
    inspect.Parameter.VAR_POSITIONAL: 2,
    inspect.Parameter.VAR_KEYWORD: 3,
}


def truth(function: Callable[..., Any]) -> tuple[str, ...]:
    """From the signature, which Python works out in its own way."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in sorted(parameters, key=lambda p: ORDER[p.kind]))


def judge(answer: Callable[..., Any], *functions: Callable[..., Any]) -> None:
    for function in functions:
        got, expected = outcome(answer, (function.__code__,)), truth(function)
        if got != expected:
            header = f"def {function.__name__}{inspect.signature(function)}"
            raise WrongAnswer(f"{header}: expected {expected!r}, got {got!r}", misconception(function, expected, got))


def misconception(function: Callable[..., Any], expected: tuple[str, ...], got: Any) -> str:
    code = function.__code__
    if not isinstance(got, tuple):
        return ""
    if len(got) < len(expected):
        return BY_KEYWORD if code.co_kwonlyargcount and got == expected[: code.co_argcount] else STARS
    if code.co_posonlyargcount and len(got) == len(expected) + code.co_posonlyargcount:
        return POSITIONAL
    return NO_STARS if code.co_flags & inspect.CO_VARARGS else LOCALS


@ARGUMENT_SLOTS.case("positional arguments", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, plain, nothing, only_positional)


@ARGUMENT_SLOTS.case("arguments by keyword only", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, by_keyword)


@ARGUMENT_SLOTS.case("arguments of all kinds", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, with_args, with_kwargs, everything)


@ARGUMENT_SLOTS.case("spliced in, the hook reads frames by your slots", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    weigh = program_of(WEIGH)["weigh"]

    def run() -> Any:
        with frame_hook(eager) as hook:
            result, names = weigh(torch.ones(2), 3, 4, offset=5, other=6)
        return result.tolist(), names, len(hook.region.graph_modules)

    with splice("dynamo.argument_names", answer):
        got = outcome(run, ())
    if got != ([12.0, 12.0], ["other"], 1):
        raise WrongAnswer(
            f"weigh(ones(2), 3, 4, offset=5, other=6): expected ([12.0, 12.0], ['other']) by 1 graph, got {got!r}",
            "The hook took the arguments out of the frame by your names. Get the cases above to pass first.",
        )
