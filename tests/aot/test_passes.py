"""Each pass makes a graph smaller and leaves its meaning alone."""

from __future__ import annotations

import numpy as np
import pytest

from minitorch_compile import prims
from minitorch_compile.aot.passes import fold_constants, merge_views, simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.fx import GraphModule, Interpreter
from minitorch_compile.tensor import float32, float64, full, int64, ops, uint8
from tests.aot.compare import sample

FOLDED = {
    "a view of a constant": (
        lambda x: x + full((6,), 2.5, dtype=float64).view(2, 3),
        "x -> add(x, full((2, 3), 2.5, float64))",
    ),
    "a repeated constant": (lambda x: x + full((), 2.0, dtype=float64).expand(2, 3).exp(), None),
    "a converted constant": (lambda x: x + full((), 2.5).to(int64).to(float64), "x -> add(x, full((), 2.0, float64))"),
    "a constant that wraps around": (
        lambda x: x + full((), -1, dtype=int64).to(uint8),
        "x -> add(x, full((), 255, uint8))",
    ),
    "a factor of one": (lambda x: (x * full((3,), 1.0, dtype=float64)).exp(), "x -> exp(x)"),
    "a returned product": (lambda x: x * full((3,), 1.0, dtype=float64), None),
    "a factor that widens": (lambda x: x[0] * full((2, 3), 1.0, dtype=float64), None),
    "a divisor of one": (lambda x: (x / full((), 1, dtype=float32)).exp(), "x -> exp(x)"),
    "a returned constant": (lambda x: full((2,), 1.0).view(1, 2), None),
}
MERGED = {
    "a view of a view": (lambda x: x.view(6).view(3, 2) + 1, "x -> add(view(x, (3, 2)), 1)"),
    "a view back": (lambda x: x.view(6).view(2, 3).exp(), "x -> exp(x)"),
    "a view of a transpose": (lambda x: x.t().reshape(6).view(2, 3).exp(), None),
    "a copy in between": (lambda x: x.clone().exp(), "x -> exp(x)"),
    "a returned copy": (lambda x: x.clone(), "x -> clone(x)"),
    "a view of a copy that is returned": (lambda x: x.clone()[0], None),
    "an expansion to the same sizes": (lambda x: x.expand(2, 3).exp(), "x -> exp(x)"),
}


def check(rewrite, program, expected):
    x = sample(2, 3, requires_grad=False)
    before = trace(program, [x])
    graph = rewrite(before.graph)
    graph.lint()
    if expected is not None:
        assert graph.compact().replace("torch.", "") == expected
    assert len(graph.nodes) <= len(before.graph.nodes)
    got, want = Interpreter(GraphModule(before.attributes, graph)).run(x), program(x)
    assert (got.dtype, got.sizes) == (want.dtype, want.sizes)
    np.testing.assert_array_equal(got.array, want.array)


@pytest.mark.parametrize("name", FOLDED)
def test_constants_are_folded(name):
    program, expected = FOLDED[name]
    check(fold_constants, program, expected)


@pytest.mark.parametrize("name", MERGED)
def test_views_are_merged(name):
    check(merge_views, *MERGED[name])


@pytest.mark.parametrize("name", [*FOLDED, *MERGED])
def test_prim_graphs_are_simplified_too(name):
    program, _ = (FOLDED | MERGED)[name]
    x = sample(2, 3, requires_grad=False)
    module = simplify(prims.decompose(trace(program, [x])))
    np.testing.assert_array_equal(module(x).array, program(x).array)


def test_the_old_graph_stays_as_it_was():
    module = trace(lambda x: x.view(6).view(3, 2) * full((), 1.0), [sample(2, 3)])
    before = module.graph.compact()
    simplify(module)
    assert module.graph.compact() == before


def test_softmax_of_the_same_row_is_computed_once():
    module = trace(lambda x: x.softmax(1) + x.softmax(1), [sample(2, 3)])
    assert len(simplify(module).graph.find_nodes(op="call_function", target=ops.softmax)) == 1
