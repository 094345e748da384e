"""Exercise 03.7: handlers of operators, attributes, items and new containers."""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_frames import after, agrees, frame_of, noting

OWN_CONTAINERS = Step(
    "03.7",
    "operators, attributes, containers",
    file="interpreter",
    minutes=15,
    hints=(
        "self.popn(2) gives two values in the order of their pushes. What did Python push first in `o.a = v`?",
        "An assignment has pushed the value first, then the object, then the key. LIST_APPEND n: the list is n from the"
        " top after the item was popped.",
        "function, count = what; self.push(self.apply(function, *self.popn(count))). And"
        " self.apply(list.append, self.stack[-depth - 1], self.pop()): the arguments are worked out from the left.",
    ),
)
STACK, APPLY = "A list of instructions for a stack machine", "The package's interpreter"


@OWN_CONTAINERS.case("operators", points=1, section=STACK)
def _(mini: Any) -> None:
    why = "The one that was pushed last is the right operand; popn keeps the order."
    expect(
        "APPLY (sub, 2) on ['a', 7, 2]", ["a", 5], after(frame_of(mini, ["a", 7, 2]), "APPLY", (operator.sub, 2)), why
    )
    expect("APPLY (neg, 1) on [7, 2]", [7, -2], after(frame_of(mini, [7, 2]), "APPLY", (operator.neg, 1)), why)


@OWN_CONTAINERS.case("attributes and items", points=1, section=STACK)
def _(mini: Any) -> None:
    thing = SimpleNamespace(a=1)
    expect(
        "LOAD_ATTR a", ["x", 1], after(frame_of(mini, ["x", thing]), "LOAD_ATTR", "a"), "The object leaves the stack."
    )
    got = after(frame_of(mini, ["x", 5, thing]), "STORE_ATTR", "a"), thing.a
    expect("STORE_ATTR a on ['x', 5, o]: the stack, o.a", (["x"], 5), got, "`o.a = 5` pushes 5 first, and o last.")
    items: dict[str, int] = {}
    got = after(frame_of(mini, ["x", 5, items, "k"]), "STORE_SUBSCR", None), items
    expect(
        "STORE_SUBSCR on ['x', 5, d, 'k']: the stack, d", (["x"], {"k": 5}), got, "Value, object, key, in this order."
    )


@OWN_CONTAINERS.case("new containers", points=1, section=STACK)
def _(mini: Any) -> None:
    for op, expected in (("BUILD_TUPLE", (1, 2)), ("BUILD_LIST", [1, 2]), ("BUILD_SLICE", slice(1, 2))):
        got = after(frame_of(mini, ["x", 1, 2]), op, 2)
        expect(f"{op} 2 on ['x', 1, 2]", ["x", expected], got, "What was pushed first comes first.")
    expect("BUILD_LIST 0 on ['x']", ["x", []], after(frame_of(mini, ["x"]), "BUILD_LIST", 0), "An empty one.")
    got = after(frame_of(mini, ["x", "a", 1, "b", 2]), "BUILD_MAP", 2)
    expect(
        "BUILD_MAP 2 on ['x', 'a', 1, 'b', 2]",
        ["x", {"a": 1, "b": 2}],
        got,
        "Key, value, key, value: 2 * count places.",
    )


@OWN_CONTAINERS.case("into a container further down", points=2, section=STACK)
def _(mini: Any) -> None:
    why = "The depth is counted when the item is off the stack: 1 is then the top, and here 2 is the one below it."
    got = after(frame_of(mini, [[1], "between", 2]), "LIST_APPEND", 2)
    expect("LIST_APPEND 2 on [[1], 'between', 2]", [[1, 2], "between"], got, why)
    got = after(frame_of(mini, [[1], (2, 3)]), "LIST_EXTEND", 1)
    expect("LIST_EXTEND 1 on [[1], (2, 3)]", [[1, 2, 3]], got, why)
    got = after(frame_of(mini, [{"a": 1}, {"b": 2}]), "DICT_UPDATE", 1)
    expect("DICT_UPDATE 1 on [{'a': 1}, {'b': 2}]", [{"a": 1, "b": 2}], got, why)
    got = after(frame_of(mini, [{"a": 1}, "between", "b", 2]), "MAP_ADD", 2)
    expect(
        "MAP_ADD 2 on [{'a': 1}, 'between', 'b', 2]", [{"a": 1, "b": 2}, "between"], got, "The key was pushed first."
    )


def filled(n: int) -> Any:
    squares: list[Any] = [[i * j for j in range(i)] for i in range(n)]
    table: dict[Any, Any] = {10 * i: squares[i] for i in range(n)}
    table["last"], squares[0] = [*squares[1], n], (n, -n)
    return squares, table, squares[1:], {**table, "more": n in squares}


@OWN_CONTAINERS.case("a whole function", points=1, section=STACK)
def _(mini: Any) -> None:
    for n in (2, 4):
        agrees(mini, filled, (n,), "Try the handlers one by one.")


@OWN_CONTAINERS.case("all by apply", points=1, section=APPLY)
def _(mini: Any) -> None:
    trials: list[tuple[str, Any, list[Any], Any]] = [
        ("APPLY", (operator.add, 2), [1, 2], operator.add),
        ("LOAD_ATTR", "real", [1], getattr),
        ("STORE_ATTR", "a", [1, SimpleNamespace()], setattr),
        ("STORE_SUBSCR", None, [1, {}, 0], operator.setitem),
        ("LIST_APPEND", 1, [[], 1], list.append),
        ("LIST_EXTEND", 1, [[], [1]], list.extend),
        ("DICT_UPDATE", 1, [{}, {}], dict.update),
        ("MAP_ADD", 1, [{}, 1, 2], operator.setitem),
    ]
    for op, arg, stack, function in trials:
        frame = frame_of(mini, stack, noting(mini))
        after(frame, op, arg)
        if function not in frame.asked:
            fact = f"{op}: self.apply was asked for {frame.asked!r}, expected {function!r} among them"
            why = "Also a list that is half built may belong to somebody: after a graph break it is a real one."
            raise WrongAnswer(fact, why)
