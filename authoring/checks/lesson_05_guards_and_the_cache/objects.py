"""Step 05.7: objects by their type, functions and methods although they are made anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_frames import judge_worlds, read

OBJECTS = Step(
    "05.7",
    "objects, functions, methods",
    file="guards",
    minutes=20,
    hints=(
        "read_object: what is in ALWAYS_THE_SAME is guarded by identity, everything else by its type. The trace uses"
        " the value itself.",
        "A function without a closure is such an object. One with a closure is made by a `def` that runs at each call:"
        " read its parts, by attribute: __code__, __closure__, __defaults__, __kwdefaults__.",
        "A method: owner = part('attr', '__self__', value.__self__). For types.MethodType read __func__ and make"
        " types.MethodType(function, owner); for a method written in C read __name__ and take getattr(owner, name)."
        " What hangs on a module or on a class, such as len, is an object.",
    ),
)
SECTION = "Many versions, one door"


class Model:
    size = 2

    def forward(self) -> None:
        """Nothing."""


class Other(Model):
    pass


def make(k: Any, offset: Any = 1) -> Callable[..., Any]:
    def scaled(y: Any, by: Any = offset) -> Any:
        return y * k + by

    return scaled


def make_other(k: Any) -> Callable[..., Any]:
    def other(y: Any) -> Any:
        return y / k

    return other


@OBJECTS.case("an object by its type, a class or a module by identity", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "A new object of the same class will do: what is read from it, is guarded when it is read."
    judge_worlds(mini, {"x": Model()}, {"x": Model()}, True, why)
    why = "An object of another class has other methods, even if the class is derived."
    judge_worlds(mini, {"x": Model()}, {"x": Other()}, False, why)
    for before, after in ((Model, Other), (math, mini), (len, max), (make, make_other)):
        why = "A class, a module, a function at the outermost level: the program means this very one."
        judge_worlds(mini, {"x": before}, {"x": before}, True, why)
        judge_worlds(mini, {"x": before}, {"x": after}, False, why)
    value = Model()
    guards, _, used = read(mini, x=value)
    if used["x"] is not value or str(guards.source_of(value)) != "x":
        raise WrongAnswer(
            f"for an object the trace uses {used['x']!r}", "It uses the object, and remembers its source."
        )


@OBJECTS.case("an inner function, made anew by each call", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "The `def` runs at each call and makes a new function, of the same code: guarded by identity, it is a storm."
    judge_worlds(mini, {"x": make(2)}, {"x": make(2)}, True, why)
    why = "Another code is another function."
    judge_worlds(mini, {"x": make(2)}, {"x": make_other(2)}, False, why)
    why = "Its defaults are read when it is called: they are a part of it, and must be guarded."
    judge_worlds(mini, {"x": make(2, 1)}, {"x": make(2, 5)}, False, why)
    function = make(2)
    guards, _, used = read(mini, x=function)
    cell = (function.__closure__ or ())[0]
    if used["x"] is not function:
        raise WrongAnswer("for a function with a closure the trace uses something else", "It uses the function.")
    if str(guards.source_of(cell)) != "x.__closure__[0]":
        raise WrongAnswer(
            f"the source of its first cell: expected x.__closure__[0], got {guards.source_of(cell)}",
            "What the function shares with the one around it lies in cells: read __closure__, so that they are known.",
        )


@OBJECTS.case("a bound method, made anew whenever it is asked for", points=2, section=SECTION)
def _(mini: Any) -> None:
    model, items = Model(), [1]
    why = "x.forward makes a new method object each time: guard its parts, not its identity."
    judge_worlds(mini, {"x": model.forward}, {"x": model.forward}, True, why)
    judge_worlds(mini, {"x": items.append}, {"x": items.append}, True, why)
    why = "The object that a method is bound to is read like any other."
    judge_worlds(mini, {"x": model.forward}, {"x": Other().forward}, False, why)
    judge_worlds(mini, {"x": items.append}, {"x": [2].append}, False, why)
    why = "Another method of the same object must fail."
    judge_worlds(mini, {"x": items.append}, {"x": items.extend}, False, why)
    guards, _, used = read(mini, a=items, x=items.append)
    if used["x"].__self__ is not used["a"]:
        raise WrongAnswer(
            "a is a list and x is a.append: the trace's method does not belong to the trace's list",
            "Calling it while tracing must change the trace's list, and not the program's: bind it to what part gave.",
        )
    judge_worlds(mini, {"x": math.sqrt}, {"x": math.sqrt}, True, "math.sqrt hangs on a module: it is a plain function.")
