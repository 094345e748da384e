"""Exercise 03.6: the deepest stack of a program, without running it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, Misconception, WrongAnswer, diagnose, outcome
from minitorch_compile.dynamo.bytecode.instructions import Program
from minitorch_compile.dynamo.execution.stack_shapes import stack_shapes

from .listing import read_listing

DEPTHS = Exercise(
    "03.6",
    "how deep does the stack get?",
    answer="deepest",
    minutes=20,
    hints=(
        "Keep a dictionary: instruction -> depth before it; and a list of instructions to look at, first (0, depth 0).",
        "From each instruction up to three ways lead on: to the next one, to its target, to its handler if it raises.",
        "A handler is entered with entry.depth + 1 values, one more with lasti. FOR_ITER jumps with one value fewer.",
    ),
)
SECTION, TROUBLE = "Jumps", "When something goes wrong"

EFFECTS = {
    "LOAD_CONST": 1,
    "LOAD_FAST": 1,
    "STORE_FAST": -1,
    "BINARY_OP": -1,
    "COMPARE_OP": -1,
    "POP_TOP": -1,
    "COPY": 1,
    "SWAP": 0,
    "JUMP": 0,
    "POP_JUMP_IF_TRUE": -1,
    "POP_JUMP_IF_FALSE": -1,
    "GET_ITER": 0,
    "FOR_ITER": 1,
    "PUSH_EXC_INFO": 1,
    "POP_EXCEPT": -1,
    "RERAISE": -1,
    "RETURN_VALUE": -1,
}

STRAIGHT = {
    "a - b * c": """
        0 LOAD_FAST            'a'
        1 LOAD_FAST            'b'
        2 LOAD_FAST            'c'
        3 BINARY_OP            '*'
        4 BINARY_OP            '-'
        5 RETURN_VALUE
    """,
    "a * b - c": """
        0 LOAD_FAST            'a'
        1 LOAD_FAST            'b'
        2 BINARY_OP            '*'
        3 LOAD_FAST            'c'
        4 BINARY_OP            '-'
        5 RETURN_VALUE
    """,
}
JUMPING = {
    "a if c else b * b": """
        0 LOAD_FAST            'c'
        1 POP_JUMP_IF_FALSE    to 4
        2 LOAD_FAST            'a'
        3 RETURN_VALUE
        4 LOAD_FAST            'b'
        5 LOAD_FAST            'b'
        6 BINARY_OP            '*'
        7 RETURN_VALUE
    """,
    "two ways that meet": """
        0 LOAD_FAST            'a'
        1 LOAD_FAST            'c'
        2 POP_JUMP_IF_FALSE    to 5
        3 LOAD_CONST           1
        4 JUMP                 to 6
        5 LOAD_CONST           2
        6 BINARY_OP            '+'
        7 RETURN_VALUE
    """,
    "a loop": """
        0 LOAD_CONST           0
        1 LOAD_FAST            'items'
        2 GET_ITER
        3 FOR_ITER             to 6
        4 STORE_FAST           'x'
        5 JUMP                 to 3
        6 LOAD_CONST           1
        7 BINARY_OP            '+'
        8 RETURN_VALUE
    """,
    "code that nothing leads to": """
        0 LOAD_FAST            'a'
        1 RETURN_VALUE
        2 LOAD_FAST            'a'
        3 LOAD_FAST            'a'
        4 LOAD_FAST            'a'
    """,
    "a loop that goes round": """
        0 LOAD_FAST            'items'
        1 GET_ITER
        2 FOR_ITER             to 7
        3 STORE_FAST           'x'
        4 LOAD_FAST            'x'
        5 POP_JUMP_IF_FALSE    to 2
        6 JUMP                 to 2
        7 LOAD_CONST           None
        8 RETURN_VALUE
    """,
}
HANDLING = {
    "a handler that is deeper than its block": """
        0 LOAD_FAST            'a'
        1 RETURN_VALUE
        2 PUSH_EXC_INFO
        3 LOAD_CONST           1
        4 LOAD_CONST           2
        5 BINARY_OP            '+'
        6 RETURN_VALUE
          on error in 0..0: to 2, depth 0
    """,
    "a handler below a waiting value": """
        0 LOAD_FAST            'a'
        1 LOAD_FAST            'b'
        2 BINARY_OP            '+'
        3 RETURN_VALUE
        4 PUSH_EXC_INFO
        5 RERAISE              0
          on error in 1..2: to 4, depth 1
    """,
    "a row with lasti": """
        0 LOAD_FAST            'a'
        1 RETURN_VALUE
        2 RERAISE              1
          on error in 0..0: to 2, depth 0, lasti
    """,
}


def truth(program: Program) -> int:
    """By running the handlers over values that are nothing at all, on every path."""
    return max(len(shape) for shape in stack_shapes(program).values())


def walked(program: Program, *, handlers: bool = True, lasti: bool = True, jump_effect: bool = True) -> int:
    """The walk over all ways, with something left out."""
    depths: dict[int, int] = {}
    pending = [(0, 0)]
    while pending:
        index, depth = pending.pop()
        if index in depths or index >= len(program.instructions):
            continue
        depths[index] = depth
        inst = program.instructions[index]
        after = depth + EFFECTS[inst.opname]
        if inst.falls_through:
            pending.append((index + 1, after))
        if inst.target is not None:
            pending.append((inst.target, depth - 1 if inst.opname == "FOR_ITER" and jump_effect else after))
        entry = program.handler_of(index)
        if handlers and entry is not None:
            pending.append((entry.target, entry.depth + 1 + (entry.lasti and lasti)))
    return max(depths.values())


def in_order(program: Program) -> int:
    depth = most = 0
    for inst in program.instructions:
        depth += EFFECTS[inst.opname]
        most = max(most, depth)
    return most


MISTAKES = (
    Misconception(
        "You went through the list from top to bottom. After a RETURN or a JUMP the next line is not what comes next:"
        " follow the ways that the program can take.",
        in_order,
    ),
    Misconception(
        "You left out the handlers. Any covered instruction may raise, and then the stack is entry.depth + 1 deep.",
        lambda program: walked(program, handlers=False),
    ),
    Misconception(
        "A row with `lasti` pushes two things: the raising index, and the exception.",
        lambda program: walked(program, lasti=False),
    ),
    Misconception(
        "FOR_ITER pushes an item when it goes on. When it jumps, it takes the iterator away: one value fewer.",
        lambda program: walked(program, jump_effect=False),
    ),
    Misconception(
        "You added up everything that is pushed, and forgot what is taken away.",
        lambda program: sum(max(EFFECTS[inst.opname], 0) for inst in program.instructions),
    ),
)


def judge(answer: Callable[..., Any], listings: dict[str, str]) -> None:
    programs = {name: read_listing(text) for name, text in listings.items()}
    trials = [((program,), truth(program), _result(answer, name, program)) for name, program in programs.items()]
    for name, trial in zip(programs, trials, strict=True):
        (program,), expected, got = trial
        if got != expected or type(got) is not int:
            fact = f'{program}\ndeepest of "{name}": expected {expected}, got {got!r}'
            raise WrongAnswer(fact, diagnose(trial, trials, MISTAKES) or "") from getattr(got, "error", None)


def _result(answer: Callable[..., Any], name: str, program: Program) -> Any:
    try:
        return outcome(answer, (program,))
    except RecursionError as error:
        why = "A loop leads back to where you have been. Remember the instructions you have seen, and stop there."
        raise WrongAnswer(f'{program}\ndeepest of "{name}": it never ends', why) from error


@DEPTHS.case("without jumps", points=1, section="Look at it")
def _(answer: Callable[..., Any]) -> None:
    judge(answer, STRAIGHT)


@DEPTHS.case("with jumps and loops", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, JUMPING)


@DEPTHS.case("with handlers", points=1, section=TROUBLE)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, HANDLING)
