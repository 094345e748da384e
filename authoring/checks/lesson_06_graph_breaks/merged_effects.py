"""Exercise 06.4: side effects that needn't be replayed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, Misconception, WrongAnswer, agree

MERGED_EFFECTS = Exercise(
    "06.4",
    "effects that needn't be replayed",
    answer="merged",
    minutes=15,
    hints=(
        "Go through the effects once, and remember for each pair of object and attribute where its latest store stands"
        " in your result.",
        "A second store to the same attribute changes the value of the first one, in its place. A delete makes you"
        " forget where that was.",
        "latest = {}; for a store: if (target, name) in latest, replace result[latest[target, name]]; else append it"
        " and remember its position; for a delete: latest.pop((target, name), None).",
    ),
)
SECTION = "What happened must happen again"
Effect = tuple[Any, ...]


def truth(effects: list[Effect]) -> list[Effect]:
    """As the package does it: the last value, in the first one's place."""
    result: list[Effect] = []
    latest: dict[tuple[str, str], int] = {}
    for effect in effects:
        kind, target = effect[:2]
        if kind == "store":
            name = effect[2]
            if (target, name) in latest:
                result[latest[target, name]] = effect
                continue
            latest[target, name] = len(result)
        elif kind == "delete":
            latest.pop((target, effect[2]), None)
        result.append(effect)
    return result


def last_place(effects: list[Effect]) -> list[Effect]:
    """Each store that is overwritten later is left out."""
    keys = [effect[:3] if effect[0] == "store" else None for effect in effects]
    return [e for i, e in enumerate(effects) if keys[i] is None or keys[i] not in keys[i + 1 :]]


def first_value(effects: list[Effect]) -> list[Effect]:
    keys = [effect[:3] if effect[0] == "store" else None for effect in effects]
    return [e for i, e in enumerate(effects) if keys[i] is None or keys[i] not in keys[:i]]


def by_name(effects: list[Effect]) -> list[Effect]:
    """Stores to any object count as one place."""
    result: list[Effect] = []
    latest: dict[Any, int] = {}
    for effect in effects:
        if effect[0] == "store" and effect[2] in latest:
            result[latest[effect[2]]] = effect
            continue
        if effect[0] == "store":
            latest[effect[2]] = len(result)
        if effect[0] == "delete":
            latest.pop(effect[2], None)
        result.append(effect)
    return result


def past_deletes(effects: list[Effect]) -> list[Effect]:
    result: list[Effect] = []
    latest: dict[Any, int] = {}
    for effect in effects:
        if effect[0] == "store" and effect[1:3] in latest:
            result[latest[effect[1:3]]] = effect
            continue
        if effect[0] == "store":
            latest[effect[1:3]] = len(result)
        result.append(effect)
    return result


def appends_too(effects: list[Effect]) -> list[Effect]:
    result = truth(effects)
    appends = [effect for effect in result if effect[0] == "append"]
    return [effect for effect in result if effect[0] != "append" or effect is appends[-1]]


PLACE = (
    "The last value counts, but in the place of the first store: attributes are kept in the order in which they came"
    " into being, and vars() shows it."
)
MISTAKES = (
    Misconception("Nothing was left out. A store that is overwritten later needn't be done.", lambda effects: effects),
    Misconception(PLACE, last_place),
    Misconception("You kept the first value. What is seen afterwards is the last one.", first_value),
    Misconception("Two objects may have attributes of the same name: they are two places.", by_name),
    Misconception(
        "A delete lies in between. The store after it makes the attribute anew, at the end, and can't be merged with"
        " the one before.",
        past_deletes,
    ),
    Misconception("Appends add up: each of them is seen in the list afterwards.", appends_too),
)
STEPS, LOSS = ("store", "model", "steps", 1), ("store", "model", "loss", 0.5)
FIRST: list[list[Effect]] = [
    [],
    [STEPS],
    [STEPS, ("store", "model", "steps", 2)],
    [STEPS, LOSS],
    [STEPS, ("store", "state", "steps", 5)],
    [("append", "log", "a"), ("append", "log", "b")],
]
ORDERED: list[list[Effect]] = [
    [STEPS, LOSS, ("store", "model", "steps", 2)],
    [LOSS, ("store", "model", "rate", 1), ("store", "model", "loss", 0.25)],
    [LOSS, ("append", "log", "a"), ("store", "model", "loss", 0.25), ("append", "log", "a")],
    [("store", "state", "loss", 1), LOSS, ("store", "state", "loss", 2), ("store", "model", "loss", 3)],
]
DELETED: list[list[Effect]] = [
    [LOSS, ("delete", "model", "loss")],
    [LOSS, ("delete", "model", "loss"), ("store", "model", "loss", 2)],
    [STEPS, LOSS, ("delete", "model", "steps"), ("store", "model", "steps", 2), ("store", "model", "steps", 3)],
]


def judge(answer: Callable[..., Any], inputs: list[list[Effect]]) -> None:
    def merged(effects: list[Effect]) -> Any:
        given = list(effects)
        got = answer(given)
        if given != effects:
            raise WrongAnswer(f"merged({effects}): the list that came in was changed", "Build a new list.")
        return got

    agree(merged, truth, [(effects,) for effects in inputs], MISTAKES)


@MERGED_EFFECTS.case("stores to one place", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, FIRST)


@MERGED_EFFECTS.case("in the right places", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, ORDERED)


@MERGED_EFFECTS.case("deletes", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, DELETED)


@MERGED_EFFECTS.case("a hundred random programs", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    dice = random.Random(6)
    judge(answer, sorted((random_effects(dice) for _ in range(100)), key=len))


def random_effects(dice: random.Random) -> list[Effect]:
    """A program's effects; nothing is deleted that isn't there."""
    there = {("model", "steps")}
    effects: list[Effect] = []
    for _ in range(dice.randint(1, 9)):
        kind = dice.choice(["store", "store", "store", "append", "delete"])
        target, name = dice.choice(["model", "state"]), dice.choice(["steps", "loss"])
        if kind == "append":
            effects.append(("append", "log", dice.randint(0, 2)))
        elif kind == "store":
            effects.append(("store", target, name, dice.randint(0, 9)))
            there.add((target, name))
        elif (target, name) in there:
            effects.append(("delete", target, name))
            there.remove((target, name))
    return effects
