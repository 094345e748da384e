"""What a formula of one's own index algebra is worth, for all values of its variables."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer

SIZES = {"i": 4, "j": 8, "k": 3}


def variables(mini: Any) -> tuple[Any, Any, Any]:
    i, j, k = [mini.index.Index.variable(name, size) for name, size in SIZES.items()]
    return i, j, k


def everywhere() -> list[dict[str, int]]:
    return [dict(zip(SIZES, at, strict=True)) for at in itertools.product(*map(range, SIZES.values()))]


def same_values(formula: Any, meaning: Callable[..., int], said: str, why: str) -> None:
    """For all i, j and k the formula's text is worth what is meant, and lies in the formula's bounds."""
    text = compile(str(formula).strip(), "<string>", "eval")
    for at in everywhere():
        got, expected = eval(text, {}, at), meaning(**at)
        if got != expected:
            where = ", ".join(f"{name} = {n}" for name, n in at.items())
            raise WrongAnswer(f"{said} became {formula}: at {where} expected {expected}, got {got}", why)


def becomes(formula: Any, expected: str, said: str, why: str) -> None:
    if str(formula) != expected:
        raise WrongAnswer(f"{said}: expected {expected}, got {formula}", why)
