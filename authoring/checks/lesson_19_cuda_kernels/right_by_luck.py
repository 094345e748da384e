"""Exercise 19.5: a kernel whose result is right, and which is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.far.kernels import kernel_here
from minitorch_compile.cuda_simulator import KernelFault, Run, simulate

from .launching import expect_close, expect_unchanged, numbers

LUCKY = Exercise(
    "19.5",
    "right by luck",
    answer="lucky",
    minutes=10,
    hints=(
        "The simulator takes each line with all threads at once. Which kernel of the lesson is right only by that?",
        "A tournament of one warp, in shared memory, without its barriers: the lines still come one after another.",
        "tile[thread] = x[thread]; for step in (16, 8, 4, 2, 1): if thread < step: tile[thread] += tile[thread + step]",
    ),
)
SECTION = "The package's machine"
VALUES = "out[0] is the sum of all 32 numbers: the luck must hold in the simulator."
SAFE = "This kernel is simply right: between any write and another thread's read, somebody waits. Who says so in yours?"
ELSEWHERE = "That is a race for global memory. Let the threads meet in shared memory, without waiting for each other."
MORE = "It's right by more than luck of order: this is another kind of fault. Only a data race is asked for."


def ran(answer: Any) -> tuple[Run, np.ndarray, np.ndarray]:
    """The kernel on 32 numbers, with all of its faults."""
    if not callable(answer):
        raise WrongAnswer(f"lucky: expected a kernel, which is a function, got {type(answer).__name__}")
    x, out = numbers(32), np.zeros(1, np.float32)
    try:
        run = simulate(kernel_here(answer), collect=True, counts=True)[1, 32](x, out)
    except NotImplementedError as error:
        if "your code here" in str(error):
            raise NotWritten(str(error)) from error
        raise WrongAnswer(f"lucky[1, 32]: {error}") from error
    except Exception as error:
        raise WrongAnswer(f"lucky[1, 32] raised {type(error).__name__}: {error}") from error
    expect_unchanged("lucky[1, 32]", [numbers(32)], [x])
    return run, x, out


def in_shared_memory(fault: KernelFault) -> bool:
    return not any(f" {name}[" in fault.what for name in ("x", "out"))


@LUCKY.case("the result is right", points=0, section=SECTION)
def _(answer: Any) -> None:
    _, x, out = ran(answer)
    expect_close("lucky[1, 32]", np.array([x.sum()]), out, VALUES, rtol=1e-4)


@LUCKY.case("nothing but races", points=1, section=SECTION)
def _(answer: Any) -> None:
    run, x, out = ran(answer)
    expect_close("lucky[1, 32]", np.array([x.sum()]), out, VALUES, rtol=1e-4)
    others = [fault for fault in run.faults if fault.kind != "data race"]
    if others:
        raise WrongAnswer(f"lucky[1, 32]: {others[0].kind}: {others[0].what}", MORE)
    if not run.faults:
        raise WrongAnswer("lucky[1, 32]: the simulator finds no fault", SAFE)


@LUCKY.case("in shared memory", points=1, section=SECTION)
def _(answer: Any) -> None:
    run, x, out = ran(answer)
    expect_close("lucky[1, 32]", np.array([x.sum()]), out, VALUES, rtol=1e-4)
    if not run.faults:
        raise WrongAnswer("lucky[1, 32]: the simulator finds no fault", SAFE)
    if not any(map(in_shared_memory, run.faults)):
        raise WrongAnswer(f"lucky[1, 32]: {run.faults[0].what}", ELSEWHERE)
