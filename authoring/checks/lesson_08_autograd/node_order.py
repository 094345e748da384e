"""Exercise 08.7: which note comes next, and what has come there."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried

NODE_ORDER = Step(
    "08.7",
    "the order of the walk",
    file="tape",
    minutes=10,
    hints=(
        "Both are about a dictionary. The first changes one entry of it, the second takes one entry out.",
        "add_to: is the node in it? Then gradients[node] + grad is its new entry, else grad alone.",
        "take_latest: max(pending, key=...) with a function that gives a note's number; then pending.pop(note).",
    ),
)
SECTION = "The walk back"


class Numbered:
    """A note of which only the number counts."""

    def __init__(self, number: int) -> None:
        self.number = number


@NODE_ORDER.case("what has come so far", points=1, section=SECTION)
def _(mini: Any) -> None:
    gradients: dict[str, Any] = {}
    first = "Nothing had come before: the gradient is all there is."
    tried("add_to({}, a, 3)", first, mini.tape.add_to, gradients, "a", 3)
    tried("add_to({a: 3}, b, 5)", first, mini.tape.add_to, gradients, "b", 5)
    tried("add_to({a: 3, b: 5}, a, 4)", "", mini.tape.add_to, gradients, "a", 4)
    why = "What is used twice gets a gradient from each use: add them."
    expect("add_to with a and 3, with b and 5, with a and 4", {"a": 7, "b": 5}, gradients, why)
    arrived, gradients = mini.tensor.tensor([1.0]), {}
    for node in ("a", "b", "a"):
        tried(f"add_to(gradients, {node}, g), g a tensor", "", mini.tape.add_to, gradients, node, arrived)
    got = {node: grad.tolist() for node, grad in gradients.items()} | {"g": arrived.tolist()}
    one = "One tensor had come to both: += writes into it, and changes what others have. A sum is a new tensor."
    expect(
        "add_to with a and g, with b and g, with a and g, a tensor [1.0]",
        {"a": [2.0], "b": [1.0], "g": [1.0]},
        got,
        one,
    )


@NODE_ORDER.case("the latest comes next", points=2, section=SECTION)
def _(mini: Any) -> None:
    pending = {Numbered(number): f"the gradient of {number}" for number in (4, 17, 2, 9)}
    got = tried("take_latest of notes with the numbers 4, 17, 2 and 9", "", mini.tape.take_latest, pending)
    if not isinstance(got, tuple) or len(got) != 2 or not isinstance(got[0], Numbered):
        raise WrongAnswer(f"take_latest gave {got!r}", "A pair: the note, and what had come for it.")
    why = "The highest number comes next, not in the order in which gradients come."
    if got[0].number == 2:
        why = "The one that was made first may still wait for what was made later."
    wanted = (17, "the gradient of 17")
    expect("take_latest of notes with the numbers 4, 17, 2 and 9", wanted, (got[0].number, got[1]), why)
    left = "It has had its turn: it is no longer among those that wait."
    expect("the numbers of those that wait after it", [4, 2, 9], [note.number for note in pending], left)
