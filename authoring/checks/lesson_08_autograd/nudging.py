"""What the judges of the tape share: tensors in float64, and derivatives by nudging."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.far.there import there

STACK_SECTION = "A tape in twenty lines"


def doubles(mini: Any, values: Any) -> Any:
    return mini.tensor.from_numpy(np.asarray(values, np.float64))


def by_nudging(op: Any, args: tuple[Any, ...], at: int, g: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """The slope of (g * op(*args)).sum() along each element of one argument, of a tensor in float64."""
    here = args[at].numpy().copy()
    slopes, run = np.zeros_like(here), op.run
    for index in np.ndindex(*here.shape):
        ends = []
        for move in (step, -step):
            array = here.copy()
            array[index] += move
            ends.append((g * run(*args[:at], with_numbers(args[at], array), *args[at + 1 :]).numpy()).sum())
        slopes[index] = (ends[0] - ends[1]) / (2 * step)
    return slopes


@there
def with_numbers(tensor: Any, array: np.ndarray) -> Any:
    """A tensor like this one, with other numbers."""
    return type(tensor)(type(tensor.storage)(array.reshape(-1), array.dtype), tensor.layout)


def close(wanted: np.ndarray, got: Any) -> bool:
    return got is not None and got.sizes == wanted.shape and np.allclose(got.numpy(), wanted, atol=1e-6)


def rounded(array: np.ndarray) -> Any:
    return np.round(array, 3).tolist()
