"""Groups of one's own fusion, run in plain Python as their kernels would run: row after row, stage after stage."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer

from ..lesson_13_loop_ir_and_lowering.run_loops import at, memory_of, run_call

NEVER = -(2**31) + 7  # what lies in memory that nobody has written yet


def position(index: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    return int(np.ravel_multi_index(index, sizes)) if sizes else 0


def run_group(mini: Any, memory: dict[Any, Any], group: Any) -> None:
    for loop in group.loops:
        count = int(np.prod(loop.buffer.sizes))
        memory[loop.buffer] = np.full(count, NEVER if loop.buffer.dtype.kind in "iu" else np.nan, loop.buffer.dtype)
    for row in itertools.product(*map(range, group.rows)):
        for stage in group.stages:
            loops = [(loop, loop.body, loop.reduction) for loop in stage.loops]
            sums: dict[Any, list[Any]] = {loop: [] for loop, _, reduction in loops if reduction}
            for inner in itertools.product(*map(range, stage.inner)):
                for loop, body, reduction in loops:
                    value = at(mini, memory, body, (*row, *inner))
                    if reduction:
                        sums[loop].append(value)
                    else:
                        memory[loop.buffer][position((*row, *inner), loop.sizes)] = value
            for loop, parts in sums.items():
                memory[loop.buffer][position(row, loop.sizes)] = sum(parts) if loop.reduction == "sum" else max(parts)


def run_groups(mini: Any, lowering: Any, groups: list[Any], *arrays: Any) -> list[Any]:
    """The outputs' elements."""
    memory = memory_of(lowering, arrays)
    for group in groups:
        if hasattr(group, "arguments"):
            run_call(memory, group)
        else:
            run_group(mini, memory, group)
    return [memory[buffer] for buffer in lowering.outputs]


def numbers(*sizes: int, dtype: str = "float32") -> Any:
    return (np.arange(int(np.prod(sizes))).reshape(sizes) % 7 + 1).astype(dtype)


def lowered(mini: Any, program: Any, *sizes: tuple[int, ...]) -> Any:
    graph = mini.graph.trace(program, *map(mini.tensor.fake, sizes))
    return mini.loops.Lowering(mini.prims.decompose(graph))


def fused(mini: Any, program: Any, sizes: list[tuple[int, ...]], expected: str, said: str, why: str) -> None:
    """Fused as expected, one line a group; and the values are the program's."""
    lowering = lowered(mini, program, *sizes)
    groups = mini.fusion.fuse(lowering)
    arrays = [numbers(*size) for size in sizes]
    wanted = program(*map(mini.tensor.from_numpy, arrays))
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    lost = {step.buffer for step in lowering.steps} - {
        step.buffer for group in groups for step in getattr(group, "loops", [group])
    }
    got = "; ".join(map(str, groups))
    if lost:
        names = ", ".join(sorted(buffer.name for buffer in lost))
        raise WrongAnswer(
            (f"{said}: {names} is in no group: {got}"), "Each step is in one group, the old one or the wider one."
        )
    try:
        outputs = run_groups(mini, lowering, groups, *arrays)
    except KeyError as missing:
        name = getattr(missing.args[0], "name", "a buffer")
        raise WrongAnswer(f"{said}, fused as {got}: {name} is read before it is made", why) from None
    for a, b in zip(outputs, wanted, strict=True):
        if not np.allclose(a.reshape(b.sizes), b.numpy(), rtol=1e-4):
            raise WrongAnswer(f"{said}, fused as {got}: expected {b.tolist()}, got {a.reshape(b.sizes).tolist()}", why)
    if got != expected:
        raise WrongAnswer(f"{said}: expected {expected}, got {got}", why)


def loop_of(mini: Any, name: str, sizes: tuple[int, ...], body: Any, reduced: tuple[int, ...] = ()) -> Any:
    """A loop of its own buffer, made by hand."""
    layout = mini.tensor.Layout.dense(sizes)
    buffer = mini.loops.Buffer(name, sizes, np.dtype("float32"), layout)
    return mini.loops.Loop(buffer, sizes, body, reduced, "sum" if reduced else None)
