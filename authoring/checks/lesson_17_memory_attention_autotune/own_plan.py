"""Exercise 17.5: buffers that share memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step
from minitorch_compile.course.far.there import there

OWN_PLAN = Step(
    "17.5",
    "a plan of the memory",
    file="program",
    minutes=25,
    hints=(
        "First find out which step is the last to touch each buffer. Inputs and outputs are not planned.",
        "Then walk through the steps. A buffer that has no place yet takes the smallest free one that is large"
        " enough, or a new one."
        " After the step, the places of buffers that it was the last to touch are free.",
        "Only after: while a step runs, what it reads and what it writes must be apart. sizes[place] are bytes:"
        " numel(buffer.sizes) * buffer.dtype.itemsize.",
    ),
)
SECTION = "Many lives in one block"
APART = "Both are alive in this step: a place is free only after the last step that touches its buffer."
SMALL = "The place is too small for the buffer."
BEST = "Of the free places that are large enough take the smallest: the larger one may be needed by who comes next."
REUSE = "A place whose buffer nobody touches any more can be had for nothing."
OUTSIDE = "Inputs and outputs have memory of their own."


def program_of(mini: Any, steps: list[list[str]], sizes: dict[str, int]) -> tuple[Any, dict[str, Any]]:
    """A program of steps that touch buffers of given sizes; x is an input, out an output."""
    buffers = {name: SimpleBuffer(name, (size,)) for name, size in sizes.items()}
    program = bare(mini.program.Program)
    program.lowering = SimpleNamespace(inputs=[buffers["x"]], outputs=[buffers["out"]])
    program.steps = [SimpleNamespace(buffers=[buffers[name] for name in names]) for names in steps]
    return program, buffers


@there
def bare(kind: type) -> Any:
    """An object of the class, whose `__init__` has not run."""
    return object.__new__(kind)


class SimpleBuffer:
    """A buffer of float32, as far as a plan asks."""

    dtype = np.dtype("float32")

    def __init__(self, name: str, sizes: tuple[int, ...]) -> None:
        self.name, self.sizes = name, sizes


def judge(mini: Any, steps: list[list[str]], sizes: dict[str, int], most: int, why: str) -> None:
    program, buffers = program_of(mini, steps, {"x": 4, "out": 4, **sizes})
    places, bytes_of = program.plan()
    what = f"steps {steps} of sizes {sizes}: places " + str({buffer.name: place for buffer, place in places.items()})
    if buffers["x"] in places or buffers["out"] in places:
        raise WrongAnswer(what, OUTSIDE)
    for name in sizes:
        if buffers[name] not in places:
            raise WrongAnswer(what, f"{name} has no place.")
        if bytes_of[places[buffers[name]]] < 4 * sizes[name]:
            raise WrongAnswer(f"{what}, of {bytes_of} bytes, {name}", SMALL)
    life = {name: [i for i, step in enumerate(steps) if name in step] for name in sizes}
    for a in sizes:
        for b in sizes:
            meet = max(life[a][0], life[b][0]) <= min(life[a][-1], life[b][-1])
            if a < b and meet and places[buffers[a]] == places[buffers[b]]:
                raise WrongAnswer(f"{what}: {a} and {b}", APART)
    if sum(bytes_of) > 4 * most:
        raise WrongAnswer(f"{what}: {sum(bytes_of)} bytes, and {4 * most} are enough", why)


@OWN_PLAN.case("apart while they live", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge(mini, [["x", "out"]], {}, 0, OUTSIDE)
    judge(mini, [["x", "a"], ["a", "out"]], {"a": 4}, 4, REUSE)
    judge(mini, [["x", "a"], ["a", "b"], ["b", "out"]], {"a": 4, "b": 4}, 8, REUSE)
    judge(mini, [["x", "a"], ["a", "b"], ["b", "c"], ["a", "c", "out"]], {"a": 4, "b": 4, "c": 4}, 12, REUSE)


@OWN_PLAN.case("shared when they may", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge(mini, [["x", "a"], ["a", "b"], ["b", "c"], ["c", "out"]], {"a": 4, "b": 4, "c": 4}, 8, REUSE)
    judge(mini, [["x", "a"], ["a", "b"], ["b", "c"], ["c", "out"]], {"a": 2, "b": 4, "c": 4}, 10, SMALL)
    steps = [["x", "a", "b"], ["a", "b", "k"], ["k", "c"], ["k", "c", "d"], ["d", "c", "out"]]
    judge(mini, steps, {"a": 8, "b": 2, "k": 1, "c": 2, "d": 8}, 11, BEST)
