"""Exercise 12.2: how many prims, before it is run."""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch
from minitorch_compile import prims
from minitorch_compile.aot.tracing import trace
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.tensor import empty_fake

COUNTS = Exercise(
    "12.2",
    "how many prims: predict",
    answer="counts",
    minutes=10,
    hints=(
        "A number in the program is a tensor in the graph: one prim to make it, at the sizes that are needed.",
        "A reduction drops its dimension. What keeps it, and what stretches the result back, are prims of their own.",
        "x.softmax(1): amax, reshape, broadcast, sub, exp, and then sum, reshape, broadcast, div.",
    ),
)
SECTION = "What an operation hides"
EXPLAINED = {
    "x + x": "Sizes and dtypes agree: there is nothing to make explicit.",
    "x + 1": "The 1 is a tensor, made by full.",
    "x + i": "Whole numbers are converted first.",
    "x @ w + b": "A product, then b is repeated for each row, then a sum.",
    "x.sum(1, keepdim=True)": "The prim drops the dimension; a reshape puts it back.",
    "x.mean()": "A sum, the number of elements as a constant, and a division.",
    "x.t().t()": "Two turns are two prims. That they undo each other is for a pass to find, later.",
    "x.relu()": "The larger of x and 0, and the 0 has to be made.",
    "x[0]": "A slice of one row, then the dimension of size 1 goes.",
    "x**2": "A small power is a product: there is a rule for that.",
    "x.softmax(1)": "Two reductions, each of which is put back and stretched, and sub, exp, div.",
}


def count(program: str) -> int:
    """The prims that a program is made of, before any pass."""
    fakes = [empty_fake((2, 3)), empty_fake((3, 4)), empty_fake((4,)), empty_fake((2, 3), dtype=torch.int64)]
    traced = trace(lambda x, w, b, i: eval(program, {"x": x, "w": w, "b": b, "i": i}), fakes)
    return len(prims.decompose(traced).graph.find_nodes(op="call_function"))


def judge(answer: Any, programs: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"counts: expected a dict of programs and numbers, got {type(answer).__name__}")
    for program in programs:
        given = answer.get(program, ...)
        if given is ...:
            raise NotWritten(f"{program} is still `...`")
        if given != count(program) or isinstance(given, bool):
            raise WrongAnswer(f"{program}: you say {given!r}, and it is {count(program)}", EXPLAINED[program])


@COUNTS.case("numbers, dtypes, sizes", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, ["x + x", "x + 1", "x + i", "x @ w + b"])


@COUNTS.case("reductions", points=1, section="Rules, and a mode that applies them")
def _(answer: Any) -> None:
    judge(answer, ["x.sum(1, keepdim=True)", "x.mean()", "x.softmax(1)"])


@COUNTS.case("views and powers", points=1, section="Sweeping up")
def _(answer: Any) -> None:
    judge(answer, ["x.t().t()", "x.relu()", "x[0]", "x**2"])
