"""What the judges of the tape share: trying a call, and derivatives by nudging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer

STACK_SECTION = "A tape in thirty lines"


def tried(text: str, why: str, function: Callable[..., Any], *args: Any) -> Any:
    """What a call gives; what it raises is told with `why`."""
    try:
        return function(*args)
    except (NotImplementedError, MemoryError, RecursionError):
        raise
    except Exception as error:
        raise WrongAnswer(f"{text}: raised {type(error).__name__}: {error}", why) from error


def must_raise(text: str, why: str, function: Callable[..., Any], *args: Any) -> None:
    """A RuntimeError, and nothing else."""
    try:
        got = function(*args)
    except RuntimeError as error:
        if isinstance(error, NotImplementedError | RecursionError):
            raise
        return
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise WrongAnswer(f"{text}: expected a RuntimeError, got {type(error).__name__}: {error}", why) from error
    raise WrongAnswer(f"{text}: expected a RuntimeError, got {got!r}", why)


def expect(text: str, wanted: Any, got: Any, why: str) -> None:
    if wanted != got:
        raise WrongAnswer(f"{text}: expected {wanted!r}, got {got!r}", why)


def doubles(mini: Any, values: Any) -> Any:
    return mini.tensor.from_numpy(np.asarray(values, np.float64))


def by_nudging(op: Any, args: tuple[Any, ...], at: int, g: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """The slope of (g * op(*args)).sum() along each element of one argument, of a tensor in float64."""
    here = args[at].numpy().copy()
    slopes = np.zeros_like(here)
    for index in np.ndindex(*here.shape):
        ends = []
        for move in (step, -step):
            array = here.copy()
            array[index] += move
            moved = type(args[at])(type(args[at].storage)(array.reshape(-1), array.dtype), args[at].layout)
            ends.append((g * op.run(*args[:at], moved, *args[at + 1 :]).numpy()).sum())
        slopes[index] = (ends[0] - ends[1]) / (2 * step)
    return slopes


def close(wanted: np.ndarray, got: Any) -> bool:
    return got is not None and got.sizes == wanted.shape and np.allclose(got.numpy(), wanted, atol=1e-6)


def rounded(array: np.ndarray) -> Any:
    return np.round(array, 3).tolist()
