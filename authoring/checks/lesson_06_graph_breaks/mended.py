"""Exercise 06.4: a function with three breaks, mended to one graph."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.far.there import there
from minitorch_compile.dynamo.eval_frame import region_of
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.tensor import Tensor

MENDED = Exercise(
    "06.4",
    "mend it",
    answer="clipped",
    minutes=12,
    hints=(
        "Leave the length in its tensor: no .item(), and what is appended to log is a tensor, too.",
        "The branch computes x / length or x. Which op computes both and selects? Or: which number must x be divided by"
        " so that nothing happens to short ones?",
        "torch.where(length > 1, x / length, x), or x / length.clamp(min=1.0). Whoever wants the message can look into"
        " log.",
    ),
)
SECTION = "Getting rid of breaks"
VECTORS = [[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [-6.0, 8.0], [1.0, 0.0]]


def truth(vector: list[float]) -> tuple[list[float], float]:
    length = math.hypot(*vector)
    return [value / max(length, 1.0) for value in vector], length


def close(a: list[float], b: list[float]) -> bool:
    return all(math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-6) for x, y in zip(a, b, strict=True))


def judge_results(function: Callable[..., Any]) -> None:
    """What it returns and what it logs, for long and for short vectors."""
    log: list[Any] = []
    for number, vector in enumerate(VECTORS, 1):
        with contextlib.redirect_stdout(io.StringIO()):
            got = outcome(function, (torch.tensor(vector), log))
        expected, length = truth(vector)
        if not isinstance(got, Tensor) or got.shape != (2,):
            raise WrongAnswer(f"clipped({vector}, log): expected a tensor of two numbers, got {got!r}")
        if not close(got.tolist(), expected):
            why = (
                "Vectors of length 1 or less must come back as they are."
                if length <= 1
                else "A vector longer than 1 must come back with length 1."
            )
            raise WrongAnswer(f"clipped({vector}, log): expected {expected}, got {got.tolist()}", why)
        if len(log) != number:
            why = "Every call appends one length to log: it is a side effect that needn't break anything."
            raise WrongAnswer(f"after {number} calls the log has {len(log)} entries", why)
        if not close([float(log[-1])], [length]):
            why = "What is logged is the length before it was clipped."
            raise WrongAnswer(f"clipped({vector}, log) logged {log[-1]!r} instead of {length:g}", why)


@there
def compiled(answer: Callable[..., Any]) -> tuple[Callable[..., Any], CompileCounter]:
    counter = CompileCounter()
    return torch.compile(answer, backend=counter), counter


@there
def breaks_of(fast: Callable[..., Any]) -> list[tuple[str, str, str]]:
    """Line, reason and code of each."""
    return [(each.line, each.reason, each.code) for each in region_of(fast).breaks]


@MENDED.case("it computes and logs what it did", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_results(answer)


@MENDED.case("nothing breaks", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    fast, _ = compiled(answer)
    with contextlib.redirect_stdout(io.StringIO()):
        outcome(fast, (torch.tensor([3.0, 4.0]), []))
    for line, reason, code in breaks_of(fast):
        raise WrongAnswer(f"it breaks at `{line}`: {reason}", HOW.get(code, ""))


HOW = {
    "MTC-B07": "A number is taken out of a tensor. Leave it inside: a tensor can be divided and appended, too.",
    "MTC-B05": "The branch depends on data. torch.where computes both sides and selects.",
    "MTC-B03": "Printing acts on the world. The caller can look into log, and print there.",
}


@MENDED.case("one graph for long and short vectors", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    fast, counter = compiled(answer)
    judge_results(fast)
    graphs, breaks = counter.frame_count, breaks_of(fast)
    if graphs != 1 or breaks:
        raise WrongAnswer(
            f"{len(VECTORS)} vectors: {graphs} graphs and {len(breaks)} breaks; par is one graph and no break",
            "Get the case above to pass first." if breaks else "What is looked at between two calls?",
        )
