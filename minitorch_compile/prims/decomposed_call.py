"""How one call is written in prims: for looking at.

>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.square, empty_fake((2,))).compact())
x -> mul(x, x)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minitorch_compile.aot.tracing import Tracer
from minitorch_compile.fx.graph import Graph
from minitorch_compile.prims.decompose_arguments import Until
from minitorch_compile.prims.decomposer import decompose
from minitorch_compile.prims.decomposition_table import Rule
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.tensor_base import TensorBase


def decomposed(op: Op, *args: Any, until: Until = "prims", decompositions: Mapping[Op, Rule] | None = None) -> Graph:
    """The graph of prims that one call of an op comes down to; `until` and `decompositions` as `decompose` has them."""
    tracer = Tracer()
    bound = op.bind(args, {})
    names = iter(["x" if name == "input" else name for name in op.parameters])
    stand_ins = [
        tracer.placeholder(name, value) if isinstance(value, TensorBase) else value
        for name, value in zip(names, bound, strict=True)
    ]
    with dispatch.mode(tracer):
        result = op(*stand_ins)
    return decompose(tracer.finish(result), until, decompositions=decompositions).graph
