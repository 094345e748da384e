"""Exercise 08.3: an order in which every node comes after its users."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome

BACKWARD_ORDER = Exercise(
    "08.3",
    "the order of the walk",
    answer="backward_order",
    minutes=15,
    hints=(
        "A node may go as soon as all nodes that use it have gone. So first count, for each, how many use it.",
        "Then start with root. Whenever a node goes, the counts of its inputs go down by one; a count of 0 means"
        " ready.",
        "Two loops: one over a growing list of found nodes that counts, one that pops ready nodes. No function that "
        "calls itself.",
    ),
)
SECTION = "The walk back"
Tape = dict[str, list[str]]

DIAMOND: Tape = {"d": ["b", "c"], "c": ["b"], "b": ["a"], "a": []}


def judge_order(answer: Callable[..., Any], inputs: Tape, root: str, text: str) -> None:
    try:
        order = outcome(answer, (inputs, root))
    except RecursionError as error:
        raise WrongAnswer(f"{text}: RecursionError", LONG) from error
    if not isinstance(order, list):
        raise WrongAnswer(
            f"{text}: expected a list of nodes, got {order!r}", LONG if "Recursion" in repr(order) else ""
        )
    shown = order if len(order) < 12 else f"{order[:5]} and {len(order) - 5} more"
    fact = f"{text}: got {shown}"
    reached = below(inputs, root)
    if len(order) != len(set(order)):
        twice = next(node for node in order if order.count(node) > 1)
        raise WrongAnswer(
            fact, f"{twice!r} is visited more than once. Its slope would be passed on before it is complete."
        )
    if set(order) != reached:
        raise WrongAnswer(fact, f"Expected the nodes below {root!r}, and no others: {sorted(reached)[:12]}.")
    place = {node: i for i, node in enumerate(order)}
    if order and order[0] != root:
        raise WrongAnswer(fact, "The walk goes backwards, so root comes first, and the leaves last.")
    for node in order:
        for x in inputs[node]:
            if place[x] < place[node]:
                why = (
                    f"{x!r} goes before all of its users have: {node!r} uses it, and its share of the slope is missing."
                )
                raise WrongAnswer(fact, why)


LONG = "Python's stack is short: about a thousand calls deep. A tape has a node for every operation, so use a loop."


def below(inputs: Tape, root: str) -> set[str]:
    found = [root]
    for node in found:
        found += [x for x in inputs[node] if x not in found]
    return set(found)


@BACKWARD_ORDER.case("a chain, and a diamond", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_order(answer, {"a": []}, "a", "one leaf")
    judge_order(answer, {"c": ["b"], "b": ["a"], "a": []}, "c", "c from b from a")
    judge_order(answer, DIAMOND, "d", "d from b and c, c from b, b from a")
    turned = {"d": ["c", "b"], "c": ["b"], "b": ["a"], "a": []}
    judge_order(answer, turned, "d", "d from c and b, c from b, b from a")


@BACKWARD_ORDER.case("a node that is used twice by the same node", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_order(answer, {"b": ["a", "a"], "a": []}, "b", "b from a and a")
    judge_order(
        answer, {"c": ["b", "b"], "b": ["a", "a"], "a": [], "other": ["a"]}, "c", "two squares, and another node"
    )


@BACKWARD_ORDER.case("forty random tapes", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    dice = random.Random(8)
    for size in range(3, 13):
        for _ in range(4):
            names = [f"n{i}" for i in range(size)]
            tape: Tape = {name: dice.choices(names[:i], k=min(i, dice.randint(1, 3))) for i, name in enumerate(names)}
            judge_order(answer, tape, names[-1], f"the tape {tape}")


@BACKWARD_ORDER.case("20,000 nodes in a row", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    tape: Tape = {f"n{i}": [f"n{i - 1}"] if i else [] for i in range(20_000)}
    try:
        order = outcome(answer, (tape, "n19999"))
    except RecursionError as error:
        raise WrongAnswer("a chain of 20,000 nodes: RecursionError", LONG) from error
    if order != [f"n{i}" for i in reversed(range(20_000))]:
        raise WrongAnswer(
            "a chain of 20,000 nodes: it must come out in reverse", LONG if "Recursion" in repr(order) else ""
        )
