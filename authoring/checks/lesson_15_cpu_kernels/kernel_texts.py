"""What the exercises on `mini/emit.py` share: groups of small programs, and their kernels run as plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer
from minitorch_compile.course.far.there import there

SECTION = "One generated file, read together"
Program = Callable[..., Any]


def groups_of(mini: Any, program: Program, shapes: Sequence[tuple[int, ...]]) -> tuple[Any, list[Any]]:
    """The lowering of a program of float32 arguments, and its groups."""
    graph = mini.graph.trace(program, *[mini.tensor.fake(shape) for shape in shapes])
    lowering = mini.loops.Lowering(mini.prims.decompose(graph))
    return lowering, mini.fusion.fuse(lowering)


def wanted_by(group: Any, lowering: Any, groups: list[Any]) -> set[Any]:
    others = [loop for other in groups if other is not group for loop in other.loops]
    return {*lowering.outputs} | {buffer for loop in others for buffer, _ in loop.reads()}


def run_text(mini: Any, source: str) -> Any:
    """The kernel as a function of plain Python."""
    try:
        compile(source, "<string>", "exec")
    except SyntaxError as error:
        raise WrongAnswer(f"this is no Python, line {error.lineno}:\n{source}", "Count the columns.") from error
    return kernel_in(mini, source)


@there
def kernel_in(mini: Any, source: str) -> Any:
    """What the learner's code has written is code of the learner's: it runs where that does, and never in the judge."""
    names = {"np": np, "math": math, "exp32": mini.emit.exp32.py_func}
    exec(source, names)
    return names["kernel"]


def judge_program(mini: Any, program: Program, shapes: Sequence[tuple[int, ...]], why: str) -> None:
    """All kernels of a program, as plain Python, against the program run eagerly."""
    from_numpy = mini.ops.from_numpy  # tensors have operators once ops is there
    arrays = [np.linspace(-1, 1.5, math.prod(shape), dtype=np.float32).reshape(shape) for shape in shapes]
    expected = program(*[from_numpy(array) for array in arrays]).numpy()
    lowering, groups = groups_of(mini, program, shapes)
    memory = {buffer: array.reshape(-1) for buffer, array in zip(lowering.inputs, arrays, strict=True)}
    sources = []
    for group in groups:
        try:
            kernel = mini.emit.Kernel(group, wanted_by(group, lowering, groups))
        except NotImplementedError as error:
            raise NotWritten(str(error)) from error
        sources.append(kernel.source)
        function = run_text(mini, kernel.source)
        for buffer in kernel.arguments:
            memory.setdefault(buffer, np.full(math.prod(buffer.sizes), 77, buffer.dtype))
        try:
            function(0, kernel.rows, *[memory[buffer] for buffer in kernel.arguments])
        except Exception as error:
            raise WrongAnswer(f"{kernel.source}\nraises {type(error).__name__}: {error}", why) from error
    got = memory[lowering.outputs[0]].reshape(expected.shape)
    if not np.allclose(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
        at = tuple(int(i) for i in np.argwhere(~np.isclose(got, expected, rtol=1e-4, atol=1e-5))[0])
        text = "\n".join(sources)
        raise WrongAnswer(f"{text}\ngives {got[at]!r} at {at}, expected {expected[at]!r}", why)


def writer_of(mini: Any, **attributes: Any) -> Any:
    """A writer for a kernel of which only some things are known."""
    made: dict[Any, str] = {}
    known = {"made": made, "single": {"exp": "exp32({})"}, "argument": lambda buffer: buffer.name}
    return mini.emit.Writer(SimpleNamespace(**{**known, **attributes}))
