"""Step 05.9: many versions, the one used last in front, and not too many."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from .own_frames import frame_of

CACHE = Step(
    "05.9",
    "the cache",
    file="guards",
    minutes=15,
    hints=(
        "The dictionary has a list for each place; a place is where the frame stands and how much lies on its stack.",
        "lookup goes through the list from the front. The first entry of which no guard fails is taken out, put in"
        " front, and given.",
        "self.setdefault(place, []) gives what is there, or puts a new list there. here.insert(0, here.pop(i)); return"
        " entry.",
    ),
)
SECTION = "Many versions, one door"
LIMIT = "Storms and the limit"


class Entry:
    """Holds where the variable x is one of these values."""

    def __init__(self, mini: Any, name: str, *values: Any) -> None:
        self.name, self.guards = name, mini.guards.Guards()
        self.guards.require(f"x in {values}", lambda frame: frame.locals["x"] in values)

    def __repr__(self) -> str:
        return self.name


def cache_of(mini: Any, *entries: Entry) -> tuple[Any, Any]:
    cache, frame = mini.guards.Cache(), frame_of(mini, x=0)
    for entry in reversed(entries):
        cache.here(frame).insert(0, entry)
    return cache, frame


@CACHE.case("each place has its own", points=2, section=LIMIT)
def _(mini: Any) -> None:
    cache, frame = mini.guards.Cache(), frame_of(mini, x=1)
    if cache.here(frame) != [] or cache.here(frame) is not cache.here(frame):
        raise WrongAnswer(
            "a place without entries: here gave another list each time, or no empty one",
            "Who compiles puts the new entry into this list. Keep the new list in the dictionary: setdefault.",
        )
    cache.here(frame).append(Entry(mini, "a", 1))
    standing = frame_of(mini, x=1)
    standing.stack = ["one"]
    cache.here(standing).append(Entry(mini, "b", 1))
    standing.stack = ["another"]
    if cache.lookup(standing) is None:
        why = "A place is told by how many values lie on the stack: what they are is up to the guards."
        raise WrongAnswer("compiled with ['one'] on the stack, not found with ['another'] there", why)
    for at, stack in ((5, []), (0, ["a value", "and another"])):
        other = frame_of(mini, x=1)
        other.at, other.stack = at, stack
        if cache.lookup(other) is not None:
            raise WrongAnswer(
                f"compiled at instruction 0, found at instruction {at} with {len(stack)} values on the stack",
                "A version goes on from one place. A frame that stands elsewhere, or has another stack, needs its own.",
            )


@CACHE.case("the first version that holds", points=2, section=SECTION)
def _(mini: Any) -> None:
    a, b, c = Entry(mini, "a", 1), Entry(mini, "b", 2, 3), Entry(mini, "c", 3)
    for x, expected in ((1, a), (2, b), (3, b), (4, None)):
        cache, frame = cache_of(mini, a, b, c)
        frame.locals["x"] = x
        got = outcome(cache.lookup, (frame,))
        if got is not expected:
            why = "One version after the other is asked, from the front; where a guard fails, the next. None is a miss."
            raise WrongAnswer(f"versions a, b, c in this order, x = {x}: expected {expected}, got {got!r}", why)
    cache = mini.guards.Cache()
    if outcome(cache.lookup, (frame_of(mini, x=1),)) is not None:
        raise WrongAnswer("an empty cache has an answer", "Nothing was compiled yet: None.")


@CACHE.case("the one used last is asked first", points=2, section=SECTION)
def _(mini: Any) -> None:
    a, b, c = Entry(mini, "a", 1), Entry(mini, "b", 2), Entry(mini, "c", 3)
    cache, frame = cache_of(mini, a, b, c)
    wanted = {3: [c, a, b], 2: [b, c, a], 4: [b, c, a]}
    for x, expected in wanted.items():
        frame.locals["x"] = x
        cache.lookup(frame)
        got = next(iter(cache.values()))
        if got != expected:
            why = "The one that answered moves to the front, and the others keep their order."
            raise WrongAnswer(
                f"after the version for x = {x} was looked up, the order is {got}: expected {expected}", why
            )
