"""Exercise 13.5: a handler that counts work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.measures.loops import SilentHandler, loops_of
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import loop_variables
from minitorch_compile.inductor.ir.loops import Loop, TensorBox
from minitorch_compile.inductor.ir.printer import print_operation
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.memory.strides import numel

WORK = Exercise(
    "13.5",
    "a handler that counts work",
    answer="work",
    minutes=15,
    hints=(
        "Make a subclass of SilentHandler that has a Counter, and override what you want to hear of.",
        "loop.run(handler, loop_variables(loop)) runs the body once. How often does the loop run it?",
        "apply(self, prim, *operands) and store_reduction(self, buffer, address, kind, value) add math.prod(loop.sizes)"
        " to their entry.",
    ),
)
SECTION = "One body, many meanings"


class Worker(SilentHandler):
    """The oracle: counts one run of the body."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def apply(self, prim: str, *operands: Any) -> Any:
        self.found[prim] += 1
        return ...

    def store_reduction(self, buffer: Buffer, address: Any, kind: str, value: Any) -> None:
        self.found[kind] += 1


def truth(loop: Loop) -> dict[str, int]:
    worker = Worker()
    loop.run(worker, loop_variables(loop))
    return {name: count * numel(loop.sizes) for name, count in worker.found.items()}


def judge(answer: Callable[..., Any], program: Callable[..., Any], *examples: Tensor) -> None:
    for loop in loops_of(program, *examples):
        assert isinstance(loop, Loop)
        expected, got = truth(loop), outcome(answer, (loop,))
        fact = f"the loop\n{print_operation(loop)}\nexpected {expected}"
        if not isinstance(got, dict):
            raise WrongAnswer(f"{fact}, got {got!r}", "A dict is wanted: the name of each operation and how often.")
        if {name: count for name, count in got.items() if count} != expected:
            raise WrongAnswer(f"{fact}, got {dict(got)}", idea(loop, expected, dict(got)))


def idea(loop: Loop, expected: dict[str, int], got: dict[str, int]) -> str:
    """What may have been thought, from the names and then from the numbers."""
    if set(got) - set(expected):
        return f"{', '.join(sorted(set(got) - set(expected)))}: that computes nothing, so it isn't work."
    if loop.kind in set(expected) - set(got):
        return "A reduction combines the value of each position with what it has: that is work, too."
    if set(expected) - set(got):
        return "Something wasn't heard. A masked body must be run, to see what is in it."
    times, results = numel(loop.sizes), loop.buffer.length
    if got == {name: count // times for name, count in expected.items()}:
        return f"That is for one position, and this loop has {times} of them."
    if got == {name: count // times * results for name, count in expected.items()}:
        return f"That is for each element of the result. The loop runs over {times} positions, those reduced included."
    return "How often is each computed? The handler remembers what it has at a position: load boxes through it."


@WORK.case("pointwise loops", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, lambda x: x.exp(), torch.ones(3))
    judge(answer, lambda x: (x * 2 + 1) * x, torch.ones(2, 3))


@WORK.case("reductions", points=1, section="When a value has to be stored")
def _(answer: Callable[..., Any]) -> None:
    judge(answer, lambda x: x.sum(0), torch.ones(4, 3))
    judge(answer, lambda x: x.softmax(1), torch.ones(4, 3))


@WORK.case("masks", points=1, section="The package's own")
def _(answer: Callable[..., Any]) -> None:
    judge(answer, lambda x: F.pad(x.sqrt(), (1, 1)), torch.ones(3))
    judge(answer, lambda x: F.pad(x.sqrt() + 1, (1, 0)).amax(1), torch.ones(2, 3))


def doubled(x: TensorBox) -> TensorBox:
    return TensorBox(x.sizes, x.dtype, lambda ops, at: ops.apply("add", x.load(ops, at), x.load(ops, at)))


@WORK.case("a loop that you haven't seen", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    x = TensorBox.of(Buffer.contiguous("x", (5, 4), torch.float32))
    y = x
    for _ in range(30):
        y = doubled(y)
    result = Buffer.contiguous("result", (5,), torch.float32)
    loop = Loop(result, (5, 4), y.load, reduced=(1,), kind="sum")
    expected, got = {"add": 600, "sum": 20}, outcome(answer, (loop,))
    if got != expected:
        why = "The handler remembers what it has at a position: call super().__init__() in yours."
        raise WrongAnswer(f"x = x + x thirty times, then a sum: expected {expected}, got {got!r}", why)
