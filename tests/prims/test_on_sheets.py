"""Decompositions on all that the call sheets come down to: 4,500 calls of 200 ops, for each kind of tensor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from minitorch_compile import prims
from minitorch_compile.tensor import bfloat16
from minitorch_compile.tensor.dtype import float32
from tests.battery.sheet import FOLDER, calls_of
from tests.prims.agreement import disagreement
from tests.prims.sheet_calls import OpCall, calls_made

KINDS = [  # how elements lie in memory, and what they are
    ("contiguous", "float32"),
    ("every second", "float64"),
    ("transposed", "float16"),
    ("contiguous", "bfloat16"),
    ("offset", "int64"),
    ("expanded", "bool"),
]


@pytest.mark.parametrize("layout, element", KINDS)
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_a_decomposition_agrees_with_the_kernel(path: Path, layout: str, element: str) -> None:
    found = (disagreement(call) for call in calls_on(path, layout, element))
    wrong = [text for text in found if text is not None]
    assert not wrong, "\n".join(wrong[:20])


def calls_on(path: Path, layout: str, element: str) -> Iterator[OpCall]:
    """The calls that a sheet comes down to, apart from those without a decomposition."""
    recorded = calls_made(calls_of(path), layout, "float32" if element == "bfloat16" else element)
    for call in recorded:
        if element == "bfloat16":
            tensors = [x.to(bfloat16) if x.dtype is float32 else x for x in call.tensors]
            call = OpCall(call.op, call.with_tensors(tensors), call.line)
        if not prims.beyond_prims(call.op, call.bound):
            yield call
