"""Exercise 03.6: handlers of constants, slots, globals and cells."""

from __future__ import annotations

import types
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_frames import after, agrees, frame_of, noting

OWN_NAMES = Step(
    "03.6",
    "names, slots and cells",
    file="interpreter",
    minutes=15,
    hints=(
        "A slot is an entry of self.locals. If the name isn't there, it is an UnboundLocalError. Globals come before"
        " builtins.",
        "A cell is a box: types.CellType(value) with an attribute cell_contents. MAKE_CELL puts the slot's value, if it"
        " has one, into a new box, and the box into the slot.",
        "Ask for what lies outside by apply: self.apply(operator.getitem, self.globals, name),"
        ' self.apply(getattr, cell, "cell_contents"), self.apply(setattr, cell, "cell_contents", value),'
        " self.apply(types.CellType, ...).",
    ),
)
SLOTS, CELLS, APPLY = "The smallest interpreter", "Calls", "The package's interpreter"


@OWN_NAMES.case("constants and slots", points=1, section=SLOTS)
def _(mini: Any) -> None:
    expect("LOAD_CONST 3 on ['a']", ["a", 3], after(frame_of(mini, ["a"]), "LOAD_CONST", 3), "Push it.")
    frame = frame_of(mini, ["a"], x=0)
    expect("LOAD_FAST x, where x = 0", ["a", 0], after(frame, "LOAD_FAST", "x"), "A slot that holds 0 has a value.")
    got = after(frame_of(mini, []), "LOAD_FAST", "x")
    if not (isinstance(got, str) and got.startswith("UnboundLocalError") and "'x'" in got):
        why = "Python raises an UnboundLocalError, whose message has the name."
        raise WrongAnswer(f"LOAD_FAST x, where x has no value: expected UnboundLocalError, got {got!r}", why)
    frame = frame_of(mini, ["a", 5], x=0)
    got = after(frame, "STORE_FAST", "x"), frame.locals
    expect("STORE_FAST x with 5 on top", (["a"], {"x": 5}), got, "The value leaves the stack.")
    frame = frame_of(mini, [mini.interpreter.NULL], x=0)
    got = after(frame, "STORE_FAST", "x"), frame.locals
    why = "NULL is no value. After a comprehension it says that the slot was empty, so empty it."
    expect("STORE_FAST x with NULL on top, where x = 0", ([], {}), got, why)


@OWN_NAMES.case("globals and builtins", points=1, section=SLOTS)
def _(mini: Any) -> None:
    frame = frame_of(mini, [])
    frame.globals = {"len": "mine", "G": 4}
    expect("LOAD_GLOBAL G, a global", [4], after(frame, "LOAD_GLOBAL", "G"), "self.globals has it.")
    why = "A global hides the builtin of its name: look there first."
    expect("LOAD_GLOBAL len, where a global is called so", [4, "mine"], after(frame, "LOAD_GLOBAL", "len"), why)
    expect("LOAD_GLOBAL max", [4, "mine", max], after(frame, "LOAD_GLOBAL", "max"), "Then look among the builtins.")
    got = after(frame, "LOAD_GLOBAL", "nowhere")
    if not (isinstance(got, str) and got.startswith("NameError") and "'nowhere'" in got):
        raise WrongAnswer(f"LOAD_GLOBAL nowhere: expected NameError, got {got!r}", "It is in neither of the two.")


@OWN_NAMES.case("cells", points=2, section=CELLS)
def _(mini: Any) -> None:
    frame = frame_of(mini, [], x=3)
    after(frame, "MAKE_CELL", "x")
    cell = frame.locals.get("x")
    if not isinstance(cell, types.CellType):
        raise WrongAnswer(f"MAKE_CELL x: the slot holds {cell!r}", "From now on the slot holds a types.CellType.")
    why = "x was a parameter with the value 3. It moves into the cell."
    expect("MAKE_CELL x, where x = 3, then LOAD_DEREF x", [3], after(frame, "LOAD_DEREF", "x"), why)
    got = after(frame, "LOAD_FAST", "x")
    if got[-1:] != [cell]:
        raise WrongAnswer(f"LOAD_FAST x pushed {got[-1:]!r}", "An inner function gets the cell itself, to share it.")
    frame.stack.append(8)
    after(frame, "STORE_DEREF", "x")
    if frame.locals.get("x") is not cell:
        raise WrongAnswer("STORE_DEREF x put another thing into the slot", "The cell stays, and its contents change.")
    expect("what others see in the cell after STORE_DEREF of 8", 8, cell.cell_contents, "Write into the same cell.")
    after(frame, "MAKE_CELL", "empty")
    got = after(frame, "LOAD_DEREF", "empty")
    if not (isinstance(got, str) and got.startswith("NameError") and "'empty'" in got):
        why = "MAKE_CELL of a name without a value makes an empty cell, and reading it is a NameError."
        raise WrongAnswer(f"LOAD_DEREF of an empty cell: expected NameError, got {got!r}", why)


def counting() -> Any:
    count = 0

    def bump(by: int = 1) -> int:
        nonlocal count
        count += by
        return count

    return [bump(), bump(5)], count


@OWN_NAMES.case("whole functions", points=1, section=CELLS)
def _(mini: Any) -> None:
    agrees(mini, counting, (), "Two frames share the cell of `count`.")


@OWN_NAMES.case("what lies outside is asked for by apply", points=1, section=APPLY)
def _(mini: Any) -> None:
    frame = frame_of(mini, [5], noting(mini), x=types.CellType(1), y=2)
    frame.globals = {"G": 4}
    for op, arg in (("LOAD_GLOBAL", "G"), ("LOAD_DEREF", "x"), ("STORE_DEREF", "x"), ("MAKE_CELL", "y")):
        before = len(frame.asked)
        after(frame, op, arg)
        if len(frame.asked) == before:
            why = "The tracer will be this class with another `apply`. What doesn't pass there, it never sees."
            raise WrongAnswer(f"{op} {arg} did not ask self.apply", why)
