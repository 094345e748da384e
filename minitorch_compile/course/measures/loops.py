"""What a program becomes as loops, for the exercises: run one box, count the loops, and the bytes that they move.

>>> import minitorch_compile as torch
>>> rows = torch.ones(4, 8)
>>> loops = loops_of(lambda x: x / x.sum(1, keepdim=True), rows)
>>> len(loops), [bytes_moved(loop) for loop in loops]
(2, [144, 272])
>>> computed(lambda x: TensorBox((8, 4), x.dtype, lambda ops, at: x.load(ops, at[::-1])), rows).shape
(8, 4)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import accesses_of
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.interpreter import run_operation
from minitorch_compile.inductor.ir.loops import Loop, Operation, TensorBox
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.tensor import Tensor, empty_fake
from minitorch_compile.tensor.numerics.dtype import dtype


def loops_of(function: Callable[..., Any], *examples: Tensor) -> list[Operation]:
    """The loops (and extern calls) of a function that returns one tensor, for arguments like the examples."""
    fakes = [empty_fake(tuple(x.shape), dtype=x.dtype) for x in examples]
    graph = simplify(prims.decompose(trace(lambda *xs: (function(*xs),), fakes)))
    return lower(graph).operations


def bytes_moved(loop: Loop) -> int:
    """What a loop reads and writes: for each access as many elements as the variables in its address have values."""
    found = accesses_of(loop)
    return sum(
        math.prod(variable.size for variable in access.address.symbols) * access.buffer.dtype.itemsize
        for access in [*found.reads, *found.writes]
    )


def computed(rule: Callable[..., TensorBox], *arguments: Any) -> np.ndarray:
    """What a lowering makes of these arguments: tensors become boxes, and one loop over the result is interpreted."""
    memory, boxes = {}, []
    for number, x in enumerate(arguments):
        if isinstance(x, Tensor):
            buffer = Buffer.contiguous(f"x{number}", tuple(x.shape), x.dtype)
            memory[buffer.name] = x.numpy().ravel()
            x = TensorBox.of(buffer)
        boxes.append(x)
    box = rule(*boxes)
    result = Buffer.contiguous("result", box.sizes, box.dtype)
    run_operation(Loop(result, box.sizes, box.load), memory)
    return memory["result"].reshape(box.sizes)


class SilentHandler(Handler):
    """A handler that does nothing, to be given a meaning by subclasses. Masked bodies run, everywhere.

    Every element has the value `...`. It isn't None, which lowerings take for "no condition".
    """

    def load(self, buffer: Buffer, address: Index) -> Any:
        return ...

    def constant(self, value: Number, dtype: dtype) -> Any:
        return ...

    def index_value(self, index: Index, dtype: dtype) -> Any:
        return ...

    def apply(self, prim: str, *operands: Any) -> Any:
        return ...

    def convert(self, value: Any, dtype: dtype) -> Any:
        return ...

    def random(self, seed: Any, counter: Any, dtype: dtype) -> Any:
        return ...

    def indirect(self, value: Any, size: int, wrap: bool) -> Index:
        return symbol("chosen", size, indirect=True)

    def masked(self, condition: Any, body: Callable[[], Any], other: Number, dtype: dtype) -> Any:
        return self.inside(body)

    def store(self, buffer: Buffer, address: Index, value: Any) -> None:
        return None

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Any) -> None:
        return None

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: Any) -> None:
        return None
