"""Exercise 04.6: how a list, a dictionary, an iterator or a cell is made again as it was."""

from __future__ import annotations

import types
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect
from .own_traces import like_python

OWN_UNDOING = Step(
    "04.6",
    "what can be undone",
    file="tracer",
    minutes=15,
    hints=(
        "`keep` appends one function to self.undo. It must make the same object as it was, not another one like it.",
        "A list: value[:] = a copy made now. A dict: clear it, then update it with the copy. An Items:"
        " all that vars(items)"
        " has. A cell may be empty: then reading it is a ValueError, and undoing means `del cell.cell_contents`.",
        "A lambda has no statements: value.__setitem__(slice(None), items), setattr, delattr. `change`"
        " keeps the container,"
        " and notes it in self.changed[id(container)] if self.guards.source_of(container) is not None.",
    ),
)
SECTION = "Tracing by interpreting"


def trace_of(mini: Any, *args: Any) -> Any:
    def nothing(*args: Any) -> None:
        pass

    return mini.tracer.Trace(mini.interpreter.Frame(nothing, args, {}))


def undone(mini: Any, value: Any, change: Any, shown: Any, why: str) -> None:
    """`keep`, then the change, then what was noted: is it again as it was?"""
    trace = trace_of(mini)
    before = shown(value)
    raised = attempt(trace.keep, value)
    if isinstance(raised, str):
        raise WrongAnswer(f"keep({value!r}): {raised}", why)
    change(value)
    changed = shown(value)
    for put_back in reversed(trace.undo):
        put_back()
    expect(f"{before!r} was kept, became {changed!r}, and was undone", before, shown(value), why)


@OWN_UNDOING.case("lists and dictionaries", points=2, section=SECTION)
def _(mini: Any) -> None:
    same = "Others hold the same object. Fill it again as it was at `keep`; a copy must be made then, not later."
    undone(mini, [1, 2], lambda v: v.append(3), list, same)
    undone(mini, [1, 2], lambda v: v.clear(), list, same)
    undone(mini, {"a": 1}, lambda v: v.update(a=2), dict, same)
    undone(mini, {"a": 1}, lambda v: v.update(b=2), dict, "A key that came in must go: empty it first.")
    undone(mini, {"a": 1, "b": 2}, lambda v: v.pop("a"), dict, "The order of the keys is a part of it: empty it first.")


def rest(items: Any) -> Any:
    return list(items.sequence), items.at


@OWN_UNDOING.case("iterators", points=1, section=SECTION)
def _(mini: Any) -> None:
    items = mini.interpreter.Items
    undone(mini, items([1, 2, 3], 1), lambda v: next(v), rest, "An iterator is its attributes: vars(items).")
    why = "At its end, an Items has dropped its sequence. So put all of its attributes back: vars(items)."
    undone(mini, items([1, 2, 3]), lambda v: list(v), rest, why)


def contents(cell: types.CellType) -> Any:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


@OWN_UNDOING.case("cells", points=1, section=SECTION)
def _(mini: Any) -> None:
    undone(mini, types.CellType(1), lambda c: setattr(c, "cell_contents", 2), contents, "Set its contents again.")
    why = "A cell may be empty, as that of a variable which gets its value later. It must be empty again."
    undone(mini, types.CellType(), lambda c: setattr(c, "cell_contents", 2), contents, why)


@OWN_UNDOING.case("which containers are changed for real", points=1, section="Where a value came from")
def _(mini: Any) -> None:
    trace = trace_of(mini, [1])
    (mine,) = trace.frame.locals["args"]
    trace.change(mine)
    expect(
        "changed, after change of a list from outside",
        [mine],
        list(trace.changed.values()),
        "It must be changed for real.",
    )
    trace.change([2])
    why = "A list that the trace has made is nobody else's: no source, nothing to be changed outside."
    expect("changed, after change of a new list, too", [mine], list(trace.changed.values()), why)
    expect("how many are noted to be undone", 2, len(trace.undo), "Both may have to be undone.")


def changes(x: Any, seen: list[Any], table: dict[str, Any]) -> Any:
    count = 0

    def number(items: Any) -> Any:
        nonlocal count
        count += 1
        seen.append(next(items))
        table["x"] = count
        return x.sum().item()

    return number(iter([5, 6])), count, seen, table


@OWN_UNDOING.case("a call that is done twice", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "The call changed things, then asked for a number: it was undone, and done again for real."
    like_python(mini, changes, (mini.tensor.tensor([1.0, 2.0]), [1], {"old": 0}), why)
