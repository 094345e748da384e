"""Exercise 13.7: boxes, of memory and of computed elements."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .index_values import variables

OWN_BOXES = Step(
    "13.7",
    "boxes",
    file="loops",
    minutes=15,
    hints=(
        "A handler has a dictionary, h.memo. Which element of which box: (id(self), *index).",
        "at: if the key is not in h.memo, put self.body(h, index) there; give what is there.",
        "stored: a body that gives h.load(buffer, position), where position is Index.of(layout.offset) plus each "
        "index times its"
        " stride; and the Box has (buffer, layout) as its memory.",
    ),
)
SECTION = "An element, not an array"
GIVES = "at gives what the body says, whether it ran now or is known; and the body of `stored` gives what h.load gives."


class Listing:
    """A handler that writes down what is loaded."""

    def __init__(self) -> None:
        self.memo: dict[Any, Any] = {}

    def load(self, buffer: Any, index: Any) -> str:
        return f"{buffer.name}[{index}]"


@OWN_BOXES.case("what lies in memory", points=1, section=SECTION)
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    layout = mini.tensor.Layout((4, 8), (1, 10), 3)
    buffer = mini.loops.Buffer("x0", (4, 8), "float32", layout)
    box = mini.loops.stored(buffer, layout)
    got = box.at(Listing(), (i, j))
    if got is None:
        raise WrongAnswer("the box of a buffer: at(h, (i, j)) gave None", GIVES)
    if got != "x0[i + j * 10 + 3]":
        why = "Element (i, j) lies at offset + i * strides[0] + j * strides[1]: the layout says all of it."
        raise WrongAnswer(f"strides (1, 10), offset 3, element (i, j): expected x0[i + j * 10 + 3], got {got}", why)
    if box.sizes != (4, 8) or box.dtype != "float32":
        raise WrongAnswer(
            f"expected sizes (4, 8) of float32, got {box.sizes} of {box.dtype}",
            "The layout's sizes, the buffer's dtype.",
        )
    if box.memory is None or box.memory[0] is not buffer or box.memory[1] != layout:
        why = "A view of it will be another layout of the same buffer: it has to say which they are."
        raise WrongAnswer(f"the box of memory has memory = {box.memory!r}: expected the buffer and the layout", why)


@OWN_BOXES.case("the same element once", points=2, section="One body, many meanings")
def _(mini: Any) -> None:
    i, j, _ = variables(mini)
    calls: list[str] = []

    def box(name: str) -> Any:
        def body(h: Any, index: Any) -> str:
            calls.append(name)
            return f"{name}[{index[0]}]"

        return mini.loops.Box((4,), "float32", body)

    a, b, h = box("a"), box("b"), Listing()
    got = [a.at(h, (i,)), a.at(h, (mini.index.Index.of(i) + 0,))]
    if got != ["a[i]"] * 2:
        raise WrongAnswer(f"a.at(h, (i,)) twice, where the body says 'a[i]': got {got}", GIVES)
    if calls != ["a"]:
        raise WrongAnswer(
            f"a.at(h, (i,)) twice: the body ran {len(calls)} times", "Look into h.memo first: the value is known."
        )
    got = [a.at(h, (j,)), b.at(h, (i,))]
    if got[0] != "a[j]":
        raise WrongAnswer(f"a.at(h, (i,)), then a.at(h, (j,)): got {got[0]}", "Another index is another element.")
    if got[1] != "b[i]":
        raise WrongAnswer(
            f"a.at(h, (i,)), then b.at(h, (i,)): got {got[1]}",
            "Another box has other elements: its id is in the key.",
        )
    calls.clear()
    a.at(Listing(), (i,))
    if not calls:
        raise WrongAnswer(
            "a new handler was given what another one had found", "What is known belongs to the handler, h.memo."
        )
