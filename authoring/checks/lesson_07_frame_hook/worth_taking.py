"""Step 07.4: which calls the compiler should answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import FunctionType, SimpleNamespace
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

WORTH_TAKING = Step(
    "07.4",
    "which calls are worth it",
    file="frames",
    minutes=12,
    hints=(
        "function.__module__ is where it was defined; the first word of it is the package: module.partition('.')[0].",
        "A generator is told by a flag of its code: function.__code__.co_flags & SUSPENDED. Modules of mini.nn are the"
        " program's, the rest of mini is the machine.",
        "in_sight: look at the value, at a list's or tuple's items, at a dictionary's values, and at the values of an"
        " object's __dict__. One level is enough: this is a guess.",
    ),
)
SECTION = "Which frames are worth it"


def mine(x: Any) -> Any:
    return x


def produces(x: Any) -> Iterator[Any]:
    yield x


async def waits(x: Any) -> Any:
    return x


@WORTH_TAKING.case("the program's own functions", points=2, section=SECTION)
def _(mini: Any) -> None:
    nameless: Any = FunctionType(mine.__code__, {})
    nameless.__module__ = None
    library = "A library's function is none of the program's: to go into it costs time, and gives nothing."
    machine = "That is a part of the machine. Taken over, it would run below itself."
    suspended = "Its frame stops and goes on later, and gives no result that could be put in its place."
    for function, expected, why in (
        (mine, True, "A function of the program is taken."),
        (
            mini.nn.Linear.forward,
            True,
            "The modules of mini.nn belong to the program: their calls are what it computes.",
        ),
        (nameless, True, "A function without a module is the program's: an empty name is no library's."),
        (json.dumps, False, library),
        (json.JSONEncoder.encode, False, "json.encoder is a part of json: the first word of the name counts."),
        (mini.interpreter.Frame.step, False, machine),
        (mini.tensor.Tensor.numpy, False, machine),
        (produces, False, suspended),
        (waits, False, suspended),
    ):
        got = outcome(mini.frames.may_be_taken, (function,))
        if bool(got) is not expected:
            raise WrongAnswer(f"may_be_taken({function.__qualname__}): expected {expected}, got {got!r}", why)


@WORTH_TAKING.case("is there a tensor in sight?", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0])
    inside = "A container's items count, a dictionary's values, and what an object's attributes hold."
    for value, text, expected, why in (
        (x, "a tensor", True, "A tensor is one."),
        ([1, x], "[1, tensor]", True, inside),
        ((x,), "(tensor,)", True, inside),
        ({"a": x}, "{'a': tensor}", True, inside),
        (SimpleNamespace(weight=x), "an object with a tensor as its weight", True, inside),
        (3, "3", False, "A number is none."),
        ([], "[]", False, "An empty list holds none."),
        ({}, "{}", False, "An empty dictionary holds none."),
        (None, "None", False, "None has no attributes."),
        ("text", "'text'", False, "A text holds none."),
        (
            mini.tensor.Tensor,
            "the class Tensor",
            False,
            "A class is no object of its own kind: none of its methods is a tensor.",
        ),
    ):
        got = outcome(mini.frames.in_sight, (value,))
        if got is not expected:
            raise WrongAnswer(f"in_sight of {text}: expected {expected}, got {got!r}", why)
