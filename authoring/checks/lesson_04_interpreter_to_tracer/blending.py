"""Exercise 04.6: fewer operations, by doing in Python what Python knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.tensor import Tensor

from .capturing import capture, count_calls

BLENDING = Exercise(
    "04.6",
    "blending under par",
    answer="blend",
    minutes=12,
    hints=(
        "The weights are numbers, known while tracing. Whatever you do with them alone leaves nothing in the graph.",
        "Divide each weight by the sum of the weights before it meets an image. Begin the total with the first part.",
        "parts = [image * (w / whole) for image, w in zip(images, weights) if w]; then add up parts[1:] to parts[0].",
    ),
)
SECTION = "Python disappears"
WEIGHTS: dict[str, list[list[float]]] = {
    "plain": [[1.0, 3.0], [1.0, 2.0, 1.0], [0.5, 0.5, 2.0, 1.0], [2.0]],
    "with zeros": [[0.0, 1.0, 3.0], [1.0, 0.0, 0.0, 3.0], [0.0, 2.0]],
}


def images(count: int) -> list[Tensor]:
    return [torch.tensor([[1.0, 2.0], [4.0, 8.0]]) * 3**number for number in range(count)]


def truth(weights: list[float]) -> Tensor:
    parts = [image * weight for image, weight in zip(images(len(weights)), weights, strict=True)]
    return sum(parts[1:], parts[0]) / sum(weights)


def judge_value(answer: Callable[..., Any], weights: list[float]) -> None:
    got = outcome(answer, (images(len(weights)), list(weights)))
    expected = truth(weights)
    said = f"blend of {len(weights)} images with the weights {weights}"
    if not isinstance(got, Tensor) or got.shape != expected.shape:
        raise WrongAnswer(f"{said}: expected a 2 by 2 tensor, got {got!r}") from getattr(got, "error", None)
    if not torch.allclose(got, expected):
        fact = f"{said}: expected {expected.tolist()}, got {got.tolist()}"
        whole = sum(weights)
        scaled = torch.allclose(got, expected * whole)
        raise WrongAnswer(fact, "Divide by the sum of the weights." if scaled else "Each image counts with its weight.")


def judge_count(answer: Callable[..., Any], weights: list[float]) -> None:
    judge_value(answer, weights)
    used = sum(weight != 0 for weight in weights)
    par = 2 * used - 1
    _, graphs = capture(answer, images(len(weights)), list(weights))
    count = count_calls(graphs)
    if count > par:
        shown = "; ".join(graph.compact() for graph in graphs)
        raise WrongAnswer(
            f"the weights {weights}: {count} operations, par is {par}\n{shown}", idea(graphs, weights, used)
        )


def idea(graphs: list[Any], weights: list[float], used: int) -> str:
    """What costs the operations that are too many."""
    nodes = [node for graph in graphs for node in graph.nodes]
    if len(graphs) > 1:
        return "The graph breaks. What do you ask of a tensor?"
    if any(node.op.startswith("call") and 0 in node.args[:1] for node in nodes):
        return "The first addition is 0 + something. Begin with the first part, or leave sum() alone."
    if any("truediv" in node.name or "div" in node.name for node in nodes):
        return "You divide a tensor. The sum of the weights is a number: divide the weights by it, before the images."
    if sum(node.op == "placeholder" for node in nodes) > used:
        return "An image of weight 0 contributes nothing. The weight is known, so an `if` on it costs nothing."
    return "One multiplication for each image, one addition between two: that is all that needs a tensor."


@BLENDING.case("it blends", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for weights in (*WEIGHTS["plain"], *WEIGHTS["with zeros"]):
        judge_value(answer, weights)


@BLENDING.case("par: 2 n - 1 operations for n images", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for weights in WEIGHTS["plain"]:
        judge_count(answer, weights)


@BLENDING.case("images of weight 0 cost nothing", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for weights in WEIGHTS["with zeros"]:
        judge_count(answer, weights)
