"""Decompositions on all that the call sheets come down to: thousands of calls of 200 ops, for each kind of tensor."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from minitorch_compile import prims
from minitorch_compile.aot.tracing import trace
from minitorch_compile.tensor import bfloat16
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.numerics.dtype import float32
from tests.battery.sheet import FOLDER, calls, calls_of
from tests.prims.accuracy import parts_of
from tests.prims.agreement import REFUSES, disagreement
from tests.prims.sheet_calls import OpCall, calls_made

KINDS = [  # how elements lie in memory, and what they are
    ("contiguous", "float32"),
    ("every second", "float64"),
    ("transposed", "float16"),
    ("contiguous", "bfloat16"),
    ("offset", "int64"),
    ("expanded", "bool"),
]
# Of one op on one sheet: float32 tells most of formulas, the others of what is special about them.
MOST = {"float32": 16, "float64": 5, "float16": 8, "bfloat16": 8, "int64": 8, "bool": 8}


@pytest.mark.parametrize("layout, element", KINDS)
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_a_decomposition_agrees_with_the_kernel(path: Path, layout: str, element: str) -> None:
    found = (disagreement(call) for call in calls_on(path, layout, element))
    wrong = [text for text in found if text is not None]
    assert not wrong, "\n".join(wrong[:20])


def test_the_core_says_the_same() -> None:
    """Of each op that isn't in the core, a few calls."""
    seen: Counter[Op] = Counter()
    for call in calls_made(calls(), "contiguous", "float32", gradients=True):
        if call.op in prims.CORE or prims.beyond_prims(call.op, call.bound) or seen[call.op] == 3:
            continue
        try:
            expected = parts_of(call.op(*call.bound))
        except REFUSES:
            continue
        seen[call.op] += 1
        program = lambda *tensors, call=call: call.op(*call.with_tensors(tensors))
        core = prims.decompose(trace(program, call.tensors), "core")
        targets = {node.target for node in core.graph.find_nodes(op="call_function")} - {operator.getitem}
        assert targets <= prims.CORE, str(call)
        for got, want in zip(parts_of(core(*call.tensors)), expected, strict=True):
            assert (got.dtype, got.sizes) == (want.dtype, want.sizes), str(call)
            assert np.allclose(got.array, want.array, 1e-4, 1e-5, equal_nan=True), str(call)
    assert len(seen) > 50


def calls_on(path: Path, layout: str, element: str) -> Iterator[OpCall]:
    """The calls that a sheet comes down to and that have a decomposition, not more of one op than MOST."""
    seen: Counter[Op] = Counter()
    recorded_as = "float32" if element == "bfloat16" else element
    for call in calls_made(calls_of(path), layout, recorded_as, gradients=element == "float32"):
        if element == "bfloat16":
            tensors = [x.to(bfloat16) if x.dtype is float32 else x for x in call.tensors]
            call = OpCall(call.op, call.with_tensors(tensors), call.line)
        seen[call.op] += 1
        if seen[call.op] <= MOST[element] and not prims.beyond_prims(call.op, call.bound):
            yield call
