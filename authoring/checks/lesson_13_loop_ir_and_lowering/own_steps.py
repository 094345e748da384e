"""Programs, lowered by one's own Lowering, and run step by step in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer

from .run_loops import run_steps


def steps_of(mini: Any, program: Any, *tensors: Any) -> Any:
    return mini.loops.Lowering(mini.prims.decompose(mini.graph.trace(program, *tensors)))


def judge(mini: Any, program: Any, arrays: list[Any], said: str, why: str) -> Any:
    """The steps, run in plain Python, against the program on tensors."""
    tensors = [mini.tensor.from_numpy(a) for a in arrays]
    lowering = steps_of(mini, program, *tensors)
    expected = program(*tensors)
    expected = expected if isinstance(expected, tuple) else (expected,)
    try:
        got = run_steps(mini, lowering, *arrays)
    except (IndexError, ValueError) as error:
        raise WrongAnswer(f"{said}: {error}", why) from None
    if len(got) != len(expected):
        raise WrongAnswer(f"{said}: expected {len(expected)} outputs, got {len(got)}", why)
    for buffer, a, b in zip(lowering.outputs, got, expected, strict=True):
        if tuple(buffer.sizes) != b.sizes or a.dtype != b.dtype or a.size != b.numel():
            raise WrongAnswer(f"{said}: expected {b.sizes} of {b.dtype}, got {buffer.sizes} of {a.dtype}", why)
        if not np.allclose(a.reshape(b.sizes), b.numpy(), rtol=1e-4, equal_nan=True):
            raise WrongAnswer(f"{said}: expected {b.tolist()}, got {a.reshape(b.sizes).tolist()}", why)
    return lowering


def count(lowering: Any, expected: int, said: str, why: str) -> None:
    if len(lowering.steps) != expected:
        lines = "; ".join(map(str, lowering.steps))
        raise WrongAnswer(f"{said}: expected {expected} steps, got {len(lowering.steps)}: {lines}", why)


def numbers(*sizes: int, dtype: str = "float32") -> Any:
    return (np.arange(int(np.prod(sizes))).reshape(sizes) % 7 + 1).astype(dtype)
