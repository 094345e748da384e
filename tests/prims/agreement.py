"""Whether a decomposition says the same as the op: `disagreement(call)` is what it does differently, or None.

Sizes, dtypes and strides must be the op's, whole numbers and bools must be its numbers, NaN and infinities must stand
where it has them, and other numbers may be off by 2 tolerances (see accuracy.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile import prims
from minitorch_compile.aot.tracing import trace
from minitorch_compile.fx import GraphModule
from minitorch_compile.prims.prim import Prim
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import FLOATING
from tests.prims.accuracy import parts_of, tolerances_off, wide_of
from tests.prims.sheet_calls import OpCall

# What an op says of a call that it doesn't take.
REFUSES = (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError)
# Ops of which the numbers of each dtype are numbers of their own: nothing is gained by comparing with float64.
EXACT = ("nextafter", "philox_uniform", "philox_normal", "philox_randint", "view_dtype", "frexp_parts")


def disagreement(call: OpCall) -> str | None:
    """How the decomposition of a call differs from the op, or None. So too if the op refuses the call."""
    try:
        expected = parts_of(call.op(*call.bound))
    except REFUSES:
        return None  # what the op refuses is not asked of its decomposition
    try:
        graph = decomposed(call)
    except NotImplementedError:
        if call.op is ops.as_strided:  # of a tensor with gaps: it sees what lies between
            return None
        raise
    if not only_prims(graph):
        return f"{call}: not only prims are left"
    layouts = parts_of(graph.graph.output_node().meta["val"])
    results = parts_of(graph(*call.tensors))
    for got, layout, want in zip(results, layouts, expected, strict=True):
        different = _difference(got, layout, want, exact=call.op.name in EXACT)
        if different:
            return f"{call}: {different}"
    if call.op.name in EXACT:
        return None
    off = tolerances_off(call.op, call.bound, results, expected)
    return f"{call}: off by {off:.3g} tolerances" if off > 2 else None


def decomposed(call: OpCall) -> GraphModule:
    """The call as a graph of prims."""
    return prims.decompose(trace(lambda *tensors: call.op(*call.with_tensors(tensors)), call.tensors))


def only_prims(graph: GraphModule) -> bool:
    targets = {node.target for node in graph.graph.find_nodes(op="call_function")}
    return all(isinstance(target, Prim) or target.__name__ == "getitem" for target in targets)


def _difference(got: Tensor, layout: Any, want: Tensor, exact: bool) -> str | None:
    described = [(str(x.dtype), tuple(x.sizes)) for x in (got, want)]
    if described[0] != described[1]:
        return f"gives {described[0]} for {described[1]}"
    if tuple(layout.strides) != tuple(want.strides):
        return f"has strides {layout.strides} for {want.strides}"
    a, b = (np.asarray(x.to(wide_of(x.dtype)).array) for x in (got, want))
    if want.dtype.category < FLOATING or exact:
        return None if np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") else f"gives {a.tolist()} for {b.tolist()}"
    for parts in ((a.real, b.real), (a.imag, b.imag)) if a.dtype.kind == "c" else ((a, b),):
        if not all(np.array_equal(test(parts[0]), test(parts[1])) for test in (np.isnan, np.isposinf, np.isneginf)):
            return f"has NaN or infinity elsewhere: {a.tolist()} for {b.tolist()}"
    return None
