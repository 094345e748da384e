"""Exercise 11.2: what the backward pass reads, and what the cheapest cut saves, before it is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.measures.cutting import cheapest, joint_graph, read, results, size
from minitorch_compile.tensor import empty_fake

SAVED = Exercise(
    "11.2",
    "what is saved: predict",
    answer="saved",
    minutes=12,
    hints=(
        "Write down the slope of each operation. Which values stand in it? Those are read, and no others.",
        "The slope of exp is its own result; so it is for tanh and sigmoid, but not for sin. A relu only asks where its"
        " result is 0. A sum stretches the slope that comes in.",
        "For the bytes: put a source at the arguments and at each matrix product and sum, and walk from what is read"
        " towards them through pointwise operations. Where is the way narrowest? An element has 4 bytes.",
    ),
)
SIZES = {"x": (100, 20), "w": (20, 50), "v": (100, 20), "a": (1000, 1), "b": (1000,)}
READ: dict[str, tuple[Callable[..., Any], str, str]] = {
    "y = x + v": (lambda x, v: x + v, "x v", "A sum hands on the slope that comes in. It needs no value at all."),
    "y = x * v": (lambda x, v: x * v, "x v", "The slope of a factor is the other factor, and both are asked for."),
    "y = x * 3": (lambda x: x * 3, "x", "The slope is 3 times the one that comes in, and 3 stands in the graph."),
    "y = x.exp()": (lambda x: x.exp(), "x", "The slope of exp is exp: the result itself, so x can go."),
    "y = x.sin()": (lambda x: x.sin(), "x", "The slope of a sine is a cosine, which its result doesn't tell."),
    "y = x.relu()": (lambda x: x.relu(), "x", "Where the result is 0 nothing comes back; the result tells where."),
    "y = x @ w": (lambda x, w: x @ w, "x w", "Each slope is a product with the other matrix."),
    "y = x.sum(0)": (lambda x: x.sum(0), "x", "The slope is stretched over the rows, and sizes are no values."),
}
BYTES: dict[str, tuple[Callable[..., Any], str, str]] = {
    "x.sin().exp().tanh()": (
        lambda x: x.sin().exp().tanh(),
        "x",
        "Three values are read, and all can be made again from one.",
    ),
    "(x @ w).sin().exp()": (
        lambda x, w: (x @ w).sin().exp(),
        "x w",
        "x and w for the slopes of the product; the product for the rest, since it is not made again.",
    ),
    "(a - b).tanh()": (
        lambda a, b: (a - b).tanh(),
        "a b",
        "The difference is a table of 1000 by 1000. What it is made of is much narrower.",
    ),
    "x.exp() + 1": (
        lambda x: x.exp() + 1,
        "x",
        "exp reads its result. That, or x to make it from: one of them.",
    ),
    "x.sum(0).exp()": (
        lambda x: x.sum(0).exp(),
        "x",
        "A sum is not made again, so the way is narrowest behind it: one row.",
    ),
}


def joint_of(program: Callable[..., Any], arguments: str) -> Any:
    return joint_graph(program, *(empty_fake(SIZES[name]).requires_grad_() for name in arguments.split()))


def values_read(program: Callable[..., Any], arguments: str) -> set[str]:
    """The names of what is read: arguments, or y for the result."""
    joint = joint_of(program, arguments)
    return {"y" if node in results(joint) else node.name for node in read(joint)}


def bytes_saved(program: Callable[..., Any], arguments: str) -> int:
    return sum(map(size, cheapest(joint_of(program, arguments))))


def judge(answer: Any, programs: dict[str, Any], oracle: Callable[..., Any]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"saved: expected a dict of the programs, got {type(answer).__name__}")
    for text, (program, arguments, why) in programs.items():
        predicted = answer.get(text, ...)
        if predicted is ...:
            raise NotWritten(f"{text} is still `...`")
        happens = oracle(program, arguments)
        if predicted != happens or type(predicted) is not type(happens):
            raise WrongAnswer(f"{text}: you predicted {predicted!r}, it is {happens!r}", why)


@SAVED.case("what is read, of single operations", points=2, section="Both passes, one graph")
def _(answer: Any) -> None:
    judge(answer, READ, values_read)


@SAVED.case("the bytes of the narrowest cut", points=2, section="The graph as pipes")
def _(answer: Any) -> None:
    judge(answer, BYTES, bytes_saved)
