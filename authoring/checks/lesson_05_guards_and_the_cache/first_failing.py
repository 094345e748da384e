"""Step 05.4: a guard, the guards of a trace, and the first of them that fails."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from .own_frames import frame_of

FIRST_FAILING = Step(
    "05.4",
    "guards, and the first that fails",
    file="guards",
    minutes=12,
    hints=(
        "A guard has two halves: `text` for people, `find` for the machine. `Guards` is a list of them.",
        "check calls self.find(frame) within a try. Reading a path that is gone raises AttributeError, LookupError,"
        " TypeError or ValueError: then the guard does not hold.",
        "first_failing: next((guard for guard in self if not guard.check(frame)), None). source_of: the third of"
        " self.known[id(value)], or None.",
    ),
)
SECTION = "A miss says why"


def three(mini: Any) -> tuple[Any, Any]:
    guards = mini.guards.Guards()
    guards.require("x > 0", lambda frame: frame.locals["x"] > 0)
    guards.require("x.size == 2", lambda frame: frame.locals["x"].size == 2)
    guards.require("x < 10", lambda frame: frame.locals["x"] < 10)
    return guards, frame_of(mini, x=5)


class Sized(int):
    size = 2


class Long(int):
    size = 3


@FIRST_FAILING.case("guards in the order in which they were required", points=1, section=SECTION)
def _(mini: Any) -> None:
    guards, frame = three(mini)
    texts = [str(guard) for guard in guards]
    if texts != ["x > 0", "x.size == 2", "x < 10"]:
        raise WrongAnswer(
            f"three guards were required, and the list has the texts {texts}",
            "require adds at the end: a later guard may only be asked if those before it hold.",
        )
    number = mini.guards.Guards()
    number.require("x.size", lambda frame: frame.locals["x"].size)
    if outcome(number[0].check, (frame_of(mini, x=Sized(5)),)) is not True:
        raise WrongAnswer("x.size is 2: check of `x.size` is not True", "True or False, also of a number: bool.")
    for value, expected in ((Sized(5), True), (Sized(-1), False)):
        frame.locals["x"] = value
        got = outcome(guards[0].check, (frame,))
        if got is not expected:
            raise WrongAnswer(f"x = {value}: check of `x > 0` gave {got!r}", "A guard's check is True or False.")


@FIRST_FAILING.case("the first that fails, or None", points=2, section=SECTION)
def _(mini: Any) -> None:
    guards, frame = three(mini)
    for value, expected in ((Sized(5), None), (Sized(50), "x < 10"), (Long(50), "x.size == 2"), (Sized(-1), "x > 0")):
        frame.locals["x"] = value
        got = outcome(guards.first_failing, (frame,))
        text = got if got is None else str(got)
        if text != expected:
            why = "The first one, as a guard: whoever asks wants to tell its text. None means that all hold."
            raise WrongAnswer(f"x = {value}: expected {expected!r}, got {text!r}", why)


@FIRST_FAILING.case("a path that is gone is a miss", points=2, section=SECTION)
def _(mini: Any) -> None:
    guards = mini.guards.Guards()
    guards.require("d['k'].size[0] == 1", lambda frame: frame.locals["d"]["k"].size[0] == 1)
    worlds: list[dict[str, Any]] = [{}, {"d": {}}, {"d": None}, {"d": {"k": 1}}]
    for world in worlds:
        got = outcome(guards.first_failing, (frame_of(mini, **world),))
        if got is not guards[0]:
            raise WrongAnswer(
                f"the guard d['k'].size[0] == 1 where the variables are {world}: expected that it fails, got {got!r}",
                "A path that can't be read any more is a miss, and no crash: the program goes on with another version.",
            )
    whole = mini.guards.Guards()
    whole.require("int(x) == 1", lambda frame: int(frame.locals["x"]) == 1)
    if outcome(whole.first_failing, (frame_of(mini, x="one"),)) is not whole[0]:
        raise WrongAnswer("the guard int(x) == 1 where x is 'one'", "A ValueError is a miss, too, and no crash.")


@FIRST_FAILING.case("whose source is known", points=1, section=SECTION)
def _(mini: Any) -> None:
    guards = mini.guards.Guards()
    mine, real, equal = [1], [1], [1]
    source = mini.guards.local("x")
    guards.known[id(mine)] = guards.known[id(real)] = (mine, real, source)
    for value, expected in ((mine, source), (real, source), (equal, None)):
        got = outcome(guards.source_of, (value,))
        if got is not expected:
            raise WrongAnswer(
                f"source_of gave {got!r}, expected {expected!r}",
                "known is asked by id, and holds (what the trace uses, the value, the source). What was made on the way"
                " has no source, even if it equals something that has.",
            )
