"""Choosing among several compilations of one graph by timing them.

How much fusion pays depends on the machine: a kernel with many loops in it reads less memory, and needs more registers.
The candidates are run on tensors of zeros in the graph's own sizes, in turns, so that a disturbance hits all of them.

>>> [option.max_fusion for option in candidates(Options(autotune=True))]
[300, 8, 1]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minitorch_compile import logs
from minitorch_compile.inductor.ir import Buffer, LoopGraph
from minitorch_compile.inductor.options import Options
from minitorch_compile.inductor.tensor_call import tensor_of
from minitorch_compile.tensor.size import Size

FUSION_LIMITS = (300, 8, 1)
ROUNDS = 7

log = logs.artifact("perf_hints")

Compiled = Callable[..., tuple[Any, ...]]


def candidates(options: Options) -> list[Options]:
    """The same options with each fusion limit up to the one asked for."""
    limits = [limit for limit in FUSION_LIMITS if limit <= options.max_fusion] or [options.max_fusion]
    return [replace(options, autotune=False, max_fusion=limit) for limit in limits]


def fastest(graph: LoopGraph, compiled: Sequence[Compiled]) -> Compiled:
    """The candidate with the shortest median time; the first of equals."""
    arguments = [example(buffer) for buffer in graph.inputs]
    for candidate in compiled:
        candidate(*arguments)
    times = np.array([[seconds(candidate, arguments) for candidate in compiled] for _ in range(ROUNDS)])
    medians = np.median(times, axis=0)
    if log.is_on:
        log("autotune: " + ", ".join(f"candidate {i}: {t * 1e6:.1f} us" for i, t in enumerate(medians)))
    return compiled[int(medians.argmin())]


def example(buffer: Buffer) -> Any:
    """A tensor of zeros that looks like an input; zero is also a valid index wherever one is wanted."""
    zeros = np.zeros(buffer.length, buffer.dtype.numpy)
    return tensor_of(zeros, Size(buffer.sizes), buffer.strides, buffer.dtype)


def seconds(candidate: Compiled, arguments: Sequence[Any]) -> float:
    start = time.perf_counter()
    candidate(*arguments)
    return time.perf_counter() - start
