"""Exercise 03.5: a program written in bytecode, counted in instructions."""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.dynamo.bytecode.instructions import INSTRUCTIONS, JUMPS, Instruction, Program

from .listing import NO_CODE, frame_of

GREATEST_DIVISOR = Exercise(
    "03.5",
    "bytecode by hand",
    answer="program",
    minutes=20,
    hints=(
        "Translate it line by line first: the loop is a test at the top, a jump out of it, and a jump back at its end.",
        "For par, keep both numbers on the stack and store nothing: load a and b once, before the loop.",
        "On the stack a, b: COPY 1 and POP_JUMP_IF_FALSE test b; then SWAP 2, COPY 2, BINARY_OP % leave b, a % b.",
    ),
)
SECTION = "Jumps"
PAR, FAIR, STEPS = 10, 14, 2000
PAIRS = [(6, 4), (4, 6), (5, 0), (7, 7), (1071, 462), (0, 3), (2, 1), (144, 89)]


def as_program(answer: Any) -> Program:
    if isinstance(answer, list) and any(line is ... or isinstance(line, tuple) and ... in line for line in answer):
        raise NotWritten("an instruction is still `...`")
    if not isinstance(answer, list) or not all(isinstance(line, tuple) and line for line in answer):
        came = type(answer).__name__
        raise WrongAnswer(f"program: expected a list of tuples such as ('LOAD_FAST', 'a'), got {came}")
    return Program(NO_CODE, tuple(_instruction(number, *line) for number, line in enumerate(answer)))


def _instruction(number: int, opname: str, operand: Any = None, *more: Any) -> Instruction:
    if more or opname not in INSTRUCTIONS:
        raise WrongAnswer(
            f"instruction {number}: {opname!r} is no instruction", "The lesson's handlers have the names."
        )
    if opname.startswith(("CALL", "LOAD_GLOBAL", "IMPORT")):
        raise WrongAnswer(f"instruction {number}: {opname}", "No calls, please: the loop is to be yours.")
    if opname not in JUMPS:
        return Instruction(opname, operand)
    if type(operand) is not int:
        raise WrongAnswer(
            f"instruction {number}: {opname} to {operand!r}", "A jump needs the number of an instruction."
        )
    return Instruction(opname, target=operand)


def run(program: Program, a: int, b: int) -> Any:
    """The result; every place must be reached with one stack depth, as Python's own compiler guarantees."""
    frame, depths = frame_of(program, a=a, b=b), dict[int, int]()
    for _ in range(STEPS):
        here, depth = frame.index, len(frame.stack)
        if not isinstance(here, int) or not 0 <= here < len(program.instructions):
            raise WrongAnswer(f"gcd({a}, {b}): went on to {here}, where nothing is", "The last step is RETURN_VALUE.")
        if depths.setdefault(here, depth) != depth:
            fact = (
                f"gcd({a}, {b}): instruction {here} is reached with {depths[here]} and with {depth} values on the stack"
            )
            raise WrongAnswer(fact, "A loop must leave the stack as it found it, or it grows with every round.")
        instruction = program.instructions[here]
        try:
            frame.step()
        except (LookupError, NameError, TypeError, AttributeError, ZeroDivisionError) as error:
            fact = f"gcd({a}, {b}): {instruction} at {here} raised {type(error).__name__}: {error}"
            raise WrongAnswer(fact, _why_it_raised(error)) from error
        if frame.outcome is not None:
            return frame.outcome.value
    why = "Which number gets smaller in each round? Look at the order of the operands of %."
    raise WrongAnswer(f"gcd({a}, {b}): still running after {STEPS} instructions", why)


def _why_it_raised(error: Exception) -> str:
    if isinstance(error, IndexError):
        return "It takes more values than are on the stack."
    if isinstance(error, ZeroDivisionError):
        return "The loop is entered although b is 0. Test at the top, before anything is divided."
    if isinstance(error, NameError):
        return "The slots are a and b; any other must be stored before it is loaded."
    return "Does the instruction have the operand that it needs?"


def check_values(program: Program) -> None:
    for a, b in PAIRS:
        got = run(program, a, b)
        if got != math.gcd(a, b) or type(got) is not int:
            why = "When the loop ends, one of the two numbers is 0. The answer is the other one."
            raise WrongAnswer(f"gcd({a}, {b}): expected {math.gcd(a, b)}, got {got!r}", why if got == 0 else "")


@GREATEST_DIVISOR.case("it computes the greatest common divisor", points=2, section=SECTION)
def _(answer: Any) -> None:
    check_values(as_program(answer))


@GREATEST_DIVISOR.case(f"in {FAIR} instructions or fewer", points=1, section=SECTION)
def _(answer: Any) -> None:
    program = as_program(answer)
    check_values(program)
    count = len(program.instructions)
    if count > FAIR:
        raise WrongAnswer(f"you used {count} instructions, fair is {FAIR}", "Is something loaded and never used?")


@GREATEST_DIVISOR.case(f"par: {PAR} instructions", points=1, section="Look at it")
def _(answer: Any) -> None:
    program = as_program(answer)
    check_values(program)
    count = len(program.instructions)
    if count > PAR:
        stores = sum(step.opname == "STORE_FAST" for step in program.instructions)
        why = (
            f"You store {stores} times a round, only to load again. Can the two numbers stay on the stack?"
            if stores
            else "Does the loop have one test, at the top, and one jump, at its end?"
        )
        raise WrongAnswer(f"you used {count} instructions, par is {PAR}", why)
