"""Exercise 06.2: repair the function that makes the rest of a function."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter, interpret

REST_OF = Exercise(
    "06.2",
    "find the bug: the rest of a function",
    answer="rest_of",
    minutes=15,
    hints=(
        "Print decode(rest.__code__) for a small function, and follow the first instructions with a pencil: what is on"
        " the stack when the jump is done, and where does it land?",
        "The stack is given from the bottom. What is pushed first ends up at the bottom.",
        "All instructions of the user's moved down by len(prefix), and the prefix holds the JUMP itself as well.",
    ),
)
SECTION = "The rest of a function"


def difference(a: int, b: int) -> int:
    return a - b * 2


def called(f: Callable[[int], int], x: int) -> int:
    return f(x) + f(x + 1)


def looped(count: int) -> list[int]:
    found = []
    for i in range(count):
        found.append(i * i)
    return found


def chosen(x: int) -> str:
    y = x + 1
    if y > 3:
        return f"large {y}"
    return f"small {y}"


EARLY = (
    "The jump lands one instruction too early, so something is done twice. The prefix holds the JUMP itself, too, and"
    " all of the user's instructions moved down by its whole length."
)
LATE = "The jump lands too late, so an instruction is skipped."
ORDER = (
    "The values arrive the other way round: the stack is given from the bottom, and what is pushed first lies lowest."
)
NULLS = "Where the stack held NULL, NULL must be pushed again: it is no value, and nobody passes it as an argument."


def judge(answer: Callable[..., Any], function: Callable[..., Any], arguments: tuple[Any, ...], most: int) -> None:
    """Splits a call before every instruction with at most so many values on the stack."""
    assert isinstance(function, FunctionType)
    expected, steps = interpret(function, *arguments), 1
    while (frame := stopped(function, arguments, steps)).outcome is None:
        if len(frame.stack) <= most:
            split(answer, function, frame, expected)
        steps += 1


def stopped(function: FunctionType, arguments: tuple[Any, ...], steps: int) -> ConcreteInterpreter:
    """A frame of a new call, after so many instructions."""
    slots = dict(zip(function.__code__.co_varnames, arguments, strict=False))
    frame = ConcreteInterpreter(decode(function.__code__), slots, function.__globals__)
    while frame.outcome is None and steps:
        frame.step()
        steps -= 1
    return frame


def split(answer: Callable[..., Any], function: FunctionType, frame: ConcreteInterpreter, expected: Any) -> None:
    """Hands a frame over to the learner's function, and judges how that starts and what comes out of it."""
    inst = frame.instructions[frame.index]
    text = " ".join(str(inst).split())
    where = f"`{function.__name__}`, split before instruction {frame.index} ({text})"
    try:
        rest = answer(function, frame.index, list(frame.stack), list(frame.locals))
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except Exception as error:
        raise WrongAnswer(f"{where}: rest_of raised {type(error).__name__}: {error}") from error
    if not isinstance(rest, FunctionType):
        raise WrongAnswer(f"{where}: expected a function, got {rest!r}")
    values = [*frame.locals.values(), *(value for value in frame.stack if value is not NULL)]
    started = prefix_done(rest, values)
    fact = f"{where}: "
    if started is None:
        raise WrongAnswer(f"{fact}no jump to the rest is found at its beginning", EARLY)
    stack, target = started
    if list(map(show, stack)) != list(map(show, frame.stack)):
        nulls = sum(value is NULL for value in stack) != sum(value is NULL for value in frame.stack)
        came = f"the stack should be {list(map(show, frame.stack))}, and is {list(map(show, stack))}"
        raise WrongAnswer(fact + came, NULLS if nulls else ORDER)
    moved = len(decode(rest.__code__).instructions) - len(frame.instructions)
    if target != frame.index + moved:
        landed = f"the rest begins at instruction {frame.index + moved} of the new function, the jump goes to {target}"
        raise WrongAnswer(fact + landed, EARLY if target < frame.index + moved else LATE)
    got = rest(*values)
    if got != expected:
        raise WrongAnswer(f"{fact}expected {expected!r} in the end, got {got!r}")


def prefix_done(rest: FunctionType, values: list[Any]) -> tuple[list[Any], int] | None:
    """The stack and the place behind the first jump, found out by the interpreter, which never crashes."""
    program = decode(rest.__code__)
    frame = ConcreteInterpreter(program, dict(zip(rest.__code__.co_varnames, values, strict=False)), {})
    for _ in range(20):
        if frame.index >= len(program.instructions):
            return None
        opname = program.instructions[frame.index].opname
        if opname not in ("LOAD_FAST", "DELETE_FAST", "PUSH_NULL", "JUMP"):
            return None
        frame.step()
        if opname == "JUMP":
            return frame.stack, frame.index
    return None


def show(value: Any) -> str:
    return "NULL" if value is NULL else getattr(value, "__name__", None) or repr(value).partition(" at ")[0]


@REST_OF.case("with nothing on the stack", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, chosen, (1,), most=0)
    judge(answer, chosen, (5,), most=0)


@REST_OF.case("with values on the stack", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, difference, (10, 3), most=3)
    judge(answer, chosen, (5,), most=3)


@REST_OF.case("in the middle of a call, where NULLs are", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, called, (abs, -5), most=9)


@REST_OF.case("in the middle of a loop", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, looped, (3,), most=9)
