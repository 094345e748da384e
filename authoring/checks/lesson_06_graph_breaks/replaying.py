"""Step 06.7: the state where a trace ended, and its effects on the program's objects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from ..lesson_05_guards_and_the_cache.own_frames import frame_of
from .traced_frames import copy_of, guards_of, trace_of

REPLAYING = Step(
    "06.7",
    "the state where a trace ended, and its effects",
    file="breaks",
    minutes=20,
    hints=(
        "Two halves. The constructor finds and copies everything, and changes nothing. `replay` changes, and computes"
        " nothing any more.",
        "trace.changed has containers of the trace. The program's own is guards.source_of(it).find(copy.frame); its new"
        " content is copy.alike(it). trace.attributes has (object, name, value).",
        "Iterators from outside are among guards.known.values(), as (what the trace uses, the value, the source): for"
        " each Items set the attribute `at` of its copy. replay: refilled, setattr, then locals, stack, at and"
        " outcome of the frame.",
    ),
)
SECTION = "What happened must happen again"


def replayed(mini: Any, frame: Any, guards: Any, **state: Any) -> None:
    mini.breaks.State(trace_of(guards, **state), copy_of(mini, guards, frame)).replay(frame)


@REPLAYING.case("the frame stands where the trace ended", points=2, section=SECTION)
def _(mini: Any) -> None:
    fake, (guards, used) = mini.tensor.fake((1,)), guards_of(mini, x=3)
    for ending in (None, ("return", [fake])):
        frame = frame_of(mini, x=3)
        state = {"locals": {"x": used["x"], "y": fake}, "stack": [len, fake], "at": 7, "outcome": ending}
        replayed(mini, frame, guards, **state)
        why = "All four: locals, stack, at, outcome, with the copies of the values."
        expect("the local variables", {"x": 3, "y": "result 0"}, frame.locals, why)
        expect("the stack", [len, "result 0"], frame.stack, why)
        expect("at", 7, frame.at, why)
        expect("the outcome", ending and ("return", ["result 0"]), frame.outcome, why)


@REPLAYING.case("a container is changed in place", points=2, section=SECTION)
def _(mini: Any) -> None:
    for value, written, expected in (
        ([1], [1, 2], [1, 2]),
        ([1, 2, 3], [], []),
        ({"a": 1}, {"b": 2}, {"b": 2}),
    ):
        guards, used = guards_of(mini, x=value)
        mine: Any = used["x"]
        mine.clear()
        mine.extend(written) if isinstance(mine, list) else mine.update(written)
        frame = frame_of(mini, x=value)
        before = repr(value)
        replayed(mini, frame, guards, changed={id(mine): mine}, locals={"x": mine})
        why = "Its whole new content takes the place of the old one, in the program's own object."
        expect(f"{before} became {written!r} in the trace; afterwards the program has", expected, value, why)
        if frame.locals["x"] is not value:
            raise WrongAnswer(
                "the variable has another object now", "Others hold that very list: it stays the same one."
            )


class Box:
    a: Any
    b: Any

    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)


@REPLAYING.case("first everything is copied, then changed", points=2, section=SECTION)
def _(mini: Any) -> None:
    left, right = ["left"], ["right"]
    box = Box(a=left, b=right)
    guards, used = guards_of(mini, box=box)
    source = guards.source_of(used["box"])
    a, b = (guards.read(source.attr(name), getattr(box, name), None) for name in "ab")
    frame = frame_of(mini, box=box)
    attributes = {(id(box), "a"): (box, "a", b), (id(box), "b"): (box, "b", a)}
    state = mini.breaks.State(trace_of(guards, attributes=attributes), copy_of(mini, guards, frame))
    why = "Until `replay` nothing is changed: the graph of this call may still fail."
    expect("a State was made; box.a", ["left"], box.a, why)
    state.replay(frame)
    why = "box.a, box.b = box.b, box.a: what box.b becomes is to be found before box.a is another one."
    expect("the program exchanges box.a and box.b; afterwards", (["right"], ["left"]), (box.a, box.b), why)
    if box.a is not right:
        raise WrongAnswer("box.a is a copy of the list", "What came from outside is the program's own object.")


@REPLAYING.case("an iterator from outside goes on", points=1, section=SECTION)
def _(mini: Any) -> None:
    real = mini.interpreter.Items([1, 2, 3])
    guards, used = guards_of(mini, it=real)
    next(used["it"])
    frame = frame_of(mini, it=real)
    replayed(mini, frame, guards, locals={"it": used["it"]})
    why = "The trace's iterator went on, so the program's must, too: set its `at`. Others may hold the same one."
    expect(
        "the trace took one item of an iterator; the next one is",
        2,
        next(SimpleNamespace(it=frame.locals["it"]).it),
        why,
    )
