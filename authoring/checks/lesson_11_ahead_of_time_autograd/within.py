"""Exercise 11.2: which values to save within a limit of bytes, so that little has to be made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.aot import JointGraph
from minitorch_compile.aot.subgraph import extract
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.measures.cutting import (
    arguments,
    cheapest,
    gradients,
    joint_graph,
    read,
    size,
    tangents,
    work,
)
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor import Tensor, empty_fake

WITHIN = Exercise(
    "11.2",
    "a partition within a limit",
    answer="within",
    minutes=20,
    hints=(
        "Begin with cheapest(joint). If even that is too much, there is nothing you can do: raise a ValueError.",
        "The rest of the limit may be spent. Each value of read(joint) that is saved as well spares some work:"
        " work(joint, [*saved, node]) tells how much.",
        "Again and again: of all that still fit, take the value with which the work is least; stop when none makes it"
        " less.",
    ),
)
SECTION = "Cutting it in two"


def bend(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.045 * x**3)))


def wave(x: Tensor) -> Tensor:
    return x.sin().exp().tanh().sigmoid()


def layer(x: Tensor, w: Tensor) -> Tensor:
    return bend(x @ w)


def leaf(*sizes: int) -> Tensor:
    return empty_fake(sizes).requires_grad_()


def programs() -> list[tuple[str, JointGraph]]:
    return [
        ("four functions in a row, of 100 numbers", joint_graph(wave, leaf(100))),
        ("a layer with bend, x of (8, 4) and w of (4, 16)", joint_graph(layer, empty_fake((8, 4)), leaf(4, 16))),
    ]


def total(nodes: list[Node]) -> int:
    return sum(map(size, nodes))


def limits(joint: JointGraph) -> list[int]:
    """The least that is possible, the most that is of use, and two steps between them."""
    least, most = total(cheapest(joint)), total([*cheapest(joint), *read(joint)])
    return [least, least + (most - least) // 3, least + 2 * (most - least) // 3, 2 * most]


def par(joint: JointGraph, limit: int) -> int:
    """The work that is left if the value which spares the most is added, as long as one fits."""
    saved = cheapest(joint)
    while True:
        fitting = [n for n in read(joint) if n not in saved and total([*saved, n]) <= limit]
        best = min(fitting, key=lambda n: work(joint, [*saved, n]), default=None)
        if best is None or work(joint, [*saved, best]) >= work(joint, saved):
            return work(joint, saved)
        saved.append(best)


def checked(answer: Callable[..., Any], text: str, joint: JointGraph, limit: int) -> list[Node]:
    """The answer's nodes, which are nodes of this graph from which the gradients can be computed."""
    got = outcome(answer, (joint, limit))
    fact = f"{text}, at most {limit} bytes: "
    nodes = set(joint.graph_module.graph.nodes)
    if not isinstance(got, list | tuple) or not all(isinstance(node, Node) and node in nodes for node in got):
        raise WrongAnswer(f"{fact}expected a list of nodes of the joint graph, got {got!r}")
    try:
        extract(joint.graph_module, [*got, *tangents(joint)], gradients(joint))
    except RuntimeError as error:
        raise WrongAnswer(
            f"{fact}saving {[node.name for node in got]}, the backward graph can't be made: {error}",
            "Everything that is read must be saved, or made again from what is saved.",
        ) from error
    if any(node in tangents(joint) for node in got) or late(joint, got):
        raise WrongAnswer(f"{fact}{[node.name for node in got]} has values that depend on the tangent", TOO_LATE)
    return list(dict.fromkeys(got))


TOO_LATE = "The forward pass is over when the tangent comes. Only what it can compute can be saved."


def late(joint: JointGraph, nodes: Any) -> bool:
    try:
        extract(joint.graph_module, arguments(joint), nodes)
    except RuntimeError:
        return True
    return False


@WITHIN.case("never more bytes than the limit", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for text, joint in programs():
        for limit in limits(joint):
            saved = checked(answer, text, joint, limit)
            if total(saved) > limit:
                why = "All that is read was saved, whatever the limit."
                if set(saved) != set(read(joint)):
                    why = "Add up the sizes as you go, those of the cheapest cut included."
                raise WrongAnswer(f"{text}: {total(saved)} bytes are saved, the limit is {limit}", why)


@WITHIN.case("no matrix product a second time", points=1, section="The graph as pipes")
def _(answer: Callable[..., Any]) -> None:
    joint = joint_graph(layer, empty_fake((64, 4)), leaf(4, 16))
    saved = checked(answer, "a layer of (64, 4) times (4, 16)", joint, 10**6)
    if any(node.target is torch.mm for node in made_again(joint, saved)):
        raise WrongAnswer("a layer of (64, 4) times (4, 16): the product is computed twice", "Save it.")


def made_again(joint: JointGraph, saved: list[Node]) -> list[Node]:
    backward = extract(joint.graph_module, [*saved, *tangents(joint)], gradients(joint))
    given = {node.name for node in extract(joint.graph_module, arguments(joint), read(joint)).graph.nodes}
    return [n for n in backward.graph.find_nodes(op="call_function") if n.name in given]


@WITHIN.case("little is made again", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for text, joint in programs():
        for limit in limits(joint):
            saved = checked(answer, text, joint, limit)
            if total(saved) > limit:
                raise WrongAnswer(
                    f"{text}: {total(saved)} bytes are saved, the limit is {limit}", "Keep the limit first."
                )
            done, wanted = work(joint, saved), par(joint, limit)
            if done > wanted:
                raise WrongAnswer(
                    f"{text}, at most {limit} bytes: you save {total(saved)}, and the backward pass has {done}"
                    f" operations; par is {wanted}",
                    spending(joint, saved, limit),
                )


def spending(joint: JointGraph, saved: list[Node], limit: int) -> str:
    rest = limit - total(saved)
    if any(node not in saved and size(node) <= rest for node in read(joint)):
        return f"{rest} bytes of the limit are left, and something of use would fit. Spend them."
    return "The limit is spent, but on what? One value spares more work than another of the same size."


@WITHIN.case("a limit that can't be kept", points=1, section="The narrowest place")
def _(answer: Callable[..., Any]) -> None:
    joint = joint_graph(wave, leaf(100))
    try:
        got = answer(joint, 399)
    except ValueError:
        return
    raise WrongAnswer(
        f"four functions in a row, at most 399 bytes: expected a ValueError, got {got!r}",
        "No cut is narrower than 400 bytes here. Say so, rather than break the limit.",
    )
