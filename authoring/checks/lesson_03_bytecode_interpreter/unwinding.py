"""Exercise 03.1: two bugs in `unwind`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.dynamo.execution.concrete import interpret

from .listing import frame_of, read_listing

UNWINDING = Exercise(
    "03.1",
    "find the bugs: unwind",
    answer="unwind",
    minutes=12,
    hints=(
        "Two questions: which instructions does a row cover? And what may lie on the stack when the accident happens?",
        "A row covers start <= index < end. The instruction at `end` is the first one behind the block.",
        "Before anything is pushed: del self.stack[entry.depth :].",
    ),
    place="dynamo.unwind",
)
SECTION = "When something goes wrong"

PROGRAM = """
    0 LOAD_FAST            'a'
    1 LOAD_FAST            'b'
    2 LOAD_FAST            'c'
    3 BINARY_OP            '//'
    4 BINARY_OP            '-'
    5 RETURN_VALUE
    6 POP_TOP
    7 LOAD_CONST           -1
    8 RETURN_VALUE
      on error in 1..3: to 6, depth 1
      on error in 4..4: to 7, depth 0, lasti
"""
ERROR = ZeroDivisionError("division by zero")


def unwound(answer: Callable[..., Any], current: int, stack: list[Any]) -> tuple[Any, list[Any], int]:
    """What `unwind` gives, and the stack and next instruction after it."""
    frame = frame_of(read_listing(PROGRAM), a=1, b=2, c=0)
    frame.stack, frame.current, frame.index = list(stack), current, current + 1
    found = outcome(answer, (frame, ERROR))
    return found, frame.stack, frame.index


def expect(answer: Callable[..., Any], current: int, stack: list[Any], wanted: tuple[Any, list[Any], int]) -> None:
    got = unwound(answer, current, stack)
    if got != wanted:
        accident = f"an accident in instruction {current} with the stack {shown(stack)}"
        fact = f"{accident}: expected {told(wanted)}, got {told(got)}"
        raise WrongAnswer(fact, explain(current, stack, wanted, got)) from getattr(got[0], "error", None)


def row_after(current: int) -> int | None:
    """Where the frame would go on if the row of the next instruction were taken; None if that is the same row."""
    program = read_listing(PROGRAM)
    right, after = program.handler_of(current), program.handler_of(current + 1)
    return after.target if after is not None and after is not right else None


def told(result: tuple[Any, list[Any], int]) -> str:
    found, stack, index = result
    return f"{found!r}, stack {shown(stack)}, on to {index}"


def shown(stack: list[Any]) -> str:
    return f"[{', '.join('error' if value is ERROR else repr(value) for value in stack)}]"


def explain(current: int, stack: list[Any], wanted: tuple[Any, ...], got: tuple[Any, ...]) -> str:
    if wanted[0] is False and got[0] is True:
        return "No row covers this instruction: `end` is the first one behind the block, and not part of it."
    if got[0] is not wanted[0]:
        return "The result says whether there is a handler: True or False. Without one the frame is left as it is."
    if got[2] == row_after(current):
        return "self.index is the next instruction already. The one that raised is self.current."
    if wanted[0] is True and got[2] != wanted[2]:
        return "The frame goes on at the target of the row that covers the instruction."
    if len(got[1]) > len(wanted[1]) and current in got[1] and current not in wanted[1]:
        return "The raising index is pushed only if the row asks for it (`lasti`)."
    if ERROR in got[1] and got[1][-1] is not ERROR:
        return "The exception comes last, on top: the handler's first instruction takes it."
    if got[1][: len(stack)] == stack and len(stack) + 1 <= len(got[1]):
        return "The half-finished values are still there. Cut the stack to the row's depth before you push anything."
    return "From the bottom: as many values as the row's depth says, then the index if asked for, then the exception."


@UNWINDING.case("which row covers the instruction", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    expect(answer, 3, [1], (True, [1, ERROR], 6))
    expect(answer, 0, [], (False, [], 1))
    expect(answer, 5, [1], (False, [1], 6))


@UNWINDING.case("what the handler finds on the stack", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    expect(answer, 3, [1, 2, 0], (True, [1, ERROR], 6))
    expect(answer, 2, [1, 2], (True, [1, ERROR], 6))
    expect(answer, 4, [], (True, [4, ERROR], 7))
    expect(answer, 4, [1, 2], (True, [4, ERROR], 7))


def behind(a: int, b: int) -> Any:
    """Fails behind the block, which must not catch it."""
    try:
        a += 1
    except ZeroDivisionError:
        return "caught"
    return a // b


def inside(a: int, b: int) -> Any:
    """Fails deep in an expression."""
    try:
        return [a, (a, a // b)]
    except ZeroDivisionError as error:
        return [a, str(error)]
    finally:
        a = 0


def in_a_loop(a: int, b: int) -> Any:
    """Fails again and again, with an iterator below."""
    found: list[int | None] = []
    for n in range(a):
        try:
            found.append(n // (n - b))
        except ZeroDivisionError:
            found.append(None)
    return found


def in_a_handler(a: int, b: int) -> Any:
    """Fails while an exception is handled."""
    try:
        try:
            return a // b
        except ZeroDivisionError:
            return dict[int, int]()[a]
    except KeyError as error:
        return repr(error.__context__)


@UNWINDING.case("whole programs, in the package", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    calls = list(itertools.product((behind, inside, in_a_loop, in_a_handler), ((4, 0), (4, 2))))
    trials = [(program, arguments, repr(outcome(program, arguments))) for program, arguments in calls]
    with splice("dynamo.unwind", answer):
        for program, arguments, expected in trials:
            got = repr(outcome(interpret, (program, *arguments)))
            if got != expected:
                fact = f"{program.__name__}{arguments}, interpreted with your unwind: expected {expected}, got {got}"
                raise WrongAnswer(fact, f"The program: {program.__doc__}")
