"""Exercise 09.2: which keys a state dictionary has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.course.checking.exercise import Exercise

from ..predicting import judge_predictions

KEYS = Exercise(
    "09.2",
    "the keys of a state: predict",
    answer="keys",
    minutes=8,
    hints=(
        "Walk the tree by hand: which assignments were registered, and under which path?",
        "A state has parameters and persistent buffers. A Python list and a plain tensor are neither.",
        "A Sequential counts all its children, those without parameters too. BatchNorm1d has two parameters and three"
        " buffers. Two names of one tensor are two keys.",
    ),
)
SECTION = "Names are a contract"
TREE = "A module is a tree"
BUFFERS = "Two modes, and numbers that aren't trained"


class Listed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.last = nn.Linear(2, 1)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(2, 2, bias=False)
        self.decode = nn.Linear(2, 2, bias=False)
        self.decode.weight = self.encode.weight


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.offset = torch.ones(2)
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("cache", torch.zeros(1), persistent=False)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(3, 2, bias=False),
    "sequential": lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)),
    "norm": lambda: nn.BatchNorm1d(3),
    "listed": Listed,
    "tied": Tied,
    "mixed": Mixed,
}
REASONS = {
    "linear": "With bias=False the name is reserved, with None behind it: nothing to save.",
    "sequential": "A Sequential numbers all its children, and the ReLU is number 1, though it leaves no key.",
    "norm": "A state has more than what is trained: the running means are buffers, and so is the number of batches.",
    "listed": "A Python list is neither a parameter nor a module, so nothing in it is registered. ModuleList is.",
    "tied": "Two names lead to one tensor. state_dict keeps both; only parameters() gives it once.",
    "mixed": "What counts is how it was assigned: a plain tensor isn't registered, and persistent=False isn't saved.",
}


def keys_of(name: str) -> list[str]:
    return list(MODELS[name]().state_dict())


def alike(predicted: Any, happens: list[str]) -> bool:
    """In any order."""
    return isinstance(predicted, list | tuple | set) and sorted(predicted) == sorted(happens)


def judge(answer: Any, models: list[str]) -> None:
    judge_predictions(answer, models, keys_of, lambda name, predicted: REASONS[name], alike)


@KEYS.case("paths", points=2, section=TREE)
def _(answer: Any) -> None:
    judge(answer, ["linear", "sequential", "listed"])


@KEYS.case("buffers", points=2, section=BUFFERS)
def _(answer: Any) -> None:
    judge(answer, ["norm", "mixed"])


@KEYS.case("two names of one tensor", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, ["tied"])
