"""Fusion: groups, run row after row and stage after stage in plain Python, give what the graph gives."""

import mini
import numpy as np
import pytest
from mini import graph
from mini.fusion import fuse
from mini.loops import Lowering
from mini.prims import decompose

from authoring.checks.lesson_14_fusion_and_scheduling.run_groups import run_groups

from .programs import CASES
from .test_lowering import AWKWARD, m

PROGRAMS = [(f, args) for f, *args in [*AWKWARD.values(), *CASES]]


def fused(f, *args):
    return [str(group) for group in fuse(Lowering(decompose(graph.trace(f, *args))))]


@pytest.mark.parametrize("f, args", PROGRAMS)
def test_groups_give_what_the_graph_gives(f, args):
    traced = decompose(graph.trace(f, *args))
    lowering = Lowering(traced)
    groups = fuse(lowering)
    assert sum(len(getattr(group, "loops", [group])) for group in groups) == len(lowering.steps)
    for got, want in zip(
        run_groups(mini, lowering, groups, *[x.numpy() for x in args]), traced.run(*args), strict=True
    ):
        assert np.allclose(got.reshape(want.sizes), want.numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "f, expected",
    [
        (lambda x: x.softmax(1), ["rows (4,): amax buf0 | sum buf1 | buf2"]),
        (lambda x: x.softmax(0), ["rows (4,): amax buf0 | sum buf1", "rows (4,): buf2"]),
        (lambda x: (x + 1).reshape(2, 2, 2, 2), ["rows (16,): buf0"]),
        (lambda x: x.t() + x, ["rows (4,): buf0"]),
        (lambda x: (x @ x).relu() @ x, ["buf0 = matmul(x0, x0)", "rows (16,): buf1", "buf2 = matmul(buf1, x0)"]),
        (lambda x: (x.sum(), x.amax(1)), ["rows (): sum buf0", "rows (4,): amax buf1"]),
    ],
)
def test_what_becomes_one_kernel(f, expected):
    assert fused(f, m(4, 4)) == expected
