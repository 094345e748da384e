"""Exercise 03.1: what lies on the value stack at the end of a few instructions."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer

from .listing import frame_of, read_listing

STACKS = Exercise(
    "03.1",
    "what lies on the stack: predict",
    answer="stacks",
    minutes=10,
    hints=(
        "Write the stack as a row, and after each instruction write the new row below the old one.",
        "An operator takes two values: the right operand is the top one, since it was pushed last.",
        'For "unpack" ask which value the first STORE after it should find on top. For "accident", which row of the'
        " table covers instruction 3?",
    ),
)
SECTION = "The smallest interpreter"
JUMPS, TROUBLE = "Jumps", "When something goes wrong"
SLOTS: dict[str, Any] = {"a": 7, "b": 2, "items": [10, 20, 30]}

LISTINGS = {
    "minus": """
        0 LOAD_FAST            'a'
        1 LOAD_FAST            'b'
        2 BINARY_OP            '-'
        3 LOAD_FAST            'b'
    """,
    "swapped": """
        0 LOAD_FAST            'a'
        1 LOAD_FAST            'b'
        2 SWAP                 2
        3 BINARY_OP            '-'
    """,
    "copied": """
        0 LOAD_FAST            'a'
        1 LOAD_FAST            'b'
        2 COPY                 2
        3 BINARY_OP            '-'
    """,
    "unpack": """
        0 LOAD_FAST            'items'
        1 UNPACK_SEQUENCE      3
    """,
    "or": """
        0 LOAD_FAST            'a'
        1 COPY                 1
        2 POP_JUMP_IF_TRUE     to 5
        3 POP_TOP
        4 LOAD_FAST            'b'
    """,
    "loop": """
        0 LOAD_CONST           0
        1 LOAD_FAST            'items'
        2 GET_ITER
        3 FOR_ITER             to 7
        4 POP_TOP
        5 JUMP                 to 3
        6 LOAD_CONST           1
    """,
    "accident": """
        0 LOAD_FAST            'a'
        1 LOAD_FAST            'b'
        2 LOAD_CONST           0
        3 BINARY_OP            '//'
        4 JUMP                 to 7
        5 POP_TOP
        6 LOAD_CONST           -1
          on error in 1..3: to 5, depth 1
    """,
}

EXPLAINED: dict[str, dict[str, str]] = {
    "minus": {
        "[2, 5]": "The stack is written with the top to the right: what is pushed last stands last.",
        "[7, 2, 5, 2]": "BINARY_OP takes its two operands away, and pushes one result.",
    },
    "swapped": {
        "[5]": "After SWAP 2 the 7 is on top, so it is the right operand: 2 - 7.",
        "[2, 7]": "SWAP exchanges. The operator after it still takes both, and leaves one.",
    },
    "copied": {
        "[7, 5]": "COPY 2 copies the second from the top, the 7, to the top. Then it is the right operand: 2 - 7.",
        "[7, 0]": "COPY 2 copies the second from the top, not the top.",
        "[-5]": "A copy leaves the original where it was: the 7 at the bottom is still there.",
    },
    "unpack": {
        "[10, 20, 30]": "The first item must be on top, for the first STORE to take it. So the last is pushed first.",
        "[[10, 20, 30], 30, 20, 10]": "The list itself is taken away by UNPACK_SEQUENCE.",
    },
    "or": {
        "[7, 7]": "POP_JUMP takes the value that it tests. That is why it was copied before.",
        "[]": "The copy was tested and taken; the original is the value of `a or b`.",
        "[2]": "7 is true, so the jump is taken, and `b` is never looked at.",
    },
    "loop": {
        "[0, 30]": "Each item was pushed and popped again in its round.",
        "[0, 1]": "Instruction 6 stands behind a jump, and no instruction jumps to it: it never runs.",
        "[]": "The loop leaves alone what lay on the stack before it began: the 0.",
        "[0, 10, 20, 30]": "Each item was pushed and popped again in its round.",
    },
    "accident": {
        "[-1]": "Depth 1 means that one value survives, the bottom one: it was there before the block began.",
        "[7, 2, -1]": "Depth 1 means that one value survives. The half-finished 2 is cut off.",
        "[7, 2, 0, -1]": "The operands were taken before the division failed, and the stack is cut to depth 1 besides.",
    },
}


def stack_at_the_end(name: str) -> list[Any]:
    """What the package's interpreter has on its stack when it runs off the end of the listing."""
    frame = frame_of(read_listing(LISTINGS[name]), **SLOTS)
    while frame.index < len(frame.instructions):
        frame.step()
    return frame.stack


def judge(answer: Any, names: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"stacks: expected a dict of the listings, got {type(answer).__name__}")
    for name in names:
        predicted = answer.get(name, ...)
        if predicted is ...:
            raise NotWritten(f"{name} is still `...`")
        happens = stack_at_the_end(name)
        if predicted != happens:
            raise WrongAnswer(f'"{name}": you predicted {predicted!r}, it is {happens!r}', why(name, predicted))


def why(name: str, predicted: Any) -> str:
    if not isinstance(predicted, list):
        return "Write a stack as a list, the bottom first."
    return EXPLAINED[name].get(repr(predicted), "Go through it with paper and pencil, a row for each instruction.")


@STACKS.case("operators, SWAP and COPY", points=2, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, ["minus", "swapped", "copied"])


@STACKS.case("unpacking, and jumps", points=2, section=JUMPS)
def _(answer: Any) -> None:
    judge(answer, ["unpack", "or", "loop"])


@STACKS.case("an accident in the middle of an expression", points=1, section=TROUBLE)
def _(answer: Any) -> None:
    judge(answer, ["accident"])
