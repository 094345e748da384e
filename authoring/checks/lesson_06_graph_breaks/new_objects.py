"""Step 06.6: what the trace made is made anew at each call."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from ..lesson_05_guards_and_the_cache.own_frames import frame_of
from .traced_frames import copy_of, guards_of

NEW_OBJECTS = Step(
    "06.6",
    "new objects",
    file="breaks",
    minutes=15,
    hints=(
        "Four kinds need care: a tensor, a size, a cell, an iterator. For all others remade knows which parts there"
        " are,"
        " and how another one is made of them.",
        "A list may lie in itself: remember is called with the empty one, and puts it into self.memo by id(value)."
        " A cell"
        " goes there, too, before its contents are copied.",
        "self.alike(value, lambda mine: self.memo.setdefault(id(value), mine)). Iterator and MappingView raise"
        " Break, but"
        " an Items is an Iterator, too, and can be made again.",
    ),
)
SECTION = "What happened must happen again"


class Model:
    def forward(self) -> str:
        return "forward"


def copied(mini: Any, value: Any) -> Any:
    guards, _ = guards_of(mini)
    return outcome(copy_of(mini, guards, frame_of(mini)), (value,))


@NEW_OBJECTS.case("containers, with real tensors in them", points=2, section=SECTION)
def _(mini: Any) -> None:
    fake = mini.tensor.fake((1,))
    why = "The parts of a new object are copied as well, and its kind stays."
    for value, expected in (
        ([1, fake], [1, "result 0"]),
        ((1, fake), (1, "result 0")),
        ({"k": [fake]}, {"k": ["result 0"]}),
        ([(fake, {"a": (fake,)})], [("result 0", {"a": ("result 0",)})]),
        ([], []),
    ):
        expect(f"the copy of {value!r}", expected, copied(mini, value), why)
    for constant in (3, "text", None, len, Model):
        got = copied(mini, constant)
        if got is not constant:
            raise WrongAnswer(
                f"the copy of {constant!r} is {got!r}", "A constant, a class, a function stay themselves."
            )


@NEW_OBJECTS.case("a list that lies in itself", points=1, section=SECTION)
def _(mini: Any) -> None:
    value: list[Any] = [1]
    value.append(value)
    try:
        got = copied(mini, value)
    except RecursionError:
        got = None
    if not isinstance(got, list) or got is value or got[1] is not got:
        raise WrongAnswer(
            "x = [1]; x.append(x): the copy does not lie in itself",
            "Put the new list into memo while it is empty. Then it is met again, and known.",
        )


@NEW_OBJECTS.case("an iterator goes on where it was", points=1, section=SECTION)
def _(mini: Any) -> None:
    items, fake = mini.interpreter.Items, mini.tensor.fake((1,))
    got = copied(mini, items([1, 2, fake, 4], 2))
    left = list(got) if isinstance(got, items) else got
    expect("an Items of [1, 2, fake, 4] at 2, copied: what is left", ["result 0", 4], left, "It goes on where it was.")


@NEW_OBJECTS.case("methods, functions, cells", points=2, section=SECTION)
def _(mini: Any) -> None:
    values, fake = [1], mini.tensor.fake((1,))
    pair = copied(mini, (values, values.append))
    pair[1]("more") if isinstance(pair, tuple) else None
    why = "The program calls `append` later, and must find the item in the list that it has: bind it to the copy."
    if values != [1]:
        raise WrongAnswer("the copy of a list's append wrote into the list of the trace", why)
    expect("(values, values.append) was copied, then more appended: the list", [1, "more"], pair[0], why)
    method = copied(mini, Model().forward)
    expect(
        "a bound method, copied and called", "forward", outcome(method, ()), "MethodType binds a function to an object."
    )

    def inner() -> Any:
        return fake

    got = copied(mini, inner)
    expect(
        "a function that returns a fake of the one around it",
        "result 0",
        outcome(got, ()),
        "The new function has a cell of its own, with a copy in it.",
    )


@NEW_OBJECTS.case("what can't be made again is refused", points=1, section=SECTION)
def _(mini: Any) -> None:
    for value in ((i for i in range(3)), {"a": 1}.items(), iter({1, 2})):
        guards, _ = guards_of(mini)
        try:
            copy_of(mini, guards, frame_of(mini))(value)
        except mini.tracer.Break:
            continue
        raise WrongAnswer(
            f"a {type(value).__name__} was copied",
            "Nobody can tell where it stands, or of what it is a view. Raise a Break: then the rest runs for real.",
        )
