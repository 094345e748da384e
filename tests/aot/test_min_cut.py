"""The minimum cut, checked against all cuts; and the partition made of it, against the default one."""

from __future__ import annotations

import itertools
import random
import sys

import numpy as np
import pytest

import benchmarks.gpt
import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import prims
from minitorch_compile.aot import JointGraph, aot_function, default_partition, interpret, min_cut_partition
from minitorch_compile.aot.partitioning.max_flow import INFINITE, FlowNetwork
from minitorch_compile.aot.partitioning.partition import Sides
from minitorch_compile.aot.partitioning.recomputation import is_cheap, is_constant, total_bytes
from minitorch_compile.aot.subgraph import ancestors
from minitorch_compile.compiler.pipeline import Inductor
from minitorch_compile.tensor import ops
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


def test_which_elements_are_the_largest_is_decided_in_the_forward_pass():
    """A product of bfloat16 numbers that is computed again is rounded where the first one was not."""

    def largest(x, scale):
        product = x.bfloat16() * 1.5
        value = product * product * product * scale
        return value.amax(-1), torch.softmax(value, -1), product

    x, scale = (torch.randn(20, 9).requires_grad_() for _ in range(2))
    outputs = torch.compile(largest, backend="inductor")(x, scale)
    sum(output.float().cos().sum() for output in outputs).backward()
    assert not x.grad.isnan().any() and not scale.grad.isnan().any()


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


# ------------------------------------------------------------------------------------------ what it is worth


@pytest.fixture(scope="module")
def joints_of_gpt() -> dict[str, JointGraph]:
    """The GPT that is timed in benchmarks/: 4 layers, 128 wide, 8x128 tokens."""
    return joints_of_its_loss()


def joints_of_its_loss() -> dict[str, JointGraph]:
    """The joint graph of the GPT's loss, in ops and in prims."""
    model, tokens = benchmarks.gpt.gpt(torch), torch.randint(0, benchmarks.gpt.VOCABULARY, (8, 129))
    seen: list[JointGraph] = []

    def loss(tokens):
        return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

    def keep(joint):
        seen.append(joint)
        return default_partition(joint)

    def backend(graph, inputs):
        for decompose in (None, Inductor("cpu").decompose):
            aot_function(graph, inputs, interpret, None, keep, decompose)
        return graph

    torch.compile(loss, backend=backend, fullgraph=True)(tokens)
    return dict(zip(("ops", "prims"), seen, strict=True))


def test_of_a_gpt_it_saves_little_more_than_half_of_what_the_default_saves(joints_of_gpt):
    """Of the graph of prims, which is what compile() partitions. A graph of ops keeps layer_norm, softmax and gelu
    whole, so that the default saves no more than eager autograd: there what is left are arguments and results of
    matrix products, and 60% would mean to do products twice."""
    prims_, ops_ = (
        (min_cut_partition(joints_of_gpt[level]).report.bytes, default_partition(joints_of_gpt[level]).report.bytes)
        for level in ("prims", "ops")
    )
    assert prims_[0] <= 0.60 * prims_[1]
    assert ops_[0] <= 0.75 * ops_[1]
    assert prims_[0] <= 1.01 * ops_[0]  # what is saved hardly depends on how the program is written


def test_cutting_three_times_as_many_layers_takes_three_times_as_many_steps(monkeypatch):
    few, many = (lines_run_by_cutting(layers, monkeypatch) for layers in (2, 6))
    assert 2 * few < many < 4 * few  # if each layer looked at all the others it would be 9 times


def lines_run_by_cutting(layers, monkeypatch):
    """How many lines of Python run while the loss of a GPT of so many layers is partitioned."""
    monkeypatch.setattr(benchmarks.gpt, "LAYERS", layers)
    joint, lines, before = joints_of_its_loss()["prims"], 0, sys.gettrace()

    def count(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return count

    sys.settrace(count)
    try:
        min_cut_partition(joint)
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("seed", range(16))
def test_no_other_choice_of_values_takes_fewer_bytes(seed):
    """The oracle tries them all: every set of forward values from which cheap operations lead to what is read."""
    joint = joint_of(*random_program(seed))
    sides = Sides(joint)
    candidates = [n for n in (*sides.inputs, *sides.forward) if n.op in ("placeholder", "call_function")]
    best = min(
        total_bytes(chosen)
        for size in range(len(candidates) + 1)
        for chosen in itertools.combinations(candidates, size)
        if suffices(sides, set(chosen))
    )
    assert min_cut_partition(joint).report.bytes <= best


def random_program(seed):
    """Some operations on matrices of different sizes, as a function and its arguments."""
    r = random.Random(seed)
    kinds = [r.choice(["sin", "exp", "square", "product", "narrow", "row"]) for _ in range(4)]

    def program(x, w):
        values = [x]
        for kind in kinds:
            value = values[r.randrange(len(values))] if kind == "product" else values[-1]
            if kind == "product":
                values.append(value @ w if value.shape[1] == w.shape[0] else value * 2)
            elif kind == "narrow":
                values.append(value[:, : max(1, value.shape[1] // 2)].sin())
            elif kind == "row":
                values.append(value + values[-1].exp()[:1].expand(value.shape))
            else:
                values.append(getattr(ops, kind)(value))
        return (values[-1],)

    return program, sample(4, 8), sample(8, 8)


def suffices(sides, saved):
    """Whether the backward pass can be computed from these values without doing anything that costs much twice."""
    needed = ancestors(sides.gradients, stop_at=saved) - saved
    return all(
        node in sides.backward or node in sides.tangents or is_constant(node)
        or (node.op == "call_function" and (node not in sides.forward or is_cheap(node)))
        for node in needed
    )  # fmt: skip
