"""What a formula of one's own index algebra is worth, for all values of its variables."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from types import CodeType
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer

SIZES = {"i": 4, "j": 8, "k": 3}
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd)


def variables(mini: Any) -> tuple[Any, Any, Any]:
    i, j, k = [mini.index.Index.variable(name, size) for name, size in SIZES.items()]
    return i, j, k


def everywhere() -> list[dict[str, int]]:
    return [dict(zip(SIZES, at, strict=True)) for at in itertools.product(*map(range, SIZES.values()))]


def arithmetic(text: str) -> CodeType | None:
    """The formula as code; None if it is anything else: the judge evaluates it, so it must not call a function."""
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree.body):
        number = isinstance(node, ast.Constant) and type(node.value) is int
        if not (number or isinstance(node, (ast.Name, ast.Load, *OPERATIONS))):
            return None
    return compile(tree, "<string>", "eval")


def same_values(formula: Any, meaning: Callable[..., int], said: str, why: str) -> None:
    """For all i, j and k the formula's text is worth what is meant, and lies in the formula's bounds."""
    code = arithmetic(str(formula))
    if code is None:
        raise WrongAnswer(f"{said} became {formula}", "A formula has numbers, i, j and k, and + - * // % between them.")
    for at in everywhere():
        got, expected = eval(code, {"__builtins__": {}}, at), meaning(**at)
        if got != expected:
            where = ", ".join(f"{name} = {n}" for name, n in at.items())
            raise WrongAnswer(f"{said} became {formula}: at {where} expected {expected}, got {got}", why)


def becomes(formula: Any, expected: str, said: str, why: str) -> None:
    if str(formula) != expected:
        raise WrongAnswer(f"{said}: expected {expected}, got {formula}", why)
