"""Steps of a lowering, run one element at a time in plain Python: slow, and what they mean.

>>> import sys; sys.path.insert(0, "authoring")
>>> import mini, mini.loops, mini.tensor
>>> graph = mini.loops.trace(lambda x: x.sum(0) + 1, mini.tensor.fake((3, 2)))
>>> lowering = mini.loops.Lowering(mini.loops.decompose(graph))
>>> run_steps(mini, lowering, np.arange(6.0).reshape(3, 2))
[array([ 7., 10.], dtype=float32)]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Numbers:
    """The handler under which a body computes: its index is of numbers, not of variables."""

    def __init__(self, mini: Any, memory: dict[Any, Any]) -> None:
        self.mini, self.memory = mini, memory
        self.memo: dict[Any, Any] = {}

    def load(self, buffer: Any, index: Any) -> Any:
        at = int(str(index))
        if not 0 <= at < len(self.memory[buffer]):
            raise IndexError(f"{buffer.name}[{at}]: it has {len(self.memory[buffer])} elements")
        return self.memory[buffer][at]

    def value(self, number: Any, dtype: Any) -> Any:
        return np.dtype(dtype).type(number)

    def index(self, index: Any, dtype: Any) -> Any:
        return np.dtype(dtype).type(int(str(index)))

    def call(self, op: str, args: list[Any], dtype: Any, dtypes: list[Any]) -> Any:
        if op == "to":
            return np.dtype(dtype).type(args[0])
        for arg, wanted in zip(args, dtypes, strict=True):
            if np.asarray(arg).dtype != wanted:
                raise TypeError(f"{op} was promised a {np.dtype(wanted)}, and got a {np.asarray(arg).dtype}")
        with np.errstate(all="ignore"):
            return np.asarray(self.mini.ops.OPS[op].kernel(*args)).astype(dtype)[()]

    def inside(self, conditions: list[Any], value: Callable[[], Any], dtype: Any) -> Any:
        holds = all(low <= int(str(i)) < high for i, low, high in conditions)
        return value() if holds else np.dtype(dtype).type(0)


def at(mini: Any, memory: dict[Any, Any], body: Callable[..., Any], index: tuple[int, ...]) -> Any:
    """The element that a body gives for an index of numbers."""
    of = mini.index.Index.of
    return body(Numbers(mini, memory), tuple(of(i) for i in index))


def run_loop(mini: Any, memory: dict[Any, Any], loop: Any) -> None:
    """All elements of a loop, row by row."""
    out, body, reduction = [], loop.body, loop.reduction
    for index in itertools.product(*map(range, loop.sizes)):
        if reduction is None:
            out.append(at(mini, memory, body, index))
            continue
        inner = itertools.product(*map(range, loop.reduced))
        parts = [at(mini, memory, body, index + j) for j in inner]
        out.append(sum(parts) if reduction == "sum" else max(parts))
    memory[loop.buffer] = np.array(out, loop.buffer.dtype)


def array_of(memory: Any, layout: Any) -> Any:
    """The elements that a layout names in flat memory."""
    where = [
        layout.offset + sum(i * n for i, n in zip(index, layout.strides, strict=True))
        for index in itertools.product(*map(range, layout.sizes))
    ]
    return memory[where].reshape(layout.sizes) if where else np.zeros(layout.sizes, memory.dtype)


def run_call(memory: dict[Any, Any], call: Any) -> None:
    """A product, of memory as it lies."""
    x, y = [array_of(memory[buffer], layout) for buffer, layout in call.arguments]
    memory[call.buffer] = np.matmul(x, y).astype(call.buffer.dtype).reshape(-1)


def memory_of(lowering: Any, arrays: Sequence[Any]) -> dict[Any, Any]:
    """What lies where before the first step. An input's memory is filled so that its layout shows the array."""
    memory: dict[Any, Any] = {}
    for buffer, array in zip(lowering.inputs, arrays, strict=True):
        memory[buffer] = np.zeros(
            1 + sum(max(n - 1, 0) * s for n, s in zip(buffer.sizes, buffer.layout.strides, strict=True))
        )
        memory[buffer] = memory[buffer].astype(buffer.dtype)
        for index in np.ndindex(buffer.sizes):
            memory[buffer][sum(i * s for i, s in zip(index, buffer.layout.strides, strict=True))] = array[index]
    return memory


def run_steps(mini: Any, lowering: Any, *arrays: Any) -> list[Any]:
    """The outputs' elements."""
    memory = memory_of(lowering, arrays)
    for step in lowering.steps:
        if hasattr(step, "arguments"):
            run_call(memory, step)
        else:
            run_loop(mini, memory, step)
    return [memory[buffer] for buffer in lowering.outputs]
