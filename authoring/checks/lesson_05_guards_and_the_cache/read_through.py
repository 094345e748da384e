"""Step 05.6: lists, tuples and dictionaries are read item by item."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_frames import judge_worlds, read

READ_THROUGH = Step(
    "05.6",
    "what is read through",
    file="guards",
    minutes=15,
    hints=(
        "Each item is read with part('item', key, item), which gives what the trace uses for it. What must hold of the"
        " container itself comes first: its type, and how many items there are, or which keys.",
        "Find out the length, or the keys, before you write the lambda: it is run later, when the list may be longer.",
        "The trace's own list: mine = guards.remember([], value, source), then mine.extend(...). A tuple can't be"
        " filled later: remember tuple(items) at the end. Of keys compare [(type(k), k) for k in v].",
    ),
)
SECTION = "Everything you read"
ORDER = "A loop over a dictionary reads its keys in the order in which they were put in."
WORLDS: list[tuple[Any, Any, bool, str]] = [
    ([1, 2], [1, 2], True, "An equal list holds equal things."),
    ([1, 2], [1, 3], False, "Each item is read, with a path of its own."),
    ([1, 2], [1, 2, 3], False, "A longer list begins in the same way: its length must be guarded, too."),
    ([1, 2], [1], False, "A shorter list must fail."),
    ([1, 2], (1, 2), False, "A tuple is no list: the program may change it, or ask for its type."),
    ((1, 2), (1, 2), True, "An equal tuple holds equal things."),
    ({"a": 1, "b": 2}, {"a": 1, "b": 2}, True, "An equal dictionary holds equal things."),
    ({"a": 1, "b": 2}, {"a": 1, "b": 3}, False, "Each value of a dictionary is read."),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False, ORDER),
    ({"a": 1}, {"a": 1, "b": 2}, False, "A key more is another dictionary: its keys must be guarded."),
    ({1: "x"}, {True: "x"}, False, "The keys 1 and True are equal, and not the same: compare their types, too."),
    ({}, [], False, "An empty list is no empty dictionary."),
]


@READ_THROUGH.case("what must hold", points=3, section=SECTION)
def _(mini: Any) -> None:
    for before, after, holds, why in WORLDS:
        judge_worlds(mini, {"x": before}, {"x": after}, holds, why)


@READ_THROUGH.case("what was seen, not what is there later", points=1, section=SECTION)
def _(mini: Any) -> None:
    worlds: list[tuple[Any, Any]] = [([1], lambda x: x.append(2)), ({"a": 1}, lambda x: x.update(b=2))]
    for value, change in worlds:
        guards, frame, _ = read(mini, x=value)
        change(frame.locals["x"])
        if guards.first_failing(frame) is None:
            raise WrongAnswer(
                f"read, then changed into {value}: all guards hold",
                "The same object grew. How long it was must be found out while tracing: a lambda that asks"
                " for it later compares the list with itself.",
            )


@READ_THROUGH.case("the trace has a container of its own", points=2, section=SECTION)
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


@READ_THROUGH.case("a list that lies in itself", points=1, section=SECTION)
def _(mini: Any) -> None:
    value: list[Any] = [1]
    value.append(value)
    try:
        _, _, used = read(mini, x=value)
    except RecursionError:
        raise WrongAnswer(
            "x = [1, x]: reading it never ends",
            "Remember the trace's list before its items are read. Then it is met a second time, and known.",
        ) from None
    if used["x"][1] is not used["x"]:
        raise WrongAnswer("x = [1, x]: the trace's list does not lie in itself", "One object is one object.")
