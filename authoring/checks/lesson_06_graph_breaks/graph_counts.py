"""Exercise 06.1: how many graphs a function becomes."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.dynamo.explaining.explain import explain

from . import breaking_programs

GRAPH_COUNTS = Exercise(
    "06.1",
    "how many graphs: predict",
    answer="graphs",
    minutes=10,
    hints=(
        "Find the lines that can't be traced. Each cuts the function in two, and a part without a tensor operation is"
        " no graph.",
        "A list that is appended to is no reason to break, nor is a question about sizes: those are known. Of two"
        " branches only the one that is taken counts.",
        "A callee that breaks is compiled by itself, and cuts its caller in two as well.",
    ),
)
WHY = {
    "appending": "Appending to a list is noted and done after the graph, and the tracer knows the length. Nothing"
    " breaks.",
    "printing": "One operation before the print and one after it: a graph each.",
    "printing_first": "Before the print there is no tensor operation, so there is no graph. All of them come after it.",
    "shape_branch": "Sizes are known while tracing, and guarded. This branch needs no data, so nothing breaks.",
    "data_branch": "The sum and its comparison are one graph, the branch that was taken is another. The other one is"
    " not compiled until it is needed.",
    "number": "The maximum in one graph, .item() for real, the product in another.",
    "number_returned": "After .item() nothing is left but to return, and that is no graph.",
    "calling": "x + 1 before the call; two graphs of the callee, which is compiled by itself; y * 3 after the call.",
}
SIMPLE = ["appending", "printing", "printing_first", "shape_branch"]
HARDER = ["data_branch", "number", "number_returned", "calling"]


@functools.cache
def users_programs() -> dict[str, Any]:
    """The functions as they are in a notebook: the tracer doesn't compile callees that are part of this package."""
    names: dict[str, Any] = {"__name__": "your_notebook"}
    exec(compile(inspect.getsource(breaking_programs), "breaking_programs", "exec"), names)
    return names


def judge(answer: Any, names: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"graphs: expected a dict of the functions' names, got {type(answer).__name__}")
    for name in names:
        predicted = answer.get(name, ...)
        if predicted is ...:
            raise NotWritten(f"{name} is still `...`")
        with contextlib.redirect_stdout(io.StringIO()):
            happens = explain(users_programs()[name])(torch.tensor([1.0, 2.0]), []).graph_count
        if predicted != happens:
            raise WrongAnswer(f"{name}: you predicted {predicted!r}, it is {happens}", WHY[name])


@GRAPH_COUNTS.case("lists, prints and sizes", points=2, section="Where tracing must stop")
def _(answer: Any) -> None:
    judge(answer, SIMPLE)


@GRAPH_COUNTS.case("data, numbers and callees", points=2, section="In the middle of things")
def _(answer: Any) -> None:
    judge(answer, HARDER)
