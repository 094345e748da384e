"""Step 05.6: what must stay of a value that is no constant and no tensor."""

from __future__ import annotations

import math
import types
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from .own_frames import judge_worlds

READ_THROUGH = Step(
    "05.6",
    "what must stay",
    file="guards",
    minutes=15,
    hints=(
        "Four kinds of answers: for what is fixed, for a list or tuple, for a dictionary, for any other object. Two"
        " values"
        " for which the answer is the same are as good as each other.",
        "text.format(source, *seen) fills the text in: {0} is the source, {1} and {2} are what follows in the tuple."
        " What is compared is all of the tuple, so what no text tells may follow, too.",
        "Fixed: '{0} is {1}', value.__name__, id(value); of a function the ids of its code and its globals. A list:"
        " 'type({0}) is {1} and len({0}) == {2}', kind.__name__, len(value). A dictionary: its keys as a list, and the"
        " list of their types. Else: the type.",
    ),
)
SECTION = "Everything you read"
ORDER = "A loop over a dictionary reads its keys in the order in which they were put in."


class Model:
    size = 2


class Other(Model):
    pass


def relu(x: Any) -> Any:
    return x.relu()


def other_relu() -> Any:
    def relu(x: Any) -> Any:
        return x

    return relu


namesake = other_relu()
elsewhere = types.FunctionType(relu.__code__, {"__name__": "another module"}, "relu")
reloaded = types.FunctionType(relu.__code__, {"__name__": __name__}, "relu")
WORLDS: list[tuple[Any, Any, bool, str]] = [
    ([1, 2], [1, 2], True, "An equal list holds equal things."),
    ([1, 2], [1, 2, 3], False, "A longer list begins in the same way: its length must be guarded, too."),
    ([1, 2], [1], False, "A shorter list must fail."),
    ([1, 2], (1, 2), False, "A tuple is no list: the program may change it, or ask for its type."),
    ((1, 2), (1, 2), True, "An equal tuple holds equal things."),
    ({"a": 1, "b": 2}, {"a": 1, "b": 2}, True, "An equal dictionary holds equal things."),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False, ORDER),
    ({"a": 1}, {"a": 1, "b": 2}, False, "A key more is another dictionary: its keys must be guarded."),
    ({1: "x"}, {True: "x"}, False, "The keys 1 and True are equal, and not the same: compare their types, too."),
    ({}, [], False, "An empty list is no empty dictionary."),
]
NAMESAKE = "Another class or function may have the same name: the text tells the name, what is compared must be itself."
PARTS = "What it holds is read later, item by item: here only its keys count."
ANEW = "A new object of the same class will do: what is read from it, is guarded when it is read."
DERIVED = "An object of another class has other methods, even if the class is derived."
AGAIN = (
    "A `def` in a function makes a new one at each call: it is the same function, made anew, if its code is the same."
)
ELSEWHERE = "The same code in another module reads other globals: the id of its __globals__ belongs to it."
RELOADED = "A module's name is no module: where it was loaded anew, its functions read other globals of the same name."
ONE = "A class, a module, a function at the outermost level: the program means this very one."


@READ_THROUGH.case("lists, tuples, dictionaries", points=2, section=SECTION)
def _(mini: Any) -> None:
    one, two = (outcome(mini.guards.facts, ({"a": n},)) for n in (1, 2))
    if one != two:
        raise WrongAnswer(f"facts of {{'a': 1}} and of {{'a': 2}} differ: {one!r}, {two!r}", PARTS)
    for before, after, holds, why in WORLDS:
        judge_worlds(mini, {"x": before}, {"x": after}, holds, why)


@READ_THROUGH.case("an object by its type, what is fixed by identity", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge_worlds(mini, {"x": Model()}, {"x": Model()}, True, ANEW)
    judge_worlds(mini, {"x": Model()}, {"x": Other()}, False, DERIVED)
    for before, after in ((Model, Other), (math, mini), (len, max), (relu, judge_worlds)):
        judge_worlds(mini, {"x": before}, {"x": before}, True, ONE)
        judge_worlds(mini, {"x": before}, {"x": after}, False, ONE)
    judge_worlds(mini, {"x": Model()}, {"x": type("Model", (), {})()}, False, NAMESAKE)
    judge_worlds(mini, {"x": relu}, {"x": namesake}, False, NAMESAKE)
    judge_worlds(mini, {"x": relu}, {"x": elsewhere}, False, ELSEWHERE)
    judge_worlds(mini, {"x": relu}, {"x": reloaded}, False, RELOADED)


@READ_THROUGH.case("a function made anew", points=1, section=SECTION)
def _(mini: Any) -> None:
    def make() -> Any:
        def inner(x: Any) -> Any:
            return x * 2

        return inner

    judge_worlds(mini, {"x": make()}, {"x": make()}, True, AGAIN)


@READ_THROUGH.case("as text", points=1, section="A miss says why")
def _(mini: Any) -> None:
    for value, expected in (
        ([3, 4], "type(x) is list and len(x) == 2"),
        ({"a": 1}, "type(x) is dict and list(x) == ['a']"),
        (Model(), "type(x) is Model"),
        (relu, "x is relu"),
    ):
        text, *seen = outcome(mini.guards.facts, (value,))
        got = text.format("x", *seen)
        if got != expected:
            why = "Whoever asks why a version does not hold is told this text: '{0}' is the place of the source's text."
            raise WrongAnswer(f"facts({value!r}), filled in for x: expected {expected!r}, got {got!r}", why)
