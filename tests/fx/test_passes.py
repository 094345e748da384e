"""Passes return a new graph that computes the same, with fewer nodes."""

import operator

import numpy as np
import pytest

from minitorch_compile.fx import GraphModule, has_side_effect, symbolic_trace
from minitorch_compile.fx.passes import merge_common_subexpressions, remove_dead_code
from minitorch_compile.fx.symbolic_trace import call


class RandomOp:
    kind = "random"

    def __call__(self, x):
        return np.random.default_rng().random(x.shape)

    def __repr__(self):
        return "ops.rand_like"


def duplicated(x):
    return (x + 1) * (x + 1) - (x * 2).sum() + (x * 2).sum()


def chained(x):
    return ((x + 1) * 2) * ((x + 1) * 2)


@pytest.mark.parametrize("program, calls", [(duplicated, 6), (chained, 3)])
@pytest.mark.parametrize(
    "x", [np.array(2.0), np.zeros((0, 3)), np.array([1.0, np.nan, np.inf])], ids=["0-d", "empty", "nan"]
)
def test_merged_graphs_compute_the_same(program, calls, x):
    graph = symbolic_trace(program).graph
    before = str(graph)
    merged = merge_common_subexpressions(graph)
    merged.lint()
    assert str(graph) == before, "the pass changed its argument"
    assert len([n for n in merged.nodes if n.op.startswith("call")]) == calls
    np.testing.assert_array_equal(GraphModule({}, merged)(x), program(x))


@pytest.mark.parametrize("program", [
    lambda x: (x + 1) * (x + 1.0),
    lambda x: (x + 0.0) * (x + -0.0),
    lambda x: (x + 1) * (x + True),
    lambda x: x[0:1] * x[0:2],
    lambda x: x.sum(dim=0) * x.sum(dim=1),
    lambda x: x.sum(dim=0) * x.sum(axis=0),
    lambda x: (x - 1) * (1 - x),
    lambda x: call(RandomOp(), x) + call(RandomOp(), x),
], ids=range(8))  # fmt: skip
def test_what_may_differ_is_not_merged(program):
    graph = symbolic_trace(program).graph
    assert len(merge_common_subexpressions(graph).nodes) == len(graph.nodes)


def test_one_random_op_called_twice_stays_two_draws():
    draw = RandomOp()
    graph = symbolic_trace(lambda x: call(draw, x) - call(draw, x)).graph
    assert len(merge_common_subexpressions(graph).nodes) == len(graph.nodes)


def test_a_graph_that_writes_is_left_alone():
    def program(x):
        a = x + 1
        b = x + 1
        b.add_(5)
        return a - b

    graph = symbolic_trace(program).graph
    assert str(merge_common_subexpressions(graph)) == str(graph)


@pytest.mark.parametrize("program", [
    lambda x: (x + 1, x + 1),
    lambda x: ((x + 1).view(-1), (x + 1).view(-1)),
    lambda x: [(x * 2)[0], (x * 2)],
], ids=["values", "views", "view and base"])  # fmt: skip
def test_two_results_stay_two_tensors(program):
    graph = symbolic_trace(program).graph
    merged = merge_common_subexpressions(graph)
    x = np.ones((2, 2))
    if "view" not in graph.compact():
        results = GraphModule({}, merged)(x)
        assert not np.shares_memory(results[0], results[1])
    assert len(merged.nodes) == len(graph.nodes)


def test_a_result_and_an_inner_value_may_be_one():
    graph = symbolic_trace(lambda x: (x + 1, (x + 1) * 2)).graph
    assert merge_common_subexpressions(graph).compact() == "x -> add = x + 1; (add, add * 2)"


def test_meta_survives():
    graph = symbolic_trace(duplicated).graph
    for node in graph.nodes:
        node.meta["val"] = node.name
    assert all(node.meta["val"] for node in merge_common_subexpressions(graph).nodes)


def test_dead_code_goes_and_the_argument_stays_as_it_was():
    graph = symbolic_trace(lambda x: ((x + 1).exp(), x * 2)[1]).graph
    assert remove_dead_code(graph).compact() == "x -> x * 2"
    assert len(graph.nodes) == 5


def test_registered_side_effects_and_random_draws_are_never_dead():
    @has_side_effect
    def log(x):
        return None

    def program(x):
        call(log, x)
        call(RandomOp(), x)
        call(operator.add, x, 1)
        return x

    kept = remove_dead_code(symbolic_trace(program).graph)
    assert [n.name for n in kept.nodes] == ["x", "log", "rand_like", "output"]
