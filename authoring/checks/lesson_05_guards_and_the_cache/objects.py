"""Step 05.7: containers, functions and methods of the trace's own, made of parts."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_frames import judge_worlds, read

OBJECTS = Step(
    "05.7",
    "of other parts",
    file="guards",
    minutes=20,
    hints=(
        "Three kinds: what REMADE has a row for, if it is not fixed; lists, dictionaries and tuples; all else,"
        " which stays"
        " itself.",
        "names, make = REMADE[kind]: make takes the parts, in the order of names.split(). A new list or dictionary is"
        " remember(kind()), and then its items are asked for; a tuple is made of them at the end.",
        "In REMADE: make(*[part('attr', name, getattr(value, name)) for name in names.split()]). A dictionary:"
        " refilled(mine, {part('key', key, key): part('item', key, item) for key, item in value.items()}). A list:"
        " refilled(mine, items), a tuple: tuple(items), with items = [part('item', i, item) for i, item in"
        " enumerate(value)].",
    ),
)
FILLED = "The one that was remembered is the one to fill: refilled(mine, items). Who met it on the way has that one."
SECTION, MANY = "Everything you read", "Many versions, one door"


class Model:
    def forward(self) -> None:
        """Nothing."""


class Other(Model):
    pass


def make(k: Any, offset: Any = 1) -> Callable[..., Any]:
    def scaled(y: Any, by: Any = offset) -> Any:
        return y * k + by

    return scaled


def make_other(k: Any) -> Callable[..., Any]:
    def other(y: Any) -> Any:
        return y / k

    return other


def make_plain() -> Callable[..., Any]:
    def plain(y: Any) -> Any:
        return y

    return plain


@OBJECTS.case("a container of its own", points=2, section=SECTION)
def _(mini: Any) -> None:
    for value in ([1, [2]], {"a": [2]}, (1, [2])):
        guards, _, used = read(mini, x=value)
        if used["x"] != value or type(used["x"]) is not type(value):
            raise WrongAnswer(f"for {value!r} the trace uses {used['x']!r}", "It is made of what `part` gave.")
        if used["x"] is value:
            raise WrongAnswer(
                f"for {value!r} the trace uses the program's own object",
                "Tracing changes lists, and may be given up. What the program owns must stay as it is till then.",
            )
        if str(guards.source_of(used["x"])) != "x" or str(guards.source_of(value)) != "x":
            raise WrongAnswer(
                f"the source of {value!r}, or of what the trace uses for it, is not known",
                "Remember both: effects on the trace's list are done to the program's list later.",
            )
    judge_worlds(mini, {"x": {"a": [1]}}, {"x": {"a": [2]}}, False, "Each item is read, with a path of its own.")
    key = mini.tensor.fake((1,))
    got = mini.guards.remade(
        {key: 1}, lambda step, key, item: f"{step} {item}" if step == "item" else step, lambda it: it
    )
    if got != {"key": "item 1"}:
        raise WrongAnswer(
            f"the parts of {{fake: 1}} gave {got!r}", "A dictionary's keys are parts, too: part('key', ...)."
        )


@OBJECTS.case("a list or dictionary that lies in itself", points=1, section=SECTION)
def _(mini: Any) -> None:
    value: list[Any] = [1]
    value.append(value)
    table: dict[int, Any] = {}
    table[1] = table
    for text, kind, itself in (("x = [1, x]", "list", value), ("x = {1: x}", "dictionary", table)):
        try:
            _, _, used = read(mini, x=itself)
        except RecursionError:
            raise WrongAnswer(
                f"{text}: reading it never ends",
                f"Remember the trace's {kind} before its items are read. Then it is met a second time, and known.",
            ) from None
        if used["x"][1] is not used["x"]:
            raise WrongAnswer(f"{text}: the trace's {kind} does not lie in itself", "One object is one object.")


def noting(items: list[Any]) -> Callable[[Any], Any]:
    """As `remember`: what it gets is noted, and given back."""

    def remember(mine: Any) -> Any:
        items.append(mine)
        return mine

    return remember


@OBJECTS.case("what stays itself", points=1, section=SECTION)
def _(mini: Any) -> None:
    class Own(list[Any]):
        """A list with more to it."""

    for value, why in (
        (globals(), "A module's globals are fixed: the program means these very ones."),
        (
            Own([1]),
            "Only lists, tuples and dictionaries are made again; what is derived may have more to it.",
        ),
    ):
        if mini.guards.remade(value, lambda step, key, item: item, lambda it: it) is not value:
            raise WrongAnswer(f"remade of {type(value).__name__} {reprlib.repr(value)} gave another one", why)
    remembered: list[Any] = []
    mini.guards.remade((1, 2), lambda step, key, item: item, noting(remembered))
    if remembered:
        empty = "There is one empty tuple for all: a tuple can't be made before its parts, and is not remembered early."
        raise WrongAnswer(f"remade of (1, 2) gave {remembered} to remember", empty)
    mine: list[Any] = []
    got = mini.guards.remade({"a": 1}, lambda step, key, item: item, noting(mine))
    if not mine or got is not mine[0]:
        raise WrongAnswer("remade of a dictionary gave another one than it gave to remember", FILLED)


@OBJECTS.case("functions: an inner one is made anew by each call", points=2, section=MANY)
def _(mini: Any) -> None:
    got = mini.guards.remade(make_plain, lambda step, key, item: item, lambda it: it)
    if got is not make_plain:
        why = "It has no closure and no defaults, so it is fixed: the program means this very one."
        raise WrongAnswer(f"remade of a function at the outermost level gave {got!r}", why)
    why = "The `def` runs at each call and makes a new function, of the same code: that must hold."
    judge_worlds(mini, {"x": make(2)}, {"x": make(2)}, True, why)
    judge_worlds(
        mini, {"x": make_plain()}, {"x": make_plain()}, True, "Without a closure it is the same if its code is."
    )
    why = "Another code is another function."
    judge_worlds(mini, {"x": make(2)}, {"x": make_other(2)}, False, why)
    why = "They are read when it is called: its defaults are a part of it, and must be guarded."
    judge_worlds(mini, {"x": make(2, 1)}, {"x": make(2, 5)}, False, why)
    function = make(2)
    guards, _, used = read(mini, x=function)
    cell = (function.__closure__ or ())[0]
    if used["x"](3) != function(3) or used["x"] is function:
        raise WrongAnswer(
            f"for a function with a closure the trace uses {used['x']!r}", "REMADE makes one of its parts."
        )
    if str(guards.source_of(cell)) != "x.__closure__[0]":
        raise WrongAnswer(
            f"the source of its first cell: expected x.__closure__[0], got {guards.source_of(cell)}",
            "What the function shares with the one around it lies in cells: its __closure__ is a part, so they are"
            " known.",
        )


@OBJECTS.case("a bound method, made anew whenever it is asked for", points=2, section=MANY)
def _(mini: Any) -> None:
    model, items = Model(), [1]
    why = "x.forward makes a new method object each time: guard its parts, not its identity."
    judge_worlds(mini, {"x": model.forward}, {"x": model.forward}, True, why)
    judge_worlds(mini, {"x": items.append}, {"x": items.append}, True, why)
    why = "The object that a method is bound to is read like any other."
    judge_worlds(mini, {"x": model.forward}, {"x": Other().forward}, False, why)
    judge_worlds(mini, {"x": items.append}, {"x": [2].append}, False, why)
    why = "Another method of the same object must fail."
    judge_worlds(mini, {"x": items.append}, {"x": items.extend}, False, why)
    guards, _, used = read(mini, a=items, x=items.append)
    if used["x"].__self__ is not used["a"]:
        raise WrongAnswer(
            "a is a list and x is a.append: the trace's method does not belong to the trace's list",
            "Calling it while tracing must change the trace's list, and not the program's: bind it to what part gave.",
        )
    judge_worlds(mini, {"x": math.sqrt}, {"x": math.sqrt}, True, "math.sqrt hangs on a module: it is a plain function.")
