"""Exercise 08.7: the topological order of histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .trying import tried

NODE_ORDER = Step(
    "08.7",
    "the order of the walk",
    file="tape",
    minutes=20,
    hints=(
        "A depth-first walk that writes a node down when it leaves it, after all its parents, gives the"
        " order backwards: reverse it.",
        "Without recursion: a stack of pairs (node, done). Popped with done False and not seen: push"
        " (node, True), then its parents"
        " with False. Popped with True: write it down.",
        "A node is marked as seen when it is popped the first time, not when it is pushed. None is no"
        " node. Of a node in `ends` no"
        " parents are pushed.",
    ),
)
SECTION = "The walk back"


class Named:
    def __init__(self, name: str) -> None:
        self.name = name
        self.parents: list[Named | None] = []

    def __repr__(self) -> str:
        return self.name


def made(links: Mapping[str, str]) -> dict[str, Named]:
    """Nodes by their letters; `_` is a parent that wants no gradient."""
    nodes = {name: Named(name) for name in links}
    for name, parents in links.items():
        nodes[name].parents = [nodes.get(parent) for parent in parents]
    return nodes


def judge_order(mini: Any, links: Mapping[str, str], roots: str, ends: str = "") -> None:
    nodes = made(links)
    stop = [nodes[name] for name in ends]
    text = f"topological([{', '.join(roots)}], [{', '.join(ends)}]) of {dict(links)}"
    without = "An argument that wants no gradient has None for a history: it is no node."
    order = tried(text, without, mini.tape.topological, [nodes[name] for name in roots], stop)
    fact, wanted = f"{text}: got {order}", reached([nodes[name] for name in roots], stop)
    if any(node is None for node in order):
        raise WrongAnswer(fact, without)
    if len(order) != len(set(order)):
        raise WrongAnswer(fact, "A node was visited more than once: it would pass its gradient on twice.")
    if set(order) - wanted:
        raise WrongAnswer(fact, f"What lies behind {ends} is not asked for: nobody looks behind an end.")
    if wanted - set(order):
        raise WrongAnswer(fact, f"Missing: {sorted(map(str, wanted - set(order)))}.")
    place = {node: at for at, node in enumerate(order)}
    for node in order:
        for parent in node.parents:
            if parent in place and node not in stop and place[parent] < place[node]:
                if order[0] not in [nodes[name] for name in roots]:
                    raise WrongAnswer(fact, "The walk begins at the results; leaves come last.")
                why = f"{parent} comes before {node}, which was made from it: its gradient is not complete by then."
                raise WrongAnswer(fact, f"Not complete: {why}")


def reached(roots: Iterable[Named], ends: Iterable[Named]) -> set[Named]:
    found, todo = set(), list(roots)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo.extend(parent for parent in node.parents if parent is not None and node not in ends)
    return found


@NODE_ORDER.case("each before what it was made from", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge_order(mini, {"a": ""}, "a")
    judge_order(mini, {"b": "a", "a": ""}, "b")
    judge_order(mini, {"b": "_a", "a": ""}, "b")
    judge_order(mini, {"b": "aa", "a": ""}, "b")
    for links in ({"d": "bc", "c": "b", "b": "a", "a": ""}, {"d": "cb", "c": "b", "b": "a", "a": ""}):
        judge_order(mini, links, "d")
    judge_order(mini, {"e": "dc", "d": "a", "c": "ba", "b": "_a", "a": ""}, "e")


@NODE_ORDER.case("several roots, and ends", points=1, section=SECTION)
def _(mini: Any) -> None:
    for roots in ("dc", "cd"):
        judge_order(mini, {"d": "cb", "c": "b", "b": "a", "a": ""}, roots)
    judge_order(mini, {"d": "cb", "c": "a", "b": "a", "a": ""}, "d", "b")
    judge_order(mini, {"c": "b", "b": "a", "a": ""}, "c", "b")


@NODE_ORDER.case("a long tape", points=1, section=SECTION)
def _(mini: Any) -> None:
    nodes = [Named(str(i)) for i in range(20000)]
    for node, parent in zip(nodes, nodes[1:], strict=False):
        node.parents = [parent]
    try:
        order = list(mini.tape.topological(nodes[:1]))
    except RecursionError as error:
        raise WrongAnswer(
            "20,000 nodes in a row: RecursionError", "A loop over a stack of your own has no such limit."
        ) from error
    if order != nodes:
        raise WrongAnswer(f"20,000 nodes in a row: the order begins {order[:5]}", "There is only one.")
