"""Exercise 07.2: an `enter` that remembers, tried on a program under the real hook."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.dynamo.frame_evaluation.native import CAPTURE, PASS, RUN_AS_IS, Callback, Word, native_hook

REMEMBERING_HOOK = Exercise(
    "07.2",
    "a hook that remembers",
    answer="enter",
    minutes=15,
    hints=(
        "First decide whether to answer at all: if one of the slots is not an int, str, bool or None, RUN_AS_IS.",
        "The question is (function, slots), and the types of the slots besides, since 1 == True.",
        "result = call(); keep it only if its type is one of the four; return it in any case.",
    ),
)
SECTION = "Two questions in Python"

FUNCTION = "Two functions were called with the same arguments. The question must name the function, too."
CODE = "Two functions made by one `def` share their code, and not their closures: ask for the function itself."
TYPES = "1 and True are equal, but the function may tell them apart: keep the types with the values."
UNHASHABLE = "A list can be changed by the function, and can't be a key. Give such a frame back: RUN_AS_IS."
SHARED = "The caller changed the list that he was given, and the next caller got the changed one. Keep only what can't"
SHARED += " be changed."
ITSELF = "Calling the function makes a new frame, which the hook stops again, for ever. call() goes past the hook."
NOT_KEPT = "The same question was asked again, and the function ran again."

ran: list[str] = []


def plus(x: Any, y: Any) -> Any:
    ran.append("plus")
    return x + y


def times(x: Any, y: Any) -> Any:
    ran.append("times")
    return x * y


def shown(x: Any) -> Any:
    ran.append("shown")
    return repr(x)


def spread(n: Any) -> Any:
    ran.append("spread")
    return list(range(n))


def total(items: Any) -> Any:
    ran.append("total")
    items.append(1)
    return len(items)


def adder(n: Any) -> Any:
    def add(x: Any) -> Any:
        ran.append("add")
        return x + n

    return add


# By identity: the copy that call() runs has equal code.
HOOKED = {id(function.__code__) for function in (plus, times, shown, spread, total, adder(0))}


def run(answer: Callable[..., Any], program: Callable[[], Any]) -> Any:
    """The result of the program with the hook on, and what really ran."""
    memory: dict[Any, Any] = {}

    def judge(function: FunctionType) -> Word:
        code = function.__code__
        return Word(CAPTURE, slots=code.co_argcount) if id(code) in HOOKED else Word(PASS)

    def enter(function: FunctionType, *slots: Any) -> Any:
        def call() -> Any:
            copy = FunctionType(function.__code__.replace(), function.__globals__, closure=function.__closure__)
            return copy(*slots)

        return answer(memory, call, function, *slots)

    callback, hook = Callback(judge, enter), native_hook()
    ran.clear()
    hook.install()
    before = hook.set_callback(callback.address)
    try:
        return program(), list(ran)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    finally:
        hook.set_callback(before)
        hook.uninstall()


def compare(answer: Callable[..., Any], program: Callable[[], Any], text: str, count: int, why: str) -> None:
    """The program gives what it gives without a hook, and runs no more than `count` of its functions."""
    expected = program()
    try:
        got, really = run(answer, program)
    except RecursionError as error:
        raise WrongAnswer(f"{text}: never ended", ITSELF) from error
    except (WrongAnswer, NotWritten):
        raise
    except Exception as error:
        raise WrongAnswer(f"{text}: raised {type(error).__name__}: {error}", UNHASHABLE) from error
    if got != expected:
        raise WrongAnswer(f"{text}: expected {expected!r}, got {got!r}", why)
    if len(really) > count:
        raise WrongAnswer(f"{text}: ran {', '.join(really)}", NOT_KEPT)


@REMEMBERING_HOOK.case("the same question twice, and other questions", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    compare(answer, lambda: [plus(1, 2), plus(1, 2)], "plus(1, 2) twice", 1, "")
    compare(answer, lambda: [plus(2, 3), times(2, 3)], "plus(2, 3), times(2, 3)", 2, FUNCTION)
    compare(answer, lambda: [shown(None), shown("None"), shown(None)], "shown(None), shown('None')", 2, TYPES)


@REMEMBERING_HOOK.case("equal is not the same", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    compare(answer, lambda: [plus(1, 2), plus(1, 2)], "plus(1, 2) twice", 1, "")
    compare(answer, lambda: [shown(1), shown(True)], "shown(1), shown(True)", 2, TYPES)
    add_one, add_two = adder(1), adder(2)
    compare(answer, lambda: [add_one(1), add_two(1)], "adder(1)(1), adder(2)(1)", 2, CODE)


@REMEMBERING_HOOK.case("what can be changed", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    compare(answer, lambda: [plus(1, 2), plus(1, 2)], "plus(1, 2) twice", 1, "")
    items: list[int] = []

    def twice() -> list[int]:
        items.clear()
        return [total(items), total(items)]

    compare(answer, twice, "total(items) twice, which appends to items", 2, UNHASHABLE)

    def changed() -> list[Any]:
        first = spread(2)
        first.append(7)
        return [first, spread(2)]

    compare(answer, changed, "spread(2), append to it, spread(2)", 2, SHARED)


@REMEMBERING_HOOK.case("frames that are given back are given back as RUN_AS_IS", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    def called() -> Any:
        raise WrongAnswer("total([]) was called by your enter", "Give the frame back: RUN_AS_IS.")

    try:
        got = answer({}, called, total, [])
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except TypeError as error:
        raise WrongAnswer(f"enter({{}}, call, total, []) raised TypeError: {error}", UNHASHABLE) from error
    if got is not RUN_AS_IS:
        raise WrongAnswer(f"enter({{}}, call, total, []): expected RUN_AS_IS, got {got!r}", UNHASHABLE)
