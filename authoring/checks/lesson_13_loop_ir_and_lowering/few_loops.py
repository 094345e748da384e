"""Exercise 13.6: a program in fewer loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer, outcome
from minitorch_compile.course.measures.loops import bytes_moved, loops_of
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.ir.printer import print_operation
from minitorch_compile.tensor import Tensor

FEW_LOOPS = Exercise(
    "13.6",
    "the same in three loops",
    answer="confidence",
    minutes=15,
    hints=(
        "Write down the softmax of the largest element of a row. What is its numerator?",
        "The largest minus the largest is 0, and exp of it 1. What is left is 1 / sum(exp(x - largest)).",
        "Three loops: amax, then the sum of exponentials, which need not be stored, then the reciprocal.",
    ),
)
SECTION = "When a value has to be stored"
PAR_LOOPS, PAR_BYTES = 3, 18_000


def right(x: Tensor) -> Tensor:
    return x.double().softmax(1).amax(1).float()


def judge(answer: Callable[..., Any], x: Tensor, why: str, rtol: float = 1e-5) -> None:
    got, expected = outcome(answer, (x,)), right(x)
    if not isinstance(got, Tensor) or got.shape != expected.shape:
        raise WrongAnswer(f"confidence({x.tolist()}): expected {expected}, got {got!r}", "One number for each row.")
    if not torch.allclose(got, expected, rtol=rtol, atol=0.0):
        raise WrongAnswer(f"confidence({x.tolist()}): expected {expected}, got {got}", why)


def measured(answer: Callable[..., Any]) -> list[Loop]:
    judge(answer, torch.tensor([[0.0, 1.0], [3.0, 2.0]]), "First it must be right; then count.")
    try:
        loops = loops_of(answer, torch.ones(64, 32))
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    return [loop for loop in loops if isinstance(loop, Loop)]


@FEW_LOOPS.case("the right numbers", points=0, section="Lowering, rule by rule")
def _(answer: Callable[..., Any]) -> None:
    judge(answer, torch.tensor([[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]]), "It is the largest element of the softmax.")
    judge(
        answer,
        torch.tensor([[1000.0, 1001.0], [-1000.0, -1001.0]]),
        "e to the 1000 is infinity: the maximum must be subtracted first (lesson 12).",
        rtol=1e-3,  # the logarithm of a sum around 1000 has four digits behind the point
    )


@FEW_LOOPS.case(f"at most {PAR_LOOPS} loops", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    loops = measured(answer)
    if len(loops) > PAR_LOOPS:
        text = "\n".join(map(print_operation, loops))
        raise WrongAnswer(f"{len(loops)} loops, and par is {PAR_LOOPS}:\n{text}\n", advice(loops))


def advice(loops: list[Loop]) -> str:
    """About the work that is too much."""
    if not all(loop.buffer.dtype.is_floating_point for loop in loops):
        return "The place of the largest isn't needed, only its value."
    if any(loop.sizes == loop.buffer.sizes == (64, 32) for loop in loops):
        return "The whole softmax is computed and stored, and all but one number of each row is thrown away."
    return "Every row is read once more than need be. What is exp(largest - largest)?"


@FEW_LOOPS.case(f"at most {PAR_BYTES:,} bytes", points=1, section="Loops and bytes")
def _(answer: Callable[..., Any]) -> None:
    total = sum(map(bytes_moved, measured(answer)))
    if total > PAR_BYTES:
        raise WrongAnswer(
            f"for (64, 32), {total:,} bytes are moved, and par is {PAR_BYTES:,}",
            "Nothing of the size of x need be stored.",
        )
