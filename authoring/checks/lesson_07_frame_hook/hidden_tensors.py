"""Exercise 07.1: whether there is a tensor in sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.far.there import there
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.dynamo import frame_hook
from minitorch_compile.dynamo.testing import eager

from .program_text import program_of

HIDDEN_TENSORS = Exercise(
    "07.1",
    "tensors in sight",
    answer="holds_tensor",
    minutes=15,
    place="dynamo.holds_tensor",
    hints=(
        "A tensor: True. Depth 0: False. Otherwise ask the same of everything one step inside, with depth - 1.",
        "One step inside: the items of a list, tuple or set, the values of a dict, the attributes of an object.",
        "The attributes, without running anybody's code: object.__getattribute__(value, '__dict__').values(), and"
        " nothing if that raises AttributeError.",
    ),
)
SECTION = "Which frames are worth it"

CONTAINERS = "Tensors come in lists, tuples, sets and dicts as often as on their own."
VALUES = "In a dict the tensors are the values. Its keys are names."
ATTRIBUTES = "An object holds tensors in its attributes: a model, a batch, a trainer."
DEPTH = "depth counts the steps: a tensor itself is 0 steps away, an item of a list 1, an item of an item 2."
ENDLESS = "Objects refer to each other in circles. Only the depth ends the search."
USERS_CODE = "That ran code of the user's: a property, __getattr__ or __iter__. Looking must not change anything."


class Holder:
    """An object with some attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __repr__(self) -> str:
        return f"Holder({', '.join(self.__dict__)})"


class Touchy:
    """Notes whoever asks it for something."""

    touched: list[str] = []

    def __init__(self) -> None:
        self.__dict__["plain"] = 1

    def __getattr__(self, name: str) -> Any:
        Touchy.touched.append(name)
        raise AttributeError(name)

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__class"):
            Touchy.touched.append(name)
        return object.__getattribute__(self, name)

    def __iter__(self) -> Any:
        Touchy.touched.append("__iter__")
        return iter(())

    @property
    def size(self) -> int:
        Touchy.touched.append("size")
        return 1

    def __repr__(self) -> str:
        return "Touchy()"


class Slotted:
    """An object without a __dict__."""

    __slots__ = ("x",)

    def __repr__(self) -> str:
        return "Slotted()"


X = torch.ones(2)
BATCH = """
def doubled(batch):
    return batch["inputs"][0] * 2

def counted(words):
    return len(words)
"""


def judge(answer: Callable[..., Any], value: Any, depth: int, expected: bool, why: str) -> None:
    try:
        got = outcome(answer, (value, depth))
    except RecursionError as error:
        raise WrongAnswer(f"holds_tensor({short(value)}, {depth}) never ended", ENDLESS) from error
    if got is not expected:
        raise WrongAnswer(f"holds_tensor({short(value)}, {depth}): expected {expected}, got {got!r}", why)


@there
def asked_of(answer: Callable[..., Any]) -> tuple[Any, list[str]]:
    """What is found in an object that notes who asks it for something, and its notes."""
    touchy = Touchy()
    Touchy.touched.clear()
    return answer(touchy, 2), list(Touchy.touched)


def short(value: Any) -> str:
    return repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "..."


@HIDDEN_TENSORS.case("containers", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [X], 1, True, CONTAINERS)
    judge(answer, 3, 3, False, "")
    judge(answer, X, 0, True, DEPTH)
    judge(answer, "text", 3, False, "A text is no container of anything but texts.")
    judge(answer, (1, [2, X]), 2, True, CONTAINERS)
    judge(answer, {"x": X}, 1, True, VALUES)
    judge(answer, {X}, 1, True, CONTAINERS)


@HIDDEN_TENSORS.case("the depth", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    endless: list[Any] = []
    endless.append(endless)
    judge(answer, endless, 5, False, ENDLESS)
    judge(answer, [X], 0, False, DEPTH)
    judge(answer, [[X]], 1, False, DEPTH)
    judge(answer, [[X]], 2, True, DEPTH)


@HIDDEN_TENSORS.case("objects", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, Holder(a=1, x=X), 1, True, ATTRIBUTES)
    judge(answer, Holder(a=1), 3, False, ATTRIBUTES)
    judge(answer, Holder(inner=Holder(x=X)), 1, False, DEPTH)
    judge(answer, Holder(inner=Holder(x=X)), 2, True, ATTRIBUTES)
    judge(answer, Slotted(), 2, False, "An object need not have a __dict__ at all.")
    found = outcome(asked_of, (answer,))
    got, touched = found if isinstance(found, tuple) else (found, [])
    if got is not False:
        raise WrongAnswer(f"holds_tensor(Touchy(), 2): expected False, got {got!r}")
    if touched:
        raise WrongAnswer(f"holds_tensor(Touchy(), 2) asked the object for {touched[0]!r}", USERS_CODE)


@HIDDEN_TENSORS.case("spliced in, the hook knows by it what to compile", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    program = program_of(BATCH)
    doubled, counted = program["doubled"], program["counted"]

    def run() -> Any:
        with frame_hook(eager) as hook:
            result = doubled({"inputs": [X]}).tolist(), counted(["a", "b"])
        return result, [cache.code.co_name for cache in hook.region.caches]

    with splice("dynamo.holds_tensor", answer):
        got = outcome(run, ())
    if got != (([2.0, 2.0], 2), ["doubled"]):
        raise WrongAnswer(
            f"doubled() has a tensor in its argument, counted() has not: expected only doubled captured, got {got!r}",
            "Get the cases above to pass first.",
        )
