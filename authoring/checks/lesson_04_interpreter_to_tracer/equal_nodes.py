"""Exercise 04.1: three bugs in a pass that merges nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.fx import Graph, GraphModule, Interpreter
from minitorch_compile.tensor import Tensor

from .capturing import capture, count_calls

EQUAL_NODES = Exercise(
    "04.1",
    "find the bugs: merging equal nodes",
    answer="merge_common_subexpressions",
    minutes=15,
    hints=(
        "When are two nodes sure to have the same value? Think of their arguments, and of what happens in between.",
        "1 == 1.0 == True in Python, but not their repr(). And node.is_impure() is true for what draws random numbers.",
        "If any node of the graph writes into a tensor (writes(node)), give the copy back as it is.",
    ),
    place="fx.merge_common_subexpressions",
)
SECTION = "What a graph is"


def softmaxes(x: Tensor) -> Tensor:
    return x.exp() / x.exp().sum(1, keepdim=True)


def chained(x: Tensor) -> Tensor:
    return ((x * 2).sin() + 1) * ((x * 2).sin() + 2)


def with_keywords(x: Tensor) -> Tensor:
    return x.sum(dim=0) + x.sum(dim=1) + x.sum(dim=0)


def numbers(x: Tensor) -> tuple[Tensor, ...]:
    return (x + 1).sum(), (x + 1.0).sum(), (x + True).sum(), (x * -0.0).sum(), (x * 0.0).sum()


def two_masks(x: Tensor) -> Tensor:
    return F.dropout(x, 0.5) + 10 * F.dropout(x, 0.5)


def reads_around_a_write(x: Tensor) -> Tensor:
    y = x * 1
    before = y.sum()
    y.add_(1)
    return before * 100 + y.sum()


def writes_one_of_two(x: Tensor) -> Tensor:
    a, b = x * 1, x * 1
    a.add_(1)
    return a.sum() * 100 + b.sum()


def writes_twice(x: Tensor) -> Tensor:
    y = x * 1
    y.add_(1)
    y.add_(1)
    return y


def merged(answer: Callable[..., Any], program: Callable[..., Any], x: Tensor) -> tuple[Graph, Graph]:
    """The program's graph, and what the answer makes of it."""
    graph = capture(program, x, fullgraph=True)[1][0]
    before = graph.compact()
    result = outcome(answer, (graph,))
    if not isinstance(result, Graph):
        raise WrongAnswer(f"{program.__name__}: expected a Graph, got {result!r}") from getattr(result, "error", None)
    if graph.compact() != before:
        fact = f"{program.__name__}: the graph that was handed in has changed"
        raise WrongAnswer(fact, "A pass leaves its argument alone: work on a copy, as the first line does.")
    return graph, result


def value(graph: Graph, x: Tensor) -> list[Any]:
    torch.manual_seed(4)
    return [(each.dtype, each.tolist()) for each in Interpreter(GraphModule({}, graph)).run(x.clone())]


def judge_value(answer: Callable[..., Any], program: Callable[..., Any], x: Tensor, why: str) -> Graph:
    graph, result = merged(answer, program, x)
    expected, got = value(graph, x), value(result, x)
    if repr(expected) != repr(got):
        fact = f"{program.__name__}: {graph.compact()}\nbecame {result.compact()}\n{short(expected)}, then {short(got)}"
        raise WrongAnswer(fact, why)
    return result


def short(values: list[Any]) -> str:
    return "[" + ", ".join(f"{numbers} {str(dtype).removeprefix('torch.')}" for dtype, numbers in values) + "]"


def judge_merging(answer: Callable[..., Any], program: Callable[..., Any], x: Tensor, calls: int) -> None:
    why = "Equal results, please: only nodes that compute the same thing may be merged."
    result = judge_value(answer, program, x, why)
    if count_calls([result]) > calls:
        fact = f"{program.__name__}: {result.compact()} has {count_calls([result])} operations, it can have {calls}"
        raise WrongAnswer(
            fact, "These nodes are equal and harmless, and were merged before. Don't be more careful than needed."
        )


X = torch.arange(9).reshape(3, 3)


@EQUAL_NODES.case("what it got right", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_merging(answer, softmaxes, X * 0.1, 3)
    judge_merging(answer, chained, X * 0.1, 5)
    judge_merging(answer, with_keywords, X, 4)


@EQUAL_NODES.case("numbers that are equal and not the same", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "1 == 1.0 == True, so as keys of a dictionary they are one. But their types decide the type of the result."
    judge_value(answer, numbers, X, why)


@EQUAL_NODES.case("random numbers", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "Two draws are two draws, though they are written alike: node.is_impure() says which nodes are of that kind."
    judge_value(answer, two_masks, torch.ones(8), why)


@EQUAL_NODES.case("a write between two reads", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    twice = "Writing twice is not writing once. `node.is_impure()` keeps such nodes."
    judge_value(answer, writes_twice, X, twice)
    why = "y.sum() before and after the write are the same text and not the same number. Does the graph write at all?"
    judge_value(answer, reads_around_a_write, X, why)
    why = "a and b were two tensors, and one of them is written. Merged into one, the write reaches both."
    judge_value(answer, writes_one_of_two, X, why)
