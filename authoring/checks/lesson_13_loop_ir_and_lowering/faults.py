"""Exercise 13.2: four lowerings that look right; find what breaks each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.measures.loops import computed
from minitorch_compile.tensor import Tensor

from . import faulty_lowerings

FAULTS = Exercise(
    "13.2",
    "find the bug: four lowerings that look right",
    answer="faults",
    minutes=15,
    hints=(
        "For each, ask which sizes or numbers make it right by luck, and choose others.",
        "transposed: is `at` read the right way round for three dimensions? sliced: what if the step doesn't come out"
        " even? joined: whose length is subtracted? in_fours: what stands where x has ended?",
        "A permutation that isn't its own inverse; 0, 5, 2; vectors of two lengths; five negative numbers.",
    ),
)
SECTION = "Lowering, rule by rule"


def own_inverse(permutation: Any) -> bool:
    return all(permutation[permutation[dim]] == dim for dim in range(len(permutation)))


ABOUT: dict[str, Callable[..., str]] = {
    "transposed": lambda x, permutation: (
        "This permutation undoes itself, so it is its own inverse. Which one isn't?"
        if own_inverse(permutation)
        else "The dimensions do go round, but these numbers don't show it: all that change places are equal."
    ),
    "sliced": lambda x, start, stop, step: "The step comes out even here, so the quotient need not be rounded.",
    "joined": lambda x, y: "Both are of one length here. Which of the two lengths should be subtracted?",
    "in_fours": lambda x: (
        "It comes out even here, so nothing is masked. Take another length."
        if x.numel() % 4 == 0
        else "The 0 that stands for what is missing lost against a larger number. Make sure that it wins."
    ),
}


def result_of(name: str, arguments: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray | str]:
    """What is right, and what the faulty lowering gives; text if it loads from outside of x."""
    arrays = [x.numpy() if isinstance(x, Tensor) else x for x in arguments]
    right = getattr(faulty_lowerings, f"right_{name}")(*arrays)
    try:
        return right, computed(getattr(faulty_lowerings, name), *arguments)
    except IndexError as error:
        return right, str(error)


def judge(answer: Any, name: str, dims: int | None = 1) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"faults: expected a dict of four tuples of arguments, got {type(answer).__name__}")
    arguments = answer.get(name, ...)
    if arguments is ...:
        raise NotWritten(f"{name} is still `...`")
    if not isinstance(arguments, tuple) or not arguments or not isinstance(arguments[0], Tensor):
        raise WrongAnswer(f"{name}: expected a tuple that begins with a tensor, got {arguments!r}", "One is (x,).")
    if dims is not None and any(isinstance(x, Tensor) and (x.ndim != dims or x.numel() == 0) for x in arguments):
        raise WrongAnswer(f"{name}{arguments!r}: its docstring speaks of vectors", "Take vectors with elements.")
    try:
        right, got = result_of(name, arguments)
    except Exception as error:
        raise WrongAnswer(
            f"{name}{arguments!r} raised {type(error).__name__}: {error}",
            "Give it what its docstring allows: the operation that it is meant for must accept this.",
        ) from error
    if name == "sliced" and not 0 <= arguments[1] < arguments[2] <= arguments[0].numel():
        raise WrongAnswer(f"{name}{arguments!r}: not 0 <= start < stop <= x.numel()", "Keep to its docstring.")
    if isinstance(got, np.ndarray) and np.array_equal(right, got, equal_nan=True):
        raise WrongAnswer(f"{name}{arguments!r}: {got.tolist()} is right", ABOUT[name](*arguments))


@FAULTS.case("transposed", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "transposed", dims=None)


@FAULTS.case("sliced", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "sliced")


@FAULTS.case("joined", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "joined")


@FAULTS.case("in_fours", points=1, section="The package's own")
def _(answer: Any) -> None:
    judge(answer, "in_fours")
