"""Exercise 05.5: how often a function is compiled."""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.dynamo.testing import CompileCounter

RECOMPILES = Exercise(
    "05.5",
    "how many graphs: predict",
    answer="graphs",
    minutes=10,
    hints=(
        "For each call ask: what did the trace look at, and does one of the versions there are still fit?",
        "A question may be weaker than a value. `k > 0` needs only the sign; len(items) only the length; a value that"
        " was never looked at needs nothing.",
        "A string has no such weak question: `mode == 'train'` guards the value. And what differs for a transposed"
        " tensor?",
    ),
)

A, B = torch.ones(2), torch.zeros(2)
SQUARE, WIDE, TURNED = torch.ones(2, 2), torch.ones(2, 3), torch.ones(3, 2).t()
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "lambda x, k: x * k": [(A, 2), (A, 2), (A, 3)],
    "lambda x, k: x * 2": [(A, 1), (A, "one"), (A, None)],
    "lambda x, k: x * k + k": [(A, 1), (A, True), (A, 1.0)],
    "lambda x, k: x * 2 if k > 0 else x * 3": [(A, 1), (A, 5), (A, -1)],
    "lambda x, mode: x * 2 if mode == 'train' else x * 3": [(A, "train"), (A, "eval"), (A, "test")],
    "lambda x, d: x * d['a']": [(A, {"a": 1}), (A, {"a": 1, "b": 2}), (A, {"b": 0, "a": 1})],
    "lambda x, items: x * len(items)": [(A, [1]), (A, [3]), (A, [])],
    "lambda x: x * 2": [(SQUARE,), (WIDE,), (TURNED,), (SQUARE + 1,)],
    "lambda x, y: x + y": [(A, A), (A, B), (B, A)],
}
WHY = {
    "lambda x, k: x * k": "k was multiplied by, so its value is in the graph. 2 comes twice, 3 is new.",
    "lambda x, k: x * 2": "k was never looked at, so nothing is guarded about it.",
    "lambda x, k: x * k + k": "1, True and 1.0 are equal, but of three types, and the type is guarded.",
    "lambda x, k: x * 2 if k > 0 else x * 3": "Only `k > 0` was asked, so only its answer is guarded: 1 and 5 share a"
    " graph.",
    "lambda x, mode: x * 2 if mode == 'train' else x * 3": "A string that was compared is guarded by its value: the"
    " graph for 'eval' says nothing about 'test'.",
    "lambda x, d: x * d['a']": "Only the entry 'a' was read. What else is in the dictionary, and where, was not.",
    "lambda x, items: x * len(items)": "The length was read, the items were not: [1] and [3] share a graph.",
    "lambda x: x * 2": "Sizes and strides are guarded, numbers are not. (2, 3) in rows and (2, 3) turned are two"
    " graphs; the square comes again at the end.",
    "lambda x, y: x + y": "With one tensor in both places the graph has one input, not two. (A, B) and (B, A) share"
    " the other.",
}
FIRST, SECOND, THIRD = list(CALLS)[:3], list(CALLS)[3:7], list(CALLS)[7:]


def compiled_graphs(program: str, calls: list[tuple[Any, ...]]) -> int:
    counter = CompileCounter()
    fast = torch.compile(eval(program), backend=counter, dynamic=False)
    for arguments in calls:
        fast(*arguments)
    return counter.frame_count


def judge(answer: Any, programs: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"graphs: expected a dict of the programs, got {type(answer).__name__}")
    for program in programs:
        predicted = answer.get(program, ...)
        if predicted is ...:
            raise NotWritten(f"{program} is still `...`")
        happens = compiled_graphs(program, CALLS[program])
        if predicted != happens:
            raise WrongAnswer(f"{program}: you predicted {predicted!r}, it is {happens}", WHY[program])


@RECOMPILES.case("numbers, looked at and not", points=2, section="Everything you read")
def _(answer: Any) -> None:
    judge(answer, FIRST)


@RECOMPILES.case("weak questions and strong ones", points=2, section="The package's own")
def _(answer: Any) -> None:
    judge(answer, SECOND)


@RECOMPILES.case("tensors", points=1, section="Everything you read")
def _(answer: Any) -> None:
    judge(answer, THIRD)
