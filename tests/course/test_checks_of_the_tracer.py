"""The exercises of lessons 05 and 06: what the learner reads is what is judged, and the oracles hold themselves."""

from __future__ import annotations

import inspect
import random
from types import FunctionType
from typing import Any

import pytest

from authoring.checks.lesson_05_guards_and_the_cache import leaky_versions
from authoring.checks.lesson_06_graph_breaks import breaking_programs
from authoring.checks.lesson_06_graph_breaks.merged_effects import Effect, random_effects, truth

from .notebooks import AUTHORING


@pytest.mark.parametrize(
    ("module", "lesson"),
    [(leaky_versions, "05_guards_and_the_cache"), (breaking_programs, "06_graph_breaks")],
)
def test_the_functions_in_the_notebook_are_the_ones_that_are_judged(module, lesson):
    text = (AUTHORING / f"{lesson}.py").read_text()
    functions = [f for f in vars(module).values() if isinstance(f, FunctionType) and f.__module__ == module.__name__]
    assert len(functions) == 8
    assert all(inspect.getsource(function) in text for function in functions)


def replayed(effects: list[Effect]) -> dict[str, Any]:
    """The world afterwards: attributes in the order in which they came into being, lists with their items."""
    objects: dict[str, dict[str, Any]] = {"model": {"steps": 0}, "state": {}}
    log: list[Any] = []
    for kind, target, *rest in effects:
        if kind == "store":
            objects[target][rest[0]] = rest[1]
        elif kind == "delete":
            del objects[target][rest[0]]
        else:
            log.append(rest[0])
    return {**{name: list(attributes.items()) for name, attributes in objects.items()}, "log": log}


@pytest.mark.parametrize("seed", range(50))
def test_merged_effects_leave_the_same_world(seed):
    effects = random_effects(random.Random(seed))
    assert replayed(truth(effects)) == replayed(effects)
