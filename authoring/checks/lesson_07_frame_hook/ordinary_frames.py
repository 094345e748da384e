"""Exercise 07.2: which frames can be answered by a result."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.dynamo import frame_hook
from minitorch_compile.dynamo.testing import eager

from .program_text import program_of

ORDINARY_FRAMES = Exercise(
    "07.2",
    "frames that can be captured",
    answer="is_ordinary",
    minutes=12,
    place="dynamo.is_ordinary",
    hints=(
        "All is in code.co_flags and code.co_varnames. Print the flags of a function, a generator and a class body.",
        "inspect.CO_GENERATOR, CO_COROUTINE and CO_ASYNC_GENERATOR must not be set; CO_OPTIMIZED and CO_NEWLOCALS must"
        " both be.",
        "And the first co_argcount names of co_varnames must be names: '.0'.isidentifier() is False.",
    ),
)
SECTION = "Which frames are worth it"

GENERATOR = "Calling a generator runs nothing yet: its frame is put aside, and evaluated in pieces later."
ASYNC = "A coroutine is put aside like a generator, and so is an asynchronous generator: three flags, not one."
BODY = "The body of a class or a module is no function: its variables live in a dictionary, not in slots."
HIDDEN = "An argument named '.0' can't be written in Python: the hidden function of a comprehension, until 3.11."
LAMBDA = "A lambda is a function like any other, and so is a function in a function."

SOURCE = """
def plain(x):
    return x

def with_default(x, *rest, by=2, **more):
    return x

def outer(x):
    def inner(y):
        return x + y
    return inner

square = lambda x: x * x

def producer(x):
    yield x

async def later(x):
    return x

async def stream(x):
    yield x

class Box:
    size = 1
"""


PRODUCE = """
def doubled(x):
    return x * 2

def produce(x):
    yield doubled(x)
"""


def codes() -> dict[str, CodeType]:
    """Every code object that the text above gives rise to, by name."""
    module = compile(SOURCE, "<a program>", "exec")
    found = {"the module": module}
    waiting = [module]
    while waiting:
        inside = [constant for constant in waiting.pop().co_consts if isinstance(constant, CodeType)]
        found |= {code.co_name: code for code in inside}
        waiting += inside
    plain = found["plain"]
    return found | {"a comprehension of Python 3.11": plain.replace(co_varnames=(".0",))}


def judge(answer: Callable[..., Any], expected: bool, why: str, *names: str) -> None:
    known = codes()
    for name in names:
        got = outcome(answer, (known[name],))
        if got is not expected:
            raise WrongAnswer(f"is_ordinary of the code of {name}: expected {expected}, got {got!r}", why)


@ORDINARY_FRAMES.case("generators are told from functions", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, True, LAMBDA, "plain", "with_default", "<lambda>", "inner", "outer")
    judge(answer, False, GENERATOR, "producer")


@ORDINARY_FRAMES.case("coroutines and asynchronous generators", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, True, LAMBDA, "plain")
    judge(answer, False, ASYNC, "later", "stream")


@ORDINARY_FRAMES.case("bodies of classes and modules", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, True, LAMBDA, "plain")
    judge(answer, False, BODY, "Box", "the module")


@ORDINARY_FRAMES.case("parameters without a name", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, True, LAMBDA, "plain", "with_default")
    judge(answer, False, HIDDEN, "a comprehension of Python 3.11")


@ORDINARY_FRAMES.case("spliced in, the hook lets the right frames pass", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    produce = program_of(PRODUCE)["produce"]

    def run() -> Any:
        with frame_hook(eager) as hook:
            values = [x.tolist() for x in produce(torch.ones(2))]
        return values, [cache.code.co_name for cache in hook.region.caches]

    with splice("dynamo.is_ordinary", answer):
        got = outcome(run, ())
    if got != ([[2.0, 2.0]], ["doubled"]):
        raise WrongAnswer(
            f"a generator that calls doubled(): expected ([[2.0, 2.0]], ['doubled']), got {got!r}",
            "`doubled` is to be captured, the generator around it is not. Get the cases above to pass first.",
        )
