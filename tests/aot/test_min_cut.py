"""The minimum cut, checked against all cuts; and the partition made of it, against the default one."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from minitorch_compile import prims
from minitorch_compile.aot import aot_function, default_partition, interpret, min_cut_partition
from minitorch_compile.aot.max_flow import INFINITE, FlowNetwork
from tests.aot.compare import captured, sample
from tests.aot.test_models import MODELS, parameters
from tests.aot.test_partition import joint_of


def random_network(seed: int) -> list[tuple[int, int, int]]:
    """Edges between 7 nodes; 0 is the source, 6 the sink."""
    r = random.Random(seed)
    return [(a, b, r.randrange(10)) for a, b in itertools.permutations(range(7), 2) if r.random() < 0.5]


def cheapest_of_all_cuts(edges: list[tuple[int, int, int]]) -> int:
    """The oracle: every way to put the inner nodes on one side or the other."""
    costs = []
    for size in range(6):
        for chosen in itertools.combinations(range(1, 6), size):
            near = {0, *chosen}
            costs.append(sum(c for a, b, c in edges if a in near and b not in near))
    return min(costs)


@pytest.mark.parametrize("seed", range(60))
def test_the_flow_is_as_large_as_the_cheapest_cut(seed):
    edges = random_network(seed)
    network = FlowNetwork()
    for edge in [*edges, (0, 1, 0), (5, 6, 0)]:
        network.add_edge(*edge)
    cut = network.minimum_cut(0, 6)
    assert sum(c for a, b, c in edges if (a, b) in cut) == cheapest_of_all_cuts(edges)


def test_of_equal_cuts_the_one_nearest_to_the_sink_is_taken():
    network = FlowNetwork()
    for i in range(4):
        network.add_edge(i, i + 1, 5)
    assert network.minimum_cut(0, 4) == {(3, 4)}


def test_an_unlimited_flow_is_an_error():
    network = FlowNetwork()
    network.add_edge("s", "t", INFINITE)
    with pytest.raises(ValueError, match="infinite capacity"):
        network.maximum_flow("s", "t")


def test_a_long_path_needs_no_deep_recursion():
    network = FlowNetwork()
    for i in range(5000):
        network.add_edge(i, i + 1, 2)
    assert network.maximum_flow(0, 5000) == 2


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("decomposed", [False, True])
def test_both_partitions_give_the_same_gradients(name, decomposed):
    model, shapes, data = MODELS[name]
    decompose = prims.decompose if decomposed else None

    def gradients(partition):
        arguments = [*data(), *parameters(*shapes)]
        function = aot_function(captured(model, len(arguments)), arguments, interpret, None, partition, decompose)
        function(*arguments).backward()
        return [x.grad.array for x in arguments if x.requires_grad]

    for got, want in zip(gradients(min_cut_partition), gradients(default_partition), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_it_saves_no_more_than_the_default(name):
    model, shapes, data = MODELS[name]
    joint = joint_of(lambda *arguments: (model(*arguments),), *data(), *parameters(*shapes))
    joint.graph_module = prims.decompose(joint.graph_module)
    assert min_cut_partition(joint).report.bytes <= default_partition(joint).report.bytes


def test_a_chain_of_cheap_ops_is_computed_again_from_its_smallest_value():
    joint = joint_of(lambda x: ((x.exp() + 1).log().sin(),), sample(3))
    assert [node.name for node in min_cut_partition(joint).saved] == ["x"]


def test_nothing_is_saved_when_backward_needs_nothing():
    assert min_cut_partition(joint_of(lambda x: (x + 1,), sample(3))).saved == []


def test_a_gradient_that_depends_on_no_tangent_is_computed_from_what_is_saved():
    def function(x):
        product = x.prod(-1)
        product.zero_()
        return (product,)

    x = sample(3, 4)
    for partition in (default_partition, min_cut_partition):
        x.grad = None
        (result,) = aot_function(captured(function, 1), [x], interpret, partition_fn=partition)(x)
        result.sum().backward()
        assert x.grad.tolist() == [[0.0] * 4] * 3
