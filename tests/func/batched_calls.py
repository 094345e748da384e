"""Lines of the call sheets under vmap, against a loop over the examples."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile.pytree import tree_leaves
from tests.battery.arguments import Arguments

EXAMPLES = 3


@dataclass
class OneExample(Arguments):
    """The arguments of one example: other numbers for each. `tensors` are those it made."""

    example: int = 0
    tensors: list[Any] = field(default_factory=list)

    def _random(self, sizes: tuple[int, ...]) -> np.random.Generator:
        self.count += 1
        return np.random.default_rng([self.example, self.count, *sizes])

    def _tensor(self, values: np.ndarray, grad: bool = False) -> Any:
        self.tensors.append(torch.from_numpy(np.array(values, order="C")))
        return self.tensors[-1].clone()


@dataclass
class Given(Arguments):
    """The same words, for tensors that are given."""

    tensors: Iterator[Any] = field(default_factory=lambda: iter(()))

    def _tensor(self, values: np.ndarray, grad: bool = False) -> Any:
        return next(self.tensors)


def tensors_in(result: Any) -> list[Any]:
    return [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]


def one_by_one(text: str) -> tuple[list[list[Any]], list[list[Any]]]:
    """For each example the tensors that the line made, and its results."""
    made, results = [], []
    for example in range(EXAMPLES):
        arguments = OneExample(torch, example=example)
        torch.manual_seed(example)
        results.append(tensors_in(eval(text, arguments.vocabulary())))
        made.append(arguments.tensors)
    return made, results


def batched(text: str, made: list[list[Any]], shared: frozenset[int] = frozenset()) -> list[Any]:
    """The results of the line under vmap; arguments whose number is in `shared` are the first example's for all."""
    stacked = [torch.stack(parts) for parts in zip(*made)]
    inputs = [made[0][i] if i in shared else x for i, x in enumerate(stacked)]
    dims = tuple(None if i in shared else 0 for i in range(len(stacked)))

    def line(*tensors: Any) -> tuple[Any, ...]:
        return tuple(tensors_in(eval(text, Given(torch, tensors=iter(tensors)).vocabulary())))

    return list(torch.vmap(line, in_dims=dims, randomness="different")(*inputs))


def difference(text: str) -> str | None:
    """What vmap does otherwise than the loop; None if nothing. ValueError if the line has nothing to compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made, results = one_by_one(text)
        except Exception as error:
            raise ValueError("the line is an error by itself") from error
        if not made[0] or not results[0]:
            raise ValueError("no tensor goes in, or none comes out")
        if any([x.shape for x in r] != [x.shape for x in results[0]] for r in results):
            raise ValueError("the sizes depend on the data")
        actual = batched(text, made)
    for number, (x, *examples) in enumerate(zip(actual, *results)):
        expected = torch.stack(examples)
        if x.shape != expected.shape or x.dtype is not expected.dtype:
            return f"result {number} is {x.dtype} {tuple(x.shape)}, expected {expected.dtype} {tuple(expected.shape)}"
        try:
            torch.testing.assert_close(x, expected, equal_nan=True, rtol=1e-4, atol=1e-4)
        except AssertionError as error:
            return f"result {number}: {error}"
    return None


def shared_differences(text: str, is_refusal: Any) -> list[str]:
    """For each argument of the line: what vmap does otherwise than the loop if that one is the same for all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made, _ = one_by_one(text)
        except Exception:  # the line is an error by itself
            return []
        numbers = range(len(made[0])) if len(made[0]) > 1 else ()
        found = [_shared_difference(text, made, number, is_refusal) for number in numbers]
    return [f"{text}, argument {number} shared: {d}" for number, d in enumerate(found) if d]


def _shared_difference(text: str, made: list[list[Any]], number: int, is_refusal: Any) -> str | None:
    rows = [[made[0][i] if i == number else x for i, x in enumerate(row)] for row in made]
    try:
        results = [tensors_in(eval(text, Given(torch, tensors=iter(row)).vocabulary())) for row in rows]
    except Exception:  # these numbers don't go together, such as a singular matrix
        return None
    if not results[0] or any([x.shape for x in r] != [x.shape for x in results[0]] for r in results):
        return None
    try:
        actual = batched(text, made, frozenset([number]))
    except RuntimeError as error:
        return None if is_refusal(error) else f"{type(error).__name__}: {error}"
    for x, *examples in zip(actual, *results):
        expected = torch.stack(examples)
        if x.shape != expected.shape or x.dtype is not expected.dtype:
            return f"{x.dtype} {tuple(x.shape)}, expected {expected.dtype} {tuple(expected.shape)}"
        if not torch.allclose(x, expected, equal_nan=True, rtol=1e-4, atol=1e-4):
            return "other values"
    return None
