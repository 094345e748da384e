"""Exercise 04.1: how many operations are left in the graph."""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer

from .capturing import capture, count_calls

OPERATION_COUNTS = Exercise(
    "04.1",
    "how many operations are left: predict",
    answer="operations",
    minutes=10,
    hints=(
        "Go through the program as the tracer does, and ask of each operation: is everything it needs known now?",
        "Python works from left to right: in x + 1 + 2 the first addition has x in it, and so has the second.",
        "sum() begins with 0 and adds each item to it. A row of x is x[i], an operation. Nobody removes what is"
        " computed and not used.",
    ),
)
SECTION, TRACKERS = "Python disappears", "The package's trackers"

PROGRAMS = {
    "x + 1 + 2": "return x + 1 + 2",
    "x + (1 + 2)": "return x + (1 + 2)",
    "x.shape[0] * x.shape[1] * x": "return x.shape[0] * x.shape[1] * x",
    "x / math.sqrt(x.shape[1])": "return x / math.sqrt(x.shape[1])",
    "loop": "for i in range(3):\n        x = x * i\n    return x",
    "twice": "def square(t):\n        return t * t\n    return square(square(x))",
    "unused": "y = x.exp()\n    return x + 1",
    "sum([x * k for k in (1, 2, 3) if k != 2])": "return sum([x * k for k in (1, 2, 3) if k != 2])",
    "rows": "total = 0.0\n    for row in x:\n        total = total + row.sum()\n    return total",
}
EXPLAINED: dict[str, dict[int, str]] = {
    "x + 1 + 2": {1: "It means (x + 1) + 2: both additions have x in them. 1 and 2 never meet."},
    "x + (1 + 2)": {2: "The parentheses are the point: 1 + 2 is known while tracing, and is folded to 3."},
    "x.shape[0] * x.shape[1] * x": {
        2: "The sizes are known while tracing, so 3 * 4 is folded. Only the last multiplication has x in it.",
        4: "Sizes are asked of the fake tensor. They are numbers, and no operation of the graph.",
    },
    "x / math.sqrt(x.shape[1])": {
        2: "The root of a known number is computed while tracing; what is left is a division by 2.0.",
        3: "Neither the size nor its root is left in the graph: both are known while tracing.",
    },
    "loop": {
        1: "The loop is unrolled: its body is recorded three times.",
        0: "The loop is unrolled, and each round leaves a multiplication. The tracer does no algebra: not even for 0.",
        2: "The tracer does no algebra. A multiplication by 0 or by 1 is recorded like any other.",
    },
    "twice": {
        1: "The function is followed at each call, and each time its multiplication is recorded.",
        4: "Each call leaves one multiplication; calling and returning leave nothing.",
    },
    "unused": {1: "The tracer records what the program does. That nobody reads y is found out by a later pass."},
    "sum([x * k for k in (1, 2, 3) if k != 2])": {
        3: "sum() begins with 0: the first addition is 0 + x * 1, and it is recorded, too.",
        2: "The additions of sum() are operations, as well.",
        6: "k is known, so the condition is decided while tracing, and k = 2 leaves nothing.",
    },
    "rows": {
        6: "Going over a tensor takes its rows, x[0], x[1], x[2], and each is an operation.",
        3: "Each of the three rounds leaves x[i], a sum, and an addition.",
        1: "A tracer doesn't recognise that this is x.sum(). It records three rounds.",
    },
}


def operations_of(name: str) -> int:
    """How many operations the package captures for a 3 by 4 tensor."""
    namespace: dict[str, Any] = {}
    exec(f"import math\ndef program(x):\n    {PROGRAMS[name]}", namespace)
    return count_calls(capture(namespace["program"], torch.ones(3, 4))[1])


def judge(answer: Any, names: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"operations: expected a dict of the programs, got {type(answer).__name__}")
    for name in names:
        predicted = answer.get(name, ...)
        if predicted is ...:
            raise NotWritten(f"{name} is still `...`")
        left = operations_of(name)
        if predicted != left:
            general = "Which of its operations have a tensor among their operands?"
            why = EXPLAINED[name].get(predicted, general) if isinstance(predicted, int) else "Write a number."
            raise WrongAnswer(f'"{name}": you predicted {predicted!r}, it is {left}', why)


NAMES = list(PROGRAMS)


@OPERATION_COUNTS.case("what is known, and what is not", points=2, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, NAMES[:4])


@OPERATION_COUNTS.case("loops, calls, and what nobody uses", points=2, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, NAMES[4:7])


@OPERATION_COUNTS.case("sums, and rows of a tensor", points=2, section=TRACKERS)
def _(answer: Any) -> None:
    judge(answer, NAMES[7:])
