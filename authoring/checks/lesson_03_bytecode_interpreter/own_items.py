"""Exercise 03.2: the iterator that a loop over a list gets, whose place can be read and set."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect

OWN_ITEMS = Step(
    "03.2",
    "an iterator that can be put back",
    file="interpreter",
    minutes=6,
    hints=(
        "Two attributes are all: the sequence itself, not a copy, and the index of the next item.",
        "next: if `at` has reached the length, it is the end; else count on, and give the item that was next.",
        "At the end set self.sequence = () before `raise StopIteration`: whatever is appended later, it stays the end.",
    ),
)
SECTION = "Jumps"
END = "StopIteration: "


@OWN_ITEMS.case("the items, one by one, and the end", points=1, section=SECTION)
def _(mini: Any) -> None:
    for sequence in ([], ["a"], ["a", "b"], (0, None), range(5, 8)):
        items, expected = mini.interpreter.Items(sequence), [*sequence, END]
        got = [attempt(next, items) for _ in expected]
        why = "next gives the item at `at` and counts on."
        if got[-1] is None:
            why = "There is no item left: behind the last one it raises StopIteration, as iterators do."
        expect(f"next, {len(expected)} times, of Items({sequence!r})", expected, got, why)


@OWN_ITEMS.case("where it stands can be read and set", points=1, section=SECTION)
def _(mini: Any) -> None:
    sequence = ["a", "b", "c"]
    items = mini.interpreter.Items(sequence, 1)
    why = "`at` is the index of the item that comes next: 1 in the beginning here."
    expect("Items(['a', 'b', 'c'], 1): at, next, at", (1, "b", 2), (items.at, attempt(next, items), items.at), why)
    if items.sequence is not sequence:
        fact = "Items(s).sequence is not s"
        raise WrongAnswer(fact, "Keep the sequence itself: a loop over a list sees the items that its body appends.")
    sequence.append("d")
    got = [attempt(next, items) for _ in range(3)]
    expect("the rest, after 'd' was appended to the list", ["c", "d", END], got, "The end is asked for each time.")


@OWN_ITEMS.case("an iterator as Python's are", points=1, section=SECTION)
def _(mini: Any) -> None:
    items = mini.interpreter.Items(["a", "b"])
    if attempt(iter, items) is not items:
        raise WrongAnswer("iter(items) is not items", "The iterator of an iterator is itself, wherever it stands.")
    sequence = ["a"]
    items = mini.interpreter.Items(sequence)
    got = [attempt(next, items), attempt(next, items)]
    sequence.append("b")
    got.append(attempt(next, items))
    why = "Once an iterator was at its end it stays there, even if the list has grown since."
    expect("next, next, append 'b', next of Items(['a'])", ["a", END, END], got, why)
