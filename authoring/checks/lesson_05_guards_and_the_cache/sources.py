"""Step 05.3: the path to a value, which finds what lies there now."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from .own_frames import frame_of

SOURCES = Step(
    "05.3",
    "sources",
    file="guards",
    minutes=12,
    hints=(
        "A path of one step begins in the frame (or at an object); any longer one is another source, and one step"
        " more.",
        "What finds is a function of the frame, written where the source is made: lambda frame: frame.locals[name]. One"
        " that goes further finds with self.find(frame) first, and takes the item or the attribute of that.",
        "Source(f'{self}.{name}', lambda frame: getattr(self.find(frame), name)); likewise for an item, whose key is"
        " written in the text with {key!r}.",
    ),
)
SECTION = "What a graph leaves out"


class Box:
    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)


def path(mini: Any, *steps: tuple[str, Any]) -> Any:
    (begin, key), *further = steps
    source = getattr(mini.guards, begin)(key)
    for kind, key in further:
        source = getattr(source, kind)(key)
    return source


LOCAL, LIST = ("local", "x"), ("local", "items")
FINDINGS: list[tuple[list[tuple[str, Any]], str, str]] = [
    ([LOCAL], "7", "A local variable is an item of frame.locals."),
    (
        [("on_stack", 0)],
        "'bottom'",
        "A place on the stack is counted from the bottom: stack[0] is the value pushed first.",
    ),
    (
        [("on_stack", 1)],
        "'top'",
        "A place on the stack is counted from the bottom: stack[0] is the value pushed first.",
    ),
    ([LIST, ("item", 1)], "'b'", "An item is taken of what the base leads to."),
    ([("local", "box"), ("attr", "width")], "3", "An attribute is a step of its own kind: getattr, and no item."),
    (
        [("local", "box"), ("attr", "parts"), ("item", "k"), ("item", 0)],
        "5",
        "A path may have many steps: let the base find its own way, and add one step.",
    ),
]
WORLD = {"x": 7, "items": ["a", "b"], "box": Box(width=3, parts={"k": [5]})}


@SOURCES.case("a path leads to its value", points=2, section=SECTION)
def _(mini: Any) -> None:
    frame = frame_of(mini, **WORLD)
    frame.stack = ["bottom", "top"]
    for steps, expected, why in FINDINGS:
        got = outcome(path(mini, *steps).find, (frame,))
        if repr(got) != expected:
            raise WrongAnswer(f"the path {steps}: expected to find {expected}, got {got!r}", why)
    for fixed in ({"scale": 2}, len):
        if outcome(path(mini, ("fixed", fixed)).find, (frame,)) is not fixed:
            raise WrongAnswer(f"a fixed path with key {fixed!r} does not find it", "A fixed path begins at its key.")


@SOURCES.case("it finds what lies there now", points=1, section=SECTION)
def _(mini: Any) -> None:
    source, items = path(mini, LIST, ("item", 1)), ["a", "b"]
    for expected in ("b", "new"):
        items[1] = expected
        got = outcome(source.find, (frame_of(mini, items=items),))
        if got != expected:
            raise WrongAnswer(
                f"items[1] is {expected!r} now, and the path found {got!r}",
                "A path holds no value. It is gone again at each call, in the frame that it is given.",
            )


@SOURCES.case("a path reads like Python", points=1, section=SECTION)
def _(mini: Any) -> None:
    globals_ = {"__name__": "shop"}
    texts: list[tuple[list[tuple[str, Any]], str]] = [
        ([LOCAL], "x"),
        ([("on_stack", 2)], "stack[2]"),
        ([LIST, ("item", 1)], "items[1]"),
        ([LIST, ("item", "a")], "items['a']"),
        ([("local", "self"), ("attr", "layers"), ("item", 0), ("attr", "weight")], "self.layers[0].weight"),
        ([("fixed", globals_), ("item", "scale")], "shop['scale']"),
    ]
    for steps, expected in texts:
        got = outcome(str, (path(mini, *steps),))
        if got != expected:
            raise WrongAnswer(
                f"the text of the path {steps}: expected {expected!r}, got {got!r}",
                "The text is what one would write in Python: x.name for an attribute, x['name'] for an item.",
            )
    one, other = (type("Same", (), {}) for _ in range(2))
    named = "Two classes may have one name, and are two: of an object that is no dictionary, tell the id."
    unnamed = "By their text one sees whether two paths are the same: of an object without a name, tell the id."
    equal = "Equal is not one: repr tells what an object holds, which may change. Its id tells which one it is."
    for pair, why in ((([1], [2]), unnamed), (([1], [1]), equal), ((one, other), named)):
        first, second = (f"{path(mini, ('fixed', value), ('item', 0))}" for value in pair)
        if first == second:
            raise WrongAnswer(f"two fixed objects, {pair[0]} and {pair[1]}, have the same text {first!r}", why)
