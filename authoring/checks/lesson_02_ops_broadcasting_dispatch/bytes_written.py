"""Exercise 02.5: an interpreter that adds up the bytes of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.tensor import empty_fake, ops
from minitorch_compile.tensor.dispatch.dispatch import mode

BYTES = Exercise(
    "02.5",
    "weigh a program without running it",
    answer="Bytes",
    minutes=12,
    hints=(
        "Start from `Watch` at the beginning of the lesson: it calls op(*args, **kwargs) and returns what comes back.",
        "Between the call and the return, look at the result. Is it a tensor or a tuple of tensors? Is op.kind 'view'?",
        "self.total += x.numel() * x.element_size() for each tensor x of the result, unless op.kind == 'view'.",
    ),
)
SECTION = "One door"
Program = Callable[..., Any]


def weigh(interpreter: type, program: Program, *args: Any) -> tuple[Any, int]:
    """What the program gives under the learner's interpreter, and its total."""
    try:
        with mode(interpreter()) as weighing:
            result = program(*args)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except AttributeError as error:
        if "NoneType" in str(error):
            why = "process must return what the op returned; without that the program went on with None."
            raise WrongAnswer(f"the program stopped: {error}", why) from error
        raise WrongAnswer(f"the program stopped: AttributeError: {error}") from error
    return result, weighing.total


def judge_total(interpreter: Any, program: Program, text: str, expected: int, mistakes: dict[int, str]) -> None:
    if not isinstance(interpreter, type):
        raise WrongAnswer(f"Bytes: expected a class, got {interpreter!r}")
    result, total = weigh(interpreter, program)
    if result is None:
        raise WrongAnswer(
            f"{text} gave None", "process must return what the op returned; without that the program went on with None."
        )
    if total != expected:
        raise WrongAnswer(f"{text}: expected {expected:,} bytes, got {total:,}", mistakes.get(total, ""))


VIEWS = "You counted the views. A view makes no new numbers: it reads the storage of another tensor."
ELEMENTS = "You counted elements. A float32 takes 4 bytes, a float64 takes 8: multiply by x.element_size()."
SEVERAL = "Some ops return several tensors, in a tuple. Each of them takes memory."


@BYTES.case("results are counted, in bytes", points=2, section=SECTION)
def _(answer: Any) -> None:
    x, y = torch.ones(2, 3), torch.ones(5, dtype=torch.float64)
    judge_total(answer, lambda: x * 2 + 1, "x * 2 + 1 for x of (2, 3)", 48, {12: ELEMENTS})
    judge_total(answer, lambda: y * y, "y * y for y of 5 float64", 40, {5: ELEMENTS})


@BYTES.case("views are not", points=1, section=SECTION)
def _(answer: Any) -> None:
    x = torch.ones(2, 3)
    judge_total(answer, lambda: x.t().exp(), "x.t().exp() for x of (2, 3)", 24, {48: VIEWS})


@BYTES.case("ops with several results", points=1, section=SECTION)
def _(answer: Any) -> None:
    x = torch.ones(1, 1, 4, 4)
    program = lambda: ops.max_pool_with_indices(x, (2, 2), (2, 2), (0, 0), (1, 1), False)
    text = "a 2x2 max pooling of (1, 1, 4, 4), which gives values and int64 places"
    judge_total(answer, program, text, 48, {0: SEVERAL, 16: SEVERAL, 8: ELEMENTS})


@BYTES.case("four terabytes, weighed", points=1, section="One op, put together")
def _(answer: Any) -> None:
    x = empty_fake((1_000_000, 1_000_000))
    judge_total(answer, lambda: x.relu(), "relu of a million by a million fake numbers", 4 * 10**12, {10**12: ELEMENTS})
