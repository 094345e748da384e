"""Each pass makes a graph smaller and leaves its meaning alone."""

from __future__ import annotations

import numpy as np
import pytest

from minitorch_compile import prims
from minitorch_compile.aot.passes import fold_constants, merge_addmm, merge_views, remove_no_ops, show, simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.fx import GraphModule, Interpreter
from minitorch_compile.fx.passes import remove_dead_code
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
    "a sum of constants": (
        lambda x: x + (full((), 1.5, dtype=float64) + full((3,), 2.0, dtype=float64)).neg(),
        "x -> add(x, full((3,), -3.5, float64))",
    ),
    "a constant that is no number": (lambda x: x + (full((), -1.0, dtype=float64)).sqrt(), None),
    "a constant in another layout": (lambda x: (full((3, 2), 2.0, dtype=float64).t().exp() + x).exp(), None),
    "a returned constant": (lambda x: full((2,), 1.0).view(1, 2), None),
}
MERGED = {
    "views that undo each other": (lambda x: x.t().unsqueeze(0).squeeze(0).t().exp(), "x -> exp(x)"),
    "permutations": (
        lambda x: x.unsqueeze(0).permute(2, 0, 1).permute(1, 2, 0).permute(2, 1, 0).exp(),
        None,
    ),
    "slices of slices": (lambda x: x[:, 1:][:, 1:].exp(), "x -> exp(slice(x, 1, 2, 3, 1))"),
    "a slice of everything": (lambda x: x[0:2, :5].exp(), "x -> exp(x)"),
    "an item of a slice": (lambda x: x[1:][0].exp(), "x -> exp(select(x, 0, 1))"),
    "expansions": (
        lambda x: x[:1].expand(2, 3).expand(4, 2, 3).exp(),
        "x -> exp(expand(slice(x, 0, None, 1), (4, 2, 3)))",
    ),
    "a view of a view": (lambda x: x.view(6).view(3, 2) + 1, "x -> add(view(x, (3, 2)), 1)"),
    "a view back": (lambda x: x.view(6).view(2, 3).exp(), "x -> exp(x)"),
    "a view of a transpose": (lambda x: x.t().reshape(6).view(2, 3).exp(), None),
    "an expansion to the same sizes": (lambda x: x.expand(2, 3).exp(), "x -> exp(x)"),
}
NO_OPS = {
    "a factor of one": (lambda x: (x * full((3,), 1.0, dtype=float64)).exp(), "x -> exp(x)"),
    "a returned product": (lambda x: x * full((3,), 1.0, dtype=float64), None),
    "a factor that widens": (lambda x: x[0] * full((2, 3), 1.0, dtype=float64), None),
    "a divisor of one": (lambda x: (x / full((), 1, dtype=float32)).exp(), "x -> exp(x)"),
    "a copy in between": (lambda x: x.clone().exp(), "x -> exp(x)"),
    "a returned copy": (lambda x: x.clone(), "x -> clone(x)"),
    "a view of a copy that is returned": (lambda x: x.clone()[0], None),
    "x + 0 is not x for -0.0": (lambda x: (x + 0).exp(), "x -> exp(add(x, 0))"),
    "x + -0.0": (lambda x: (-0.0 + (x + -0.0)).exp(), "x -> exp(x)"),
    "whole x + 0": (lambda x: ((x > 0).long() + 0).float(), "x -> to_copy(to_copy(gt(x, 0), int64), float32)"),
    "x - 0": (lambda x: (x - 0.0).exp(), "x -> exp(x)"),
    "0 - x": (lambda x: (0 - x).exp(), None),
    "x ** 1": (lambda x: (x**1).exp(), "x -> exp(x)"),
    "twice negated": (lambda x: x.neg().neg().exp(), "x -> exp(x)"),
    "widened and narrowed": (lambda x: x.float().double().float().exp(), "x -> exp(to_copy(x, float32))"),
    "narrowed and widened": (lambda x: x.float().double().exp(), None),
    "one tensor joined": (lambda x: ops.cat([x], 1).exp(), "x -> exp(x)"),
    "either way": (lambda x: ops.where(x > 0, x, x).exp(), "x -> exp(x)"),
    "the largest of one": (lambda x: x[:, 1:2].contiguous().amax(1).exp(), None),
    "the sum of one": (
        lambda x: x.exp().view(2, 3, 1).sum(2).exp(),
        "x -> exp(add(view(view(exp(x), (2, 3, 1)), (2, 3)), 0.0))",
    ),
    "a dropout of nothing": (lambda x: ops.table["dropout"](x, 0.0, True).exp(), "x -> exp(x)"),
}


def check(rewrite, program, expected):
    x = sample(2, 3, requires_grad=False)
    before = trace(program, [x])
    graph = rewrite(before.graph)
    graph.lint()
    if expected is not None:
        assert graph.compact().replace("torch.", "") == expected
    assert len(graph.nodes) <= len(before.graph.nodes) + (rewrite is remove_no_ops)
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


@pytest.mark.parametrize("name", NO_OPS)
def test_what_changes_nothing_disappears(name):
    check(remove_no_ops, *NO_OPS[name])


@pytest.mark.parametrize("name", [*FOLDED, *MERGED, *NO_OPS])
def test_prim_graphs_are_simplified_too(name):
    program, _ = (FOLDED | MERGED | NO_OPS)[name]
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


def test_a_result_may_be_what_two_turns_of_it_are_but_not_an_argument_and_not_twice():
    turned = lambda x: (x.exp().t().t(), x.t().t(), x.exp())
    x = sample(2, 3, requires_grad=False)
    module = simplify(prims.decompose(trace(turned, [x])))
    assert [node.target.name for node in module.graph.find_nodes(op="call_function")].count("exp") == 2
    assert module.graph.output_node().args[0][1].op == "call_function"
    results = module(x)
    for got, want in zip(results, turned(x), strict=True):
        np.testing.assert_array_equal(got.array, want.array)
    assert len({id(y.storage) for y in (*results, x)}) == 4


def test_show_takes_a_function_of_graphs_as_register_pass_does():
    module = trace(lambda x: ops.mm(x, x) + x, [sample(2, 2)])
    assert "addmm" in repr(show(merge_addmm, module))
    assert repr(show(merge_addmm, module)) == repr(show("merge_addmm", module))
    assert "after.add" in repr(show(remove_dead_code, module))
    with pytest.raises(TypeError, match="show: expected a GraphModule, but got Graph"):
        show(merge_addmm, module.graph)
