"""A learner's kernel in the simulator: what it did wrong is told, and what it cost is given back.

>>> def double(x, out):
...     out[0] = 2 * x[0]
>>> arrays = np.ones(1, np.float32), np.zeros(1, np.float32)
>>> launched("double", double, 1, 1, arrays, WHY).load_sectors, arrays[1].tolist()
(1, [2.0])
>>> def beyond(x, out):
...     out[1] = x[0]
>>> launched("beyond", beyond, 1, 1, arrays, WHY)
Traceback (most recent call last):
minitorch_compile.course.checking.exercise.WrongAnswer: beyond[1, 1]: out of bounds: thread 0 of block 0 writes \
out[1], but out has 1 elements. in: out[1] = x[0]. Each thread asks whether its number is there before it touches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer, own_copy
from minitorch_compile.course.far.kernels import kernel_here
from minitorch_compile.cuda_simulator import KernelFault, LineCounts, simulate

Grid = int | tuple[int, ...]
WHY: Mapping[str, str] = {
    "out of bounds": "Each thread asks whether its number is there before it touches it.",
    "data race": "Two threads use one address, and one of them writes: a barrier that both reach must stand between.",
    "divergent barrier": "All threads of a block must come to the same barrier: it can't stand where only some go.",
    "uninitialised read": "Shared memory is empty at the beginning, like any memory: write before you read.",
    "inactive lane": "A shuffle takes a value from a lane that isn't there: all lanes of the mask must take part.",
    "endless loop": "A loop that never ends: what would have to change for its condition to become false?",
}
"""What a learner is told of each kind of fault, unless the exercise knows more."""


def launched(
    name: str, answer: Any, blocks: Grid, threads: Grid, arrays: Sequence[Any], why: Mapping[str, str]
) -> LineCounts:
    """Runs the kernel on these arrays, in place; its counts. WrongAnswer for the first fault.

    The last array is the one to write to.
    """
    launch = f"{name}[{blocks}, {threads}]"
    if not callable(answer):
        raise WrongAnswer(f"{name}: expected a kernel, which is a function, got {type(answer).__name__}")
    before = own_copy((*arrays[:-1],))
    try:
        run = simulate(kernel_here(answer), collect=True, counts=True)[blocks, threads](*arrays)
    except NotImplementedError as error:
        if "your code here" in str(error):
            raise NotWritten(str(error)) from error
        raise WrongAnswer(
            f"{launch}: {error}", "The simulator runs the part of Python that Numba has on a GPU."
        ) from error
    except KernelFault as fault:  # one that nothing can run on after
        raise told(launch, fault, why) from fault
    except Exception as error:
        raise WrongAnswer(f"{launch} raised {type(error).__name__}: {error}") from error
    if run.faults:
        raise told(launch, run.faults[0], why)
    expect_unchanged(launch, before, arrays[:-1])
    assert run.counts is not None, "it was asked for"
    return run.counts.total


def told(launch: str, fault: KernelFault, why: Mapping[str, str]) -> WrongAnswer:
    """A fault, where the learner's line stands, and what it means."""
    other = f" and {fault.other.text!r}" if fault.other and fault.other != fault.place else ""
    fact = f"{launch}: {fault.kind}: {fault.what}. in: {fault.place.text}{other}"
    return WrongAnswer(fact, {**WHY, **why}.get(fault.kind, ""))


def expect_unchanged(launch: str, before: Sequence[Any], after: Sequence[Any]) -> None:
    """What a kernel is to read is as it was."""
    if not all(map(np.array_equal, before, after)):
        raise WrongAnswer(f"{launch} has written into an array that it is to read", "Only out is written to.")


def expect_close(launch: str, expected: np.ndarray, got: np.ndarray, why: str, rtol: float = 1e-5) -> None:
    """Both arrays, element by element; NaN is NaN. The first difference is told."""
    wrong = np.argwhere(~np.isclose(got, expected, rtol=rtol, atol=rtol, equal_nan=True))
    if wrong.size:
        first = tuple(int(index) for index in wrong[0])
        subscript = ", ".join(map(str, first))
        fact = f"{launch}: out[{subscript}]: expected {expected[first]:.6g}, got {got[first]:.6g}"
        raise WrongAnswer(fact, why)


def numbers(*sizes: int, seed: int = 0) -> np.ndarray:
    """The same float32 each time."""
    return np.random.default_rng(seed).normal(size=sizes).astype(np.float32)
