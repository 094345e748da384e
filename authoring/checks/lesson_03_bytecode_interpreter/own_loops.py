"""Exercise 03.8: jumps, loops, and taking a sequence apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_frames import after, agrees, frame_of, noting

OWN_LOOPS = Step(
    "03.8",
    "jumps, loops and taking apart",
    file="interpreter",
    minutes=15,
    hints=(
        "The operand of a jump is the number of the next instruction: self.at. Those on a condition take a value.",
        "FOR_ITER leaves the iterator below the item, and takes it away at the end. apply(next, iterator, END) says END"
        " when there is none.",
        "UNPACK_SEQUENCE: the first item must end on top, so push them reversed.",
    ),
)
SECTION, APPLY = "Jumps", "The package's interpreter"


class Odd:
    """True, and yet not the object True."""

    def __repr__(self) -> str:
        return "Odd()"


@OWN_LOOPS.case("jumps", points=1, section=SECTION)
def _(mini: Any) -> None:
    frame = frame_of(mini, ["x"])
    got = after(frame, "JUMP", 3), frame.at
    expect(
        "JUMP 3, in instruction 6: the stack, the next instruction",
        (["x"], 3),
        got,
        "The target is a number, not a distance.",
    )
    odd = Odd()
    for op, value, jumps in (
        ("POP_JUMP_IF_TRUE", True, True),
        ("POP_JUMP_IF_TRUE", odd, True),
        ("POP_JUMP_IF_TRUE", [], False),
        ("POP_JUMP_IF_FALSE", 0, True),
        ("POP_JUMP_IF_FALSE", odd, False),
        ("POP_JUMP_IF_NONE", None, True),
        ("POP_JUMP_IF_NONE", 0, False),
        ("POP_JUMP_IF_NOT_NONE", 0, True),
        ("POP_JUMP_IF_NOT_NONE", None, False),
    ):
        frame = frame_of(mini, ["x", value])
        got = after(frame, op, 3), frame.at
        why = "Any value is true or false; 0 is not None. Whether it jumps or not, the value leaves the stack."
        expect(f"{op} 3 on ['x', {value!r}], where 7 comes next", (["x"], 3 if jumps else 7), got, why)


@OWN_LOOPS.case("loops", points=2, section=SECTION)
def _(mini: Any) -> None:
    items = mini.interpreter.Items
    for value in ([1], (1,), range(2)):
        got = after(frame_of(mini, [value]), "GET_ITER", None)
        if not (isinstance(got, list) and isinstance(got[0], items) and got[0].sequence is value):
            why = "Of a list, a tuple and a range, it is an Items of just this sequence: it can be put back."
            raise WrongAnswer(f"GET_ITER of {value!r}: expected [Items], got {got!r}", why)
    got = after(frame_of(mini, [{"a": 1}]), "GET_ITER", None)
    if not (isinstance(got, list) and next(got[0], None) == "a"):
        why = "Whatever has no index is asked for its own iterator, with the builtin iter."
        raise WrongAnswer(f"GET_ITER of {{'a': 1}}: expected its iterator, got {got!r}", why)
    iterator = iter([None])
    frame = frame_of(mini, ["x", iterator])
    got = after(frame, "FOR_ITER", 3), frame.at
    why = "An item, also None, goes on top of the iterator, which is needed for the next round."
    expect("FOR_ITER, with the item None left", (["x", iterator, None], 7), got, why)
    frame = frame_of(mini, ["x", iterator])
    got = after(frame, "FOR_ITER", 3), frame.at
    expect("FOR_ITER, with no item left", (["x"], 3), got, "The iterator leaves the stack, and the loop is left.")


@OWN_LOOPS.case("taking apart", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "The next instruction stores into the first name: the first item must be on top."
    expect("UNPACK_SEQUENCE 2 of 'ab'", ["x", "b", "a"], after(frame_of(mini, ["x", "ab"]), "UNPACK_SEQUENCE", 2), why)
    for items in ("a", "abc"):
        got = after(frame_of(mini, [items]), "UNPACK_SEQUENCE", 2)
        if not (isinstance(got, str) and got.startswith("ValueError")):
            raise WrongAnswer(
                f"UNPACK_SEQUENCE 2 of {items!r}: expected ValueError, got {got!r}", "The number must fit."
            )


def searching(rows: list[Any]) -> Any:
    found = []
    for row in rows:
        for item in row:
            if item is None:
                break
            if not item:
                continue
            found.append(item)
        else:
            found.append("all")
        while len(found) > 3 or not row:
            if not found:
                return row or "nothing"
            first, found = found[0], found[1:]
            if first == 9:
                return found
    return found


@OWN_LOOPS.case("whole functions", points=1, section=SECTION)
def _(mini: Any) -> None:
    trials: list[list[Any]] = [[], [[1]], [[1, None, 2]], [[0, 1], [2, 3]], [[9, 8, 7, 6]], [[]]]
    for rows in trials:
        agrees(mini, searching, (rows,), "Follow it with a pencil: where does it go, and what lies on the stack there?")


class Beads:
    """Two beads on a thread, which has no index."""

    def __iter__(self) -> Iterator[int]:
        return iter((1, 2))


@OWN_LOOPS.case("all by apply", points=1, section=APPLY)
def _(mini: Any) -> None:
    trials: list[tuple[str, Any, Any, Any]] = [
        ("POP_JUMP_IF_TRUE", 3, 1, bool),
        ("POP_JUMP_IF_FALSE", 3, 1, bool),
        ("GET_ITER", None, Beads(), iter),
        ("FOR_ITER", 3, iter([1]), next),
        ("UNPACK_SEQUENCE", 2, Beads(), list),
    ]
    for op, arg, value, function in trials:
        frame = frame_of(mini, [value], noting(mini))
        after(frame, op, arg)
        if function not in frame.asked:
            fact = f"{op}: self.apply was asked for {frame.asked!r}, expected {function!r} among them"
            raise WrongAnswer(fact, "Whether a value is true, and what its items are, only `apply` may say.")
