"""Exercise 14.1: kernels and bytes of a program, before it is run."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer

from .schedules import planned

PREDICTIONS = Exercise(
    "14.1",
    "kernels and bytes: predict",
    answer="predicted",
    minutes=10,
    hints=(
        "x has 16384 bytes. A kernel that reads x and writes something of its size moves twice that.",
        "For each program ask: which value is read at another place than the one where it was written?",
        "Mirrored, transposed afterwards, or summed the other way: two kernels. The other programs take one.",
    ),
)
SIZES = (64, 64)
EXPLAINED = {
    "x.sin().exp() + 1": "Pointwise all the way: each number is read once and written once.",
    "x.t() + x": "x is an input, so it may be read at any two places. Nothing waits, and x counts once a kernel.",
    "x / x.sum(1, keepdim=True)": "The sum of a row is read in the row that it belongs to. It never leaves the kernel.",
    "x.softmax(0)": "Four loops that agree on what a row is, a column here, are one kernel with stages.",
    "x.exp() + x.exp().flip(0)": "exp(x) is one value, read at two places, one of which isn't written yet.",
    "x.cumsum(0).cumsum(1)": "The second running sum goes across the first, so the first goes to memory and back.",
    "x.sum(0) + x.sum(1)": "Two sums that don't agree on rows: x is read twice. The first sum has 256 bytes; it is"
    " written and read.",
}


def cost(program: str) -> tuple[int, int]:
    """Kernels and bytes of a program of one (64, 64)."""
    found = planned(lambda x: eval(program, {"x": x}), SIZES)
    return found.kernel_count, found.bytes_moved


def judge(answer: Any, programs: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"predicted: expected a dict of programs and pairs, got {type(answer).__name__}")
    for program in programs:
        given = answer.get(program, ...)
        if given is ...:
            raise NotWritten(f"{program} is still `...`")
        kernels, nbytes = cost(program)
        if given != (kernels, nbytes):
            raise WrongAnswer(f"{program}: you say {given!r}, and it is ({kernels}, {nbytes})", EXPLAINED[program])


@PREDICTIONS.case("loops without reductions", points=1, section="When two loops may be one")
def _(answer: Any) -> None:
    judge(answer, ["x.sin().exp() + 1", "x.t() + x", "x.exp() + x.exp().flip(0)"])


@PREDICTIONS.case("rows", points=1, section="When two loops may be one")
def _(answer: Any) -> None:
    judge(answer, ["x / x.sum(1, keepdim=True)", "x.softmax(0)"])


@PREDICTIONS.case("rows against columns", points=1, section="Side by side")
def _(answer: Any) -> None:
    judge(answer, ["x.cumsum(0).cumsum(1)", "x.sum(0) + x.sum(1)"])
