"""What a program becomes as loops, for the exercises: list them, or run one box.

>>> import minitorch_compile as torch
>>> rows = torch.ones(4, 8)
>>> len(loops_of(lambda x: x / x.sum(1, keepdim=True), rows))
2
>>> computed(lambda x: TensorBox((8, 4), x.dtype, lambda ops, at: x.load(ops, at[::-1])), rows).shape
(8, 4)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.interpreter import run_operation
from minitorch_compile.inductor.ir.loops import Loop, Operation, TensorBox
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.tensor import Tensor, empty_fake


def loops_of(function: Callable[..., Any], *examples: Tensor) -> list[Operation]:
    """The loops (and extern calls) of a function that returns one tensor, for arguments like the examples."""
    fakes = [empty_fake(tuple(x.shape), dtype=x.dtype) for x in examples]
    graph = simplify(prims.decompose(trace(lambda *xs: (function(*xs),), fakes)))
    return lower(graph).operations


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
