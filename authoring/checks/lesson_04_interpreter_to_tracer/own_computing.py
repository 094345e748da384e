"""Exercise 04.9: what Python does now, while tracing, and what it must not be asked."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_traces import breaks, like_python, lines, traced, whole

OWN_COMPUTING = Step(
    "04.9",
    "what Python does now",
    file="tracer",
    minutes=25,
    hints=(
        "New cells and functions are noted: self.trace.made[id(made)] = made. Functions that map, max,"
        " min, sorted and sort"
        " call are given as self.callback(function), which comes back to apply.",
        "Three questions. A list or dict that is written to: is it from outside? Then self.trace.changed has it. Else"
        " self.asks(function, values): Break."
        " Else neither in PURE nor a method of a list, dict, tuple, str, int or float: Break.",
        "After the call: a str with 'fake(' in it is"
        " the text of a tensor,"
        " Break; what iter and ITERATORS give becomes Items(list(result)), unless it is an Items or a generator.",
    ),
)
TRACING, GONE, SOURCES = "Tracing by interpreting", "Python disappears", "Where a value came from"


def works(x: Any, n: int) -> Any:
    sizes = [len(x), max(3, n), min([5, 4])]
    return x * sum(sizes), "-".join(str(size) for size in sizes), sorted(sizes, key=lambda size: -size), divmod(7, n)


@OWN_COMPUTING.case("done by Python", points=1, section=GONE)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0, 2.0])
    why = "len, max, sum, join, sorted, divmod: all of plain values, so Python does it now."
    trace = whole(mini, works, (x, 2), why)
    expect(
        "the graph of x * sum([len(x), max(3, n), min([5, 4])])", ["mul = mul(x0, 9)"], lines(trace.record.graph), why
    )
    like_python(mini, works, (x, 2), why)


LIMIT = 2


def below(value: Any) -> Any:
    return value % LIMIT


def picks(x: Any) -> Any:
    return x * max([3, 5, 4], key=below), [y for y in map(lambda k: x + k, [1, 2])]  # noqa: C416, C417


@OWN_COMPUTING.case("functions that builtins call", points=1, section=SOURCES)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0])
    why = "max calls `below`, and that reads a global. Give max a callback that comes back to apply."
    trace = whole(mini, picks, (x,), why)
    said = [str(guard) for guard in trace.guards]
    if not any("LIMIT" in text for text in said):
        raise WrongAnswer(f"max(..., key=below), and below reads the global LIMIT: the guards are {said}", why)
    like_python(mini, picks, (x,), why)


class Thing:
    def __init__(self) -> None:
        self.asked = 0

    def __len__(self) -> int:
        self.asked += 1
        return 2


def measures(x: Any, thing: Any) -> Any:
    return x * len(thing)


def opens(x: Any) -> Any:
    return x, Thing()


def shows(x: Any) -> Any:
    return str(x * 2)


@OWN_COMPUTING.case("what must not be done now", points=2, section=TRACING)
def _(mini: Any) -> None:
    x, thing = mini.tensor.tensor([1.0]), Thing()
    why = "An object from outside has its own answer, which nobody guards: `asks` knows. Break."
    breaks(mini, measures, (x, thing), why)
    expect("how often its __len__ was called while tracing", 0, thing.asked, "Break before the call, not after it.")
    breaks(
        mini,
        opens,
        (x,),
        "Making a Thing is no function in PURE, and no method of a plain value: who knows what it does?",
    )
    breaks(mini, shows, (x,), "The text of a tensor has its numbers, which nobody knows: a fake's text is 'fake(1,)'.")


def writes(x: Any, seen: list[Any], table: dict[str, Any]) -> Any:
    seen.append(x)
    seen[0] = 5
    table.update(k=seen[0])
    del table["old"]
    seen *= 2
    return seen.pop(), table


@OWN_COMPUTING.case("lists and dictionaries from outside", points=1, section=SOURCES)
def _(mini: Any) -> None:
    why = "Python changes the trace's copy. Note it in self.trace.changed: the real one is changed after the graph."
    like_python(mini, writes, (mini.tensor.tensor([1.0]), [1], {"old": 0}), why)


def makes(x: Any, seen: list[Any]) -> Any:
    mine = [x]
    mine.append(x * 2)
    seen.append(1)
    return mine


@OWN_COMPUTING.case("which containers are changed for real", points=1, section=SOURCES)
def _(mini: Any) -> None:
    trace = traced(mini, makes, mini.tensor.tensor([1.0]), [7])
    why = "A list that the trace has made is nobody else's: no source, nothing to be changed outside."
    expect("changed, after appends to a new list and to one from outside", [[7, 1]], list(trace.changed.values()), why)


def pairs(x: Any) -> Any:
    out = []
    for i, (name, y) in enumerate(zip("ab", [x, x * 2])):
        if y.sum().item() > 2:
            out.append((i, name))
    return out


def shared(x: Any) -> Any:
    it = iter([1, 2, 3, 4])
    return [x * a + next(it) for a in it]


def spent(x: Any) -> Any:
    def both(items: Any) -> Any:
        return list(items), x.sum().item()

    return both(iter([1, 2]))


def generated(x: Any) -> Any:
    def powers() -> Iterator[Any]:
        y = x
        while True:
            yield y
            y = y * x

    made = powers()
    return next(made), next(made), next(made)


@OWN_COMPUTING.case("iterators", points=2, section=GONE)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0, 2.0])
    why = "An enumerate or a zip can't be copied, nor put back. Make an Items of what it gives."
    like_python(mini, pairs, (x,), why)
    like_python(mini, shared, (x,), "iter of an iterator is that iterator: leave an Items as it is.")
    like_python(mini, spent, (x,), "A call that breaks is done again: with iterators as they were.")
    whole(mini, generated, (x,), "A generator is one of ours, whose frame records: leave it as it is.")


@OWN_COMPUTING.case("what the trace has made", points=1, section=TRACING)
def _(mini: Any) -> None:
    def nothing() -> None:
        pass

    trace = mini.tracer.Trace(mini.interpreter.Frame(nothing, (), {}))
    cell = trace.frame.apply(types.CellType, 1)
    if trace.made.get(id(cell)) is not cell:
        why = (
            "Of a cell that the trace made nobody outside knows, so it may be written to at once. Note it"
            " in self.trace.made."
        )
        raise WrongAnswer("apply(types.CellType, 1): the cell is not in trace.made", why)
