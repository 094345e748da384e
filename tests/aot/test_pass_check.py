"""Every pass keeps what callers see: values, dtypes, strides, aliases. The check that says so notices each."""

from __future__ import annotations

import random

import pytest

from minitorch_compile import config, prims
from minitorch_compile.aot.functional_program import functional_program
from minitorch_compile.aot.passes import (
    PASSES,
    check_pass,
    custom_pass,
    find_pass,
    register_pass,
    simplify,
    unregister_pass,
)
from minitorch_compile.aot.tracing import trace
from minitorch_compile.fx import GraphModule
from minitorch_compile.tensor import empty_fake, float64, int64, ops
from tests.aot.compare import captured, sample
from tests.pipeline.compare import functions_of, inputs_of
from tests.pipeline.programs import generate
from tests.pipeline.rules import FAMILIES

NAMES = [each.name for each in PASSES]


@pytest.fixture(autouse=True)
def verify():
    with config.patch(verify_passes=True):
        yield


# ------------------------------------------------------------------------------------------ random graphs


@pytest.mark.parametrize("family", FAMILIES)
def test_passes_keep_the_meaning_of_random_programs(family):
    for seed in range(6):
        program = generate(family, seed)
        arguments = inputs_of(program, "float64")
        module = functional_program(
            captured(functions_of([program])["together"], len(arguments)), arguments
        ).graph_module
        for graph in (module, prims.decompose(module, keep=prims.beyond_prims)):
            for each in PASSES:
                each(graph)
            simplify(graph)


VIEWS = [
    lambda x, r: x.transpose(r.randrange(x.ndim), r.randrange(x.ndim)),
    lambda x, r: x.permute(r.sample(range(x.ndim), x.ndim)),
    lambda x, r: x.unsqueeze(r.randrange(x.ndim + 1)),
    lambda x, r: x.squeeze(r.randrange(x.ndim)),
    lambda x, r: x[..., r.randrange(2) :] if x.shape[-1] > 1 else x,
    lambda x, r: x[:: r.choice((1, 2))],
    lambda x, r: x.reshape(-1, *x.shape[2:]) if x.ndim > 1 else x.reshape(x.shape[0], 1),
    lambda x, r: x.expand(2, *x.shape) if x.numel() < 100 else x,
    lambda x, r: x.select(0, r.randrange(x.shape[0])) if x.ndim > 1 else x,
]


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_chains_of_views_show_the_same_when_merged(first):
    for seed in range(first, first + 20):

        def program(x, seed=seed):
            r, shown = random.Random(seed), []
            for _ in range(r.randrange(2, 8)):
                x = r.choice(VIEWS)(x, r) if x.ndim else x
                shown.append(ops.exp(x))
            return tuple(r.sample(shown, 1)), x

        module = trace(program, [sample(3, 4, 2, seed=seed, requires_grad=False)])
        before = len(module.graph.find_nodes(op="call_function"))
        for graph in (module, prims.decompose(module)):
            find_pass("merge_views")(graph)
            find_pass("remove_no_ops")(graph)
        assert len(find_pass("merge_views")(module).graph.find_nodes(op="call_function")) <= before


def test_a_chain_of_permutations_is_at_most_one():
    def program(x, seed):
        r = random.Random(seed)
        for _ in range(6):
            x = x.permute(r.sample(range(3), 3))
        return ops.exp(x)

    for seed in range(20):
        module = trace(lambda x, seed=seed: program(x, seed), [sample(3, 4, 2, requires_grad=False)])
        assert len(find_pass("merge_views")(module).graph.find_nodes(op="call_function")) <= 2


# ------------------------------------------------------------------------------------------ the check itself


def graph_of(program, *sizes):
    return trace(program, [empty_fake(s, dtype=float64) for s in sizes or [(2, 3)]])


CHANGES = {
    "at (0,) it was": (lambda x: x + 0, lambda x: x - 0, [(4,)]),
    "dtype were": (lambda x: x.float(), lambda x: x * 1, [(4,)]),
    "sizes were": (lambda x: x * 1, lambda x: x[:1] * 1, [(4,)]),
    "strides were": (lambda x: x.t() * 1, lambda x: (x * 1).reshape(3, 2), [(2, 3)]),
    "share memory": (lambda x: x * 1, lambda x: x, [(4,)]),
    "returned 1 tensors and returns 2": (lambda x: (x,), lambda x: (x, x), [(4,)]),
    "changed the arguments": (lambda x: x, lambda x, y: x, [(4,)]),
}


@pytest.mark.parametrize("message", CHANGES)
def test_the_check_names_what_a_pass_changed(message):
    before, after, sizes = CHANGES[message]
    with pytest.raises(RuntimeError, match=message.replace("(", r"\(").replace(")", r"\)")):
        check_pass("wrong", graph_of(before, *sizes), graph_of(after, *sizes, *sizes[: after.__code__.co_argcount - 1]))


def test_an_inexact_pass_may_round_otherwise_but_not_more():
    before, near = graph_of(lambda x: x * 3), graph_of(lambda x: x + x + x)
    check_pass("near", before, near, exact=False)
    with pytest.raises(RuntimeError, match="the values differ"):
        check_pass("far", before, graph_of(lambda x: x * 3.001), exact=False)


def test_arguments_that_mean_nothing_to_a_graph_are_not_tried():
    module = trace(lambda x, i: x[i], [empty_fake((0, 2)), empty_fake((3,), dtype=int64)])
    check_pass("same", module, module)


# ------------------------------------------------------------------------------------------ the list


def test_a_pass_can_be_left_out_by_name():
    module = graph_of(lambda x: (x * 1).exp())
    with config.patch(disabled_passes=("remove_no_ops",)):
        assert simplify(module).graph.compact() == "x -> exp(mul(x, 1))"
    assert simplify(module).graph.compact() == "x -> exp(x)"


def test_an_unknown_name_is_an_error_that_lists_the_passes():
    with (
        config.patch(disabled_passes=("remove_noops",)),
        pytest.raises(ValueError, match="remove_no_ops, .*merge_views"),
    ):
        simplify(graph_of(lambda x: x))


def replace_exp(graph):
    """exp becomes exp2."""
    for node in graph.find_nodes(op="call_function", target=ops.exp):
        node.target = ops.exp2


def test_a_pass_of_ones_own_runs_where_it_was_put_and_may_change_the_graph_in_place():
    module = graph_of(lambda x: x.exp())
    with config.patch(verify_passes=False):
        register_pass(replace_exp, before="merge_views")
        try:
            assert NAMES.index("merge_views") == [each.name for each in PASSES].index("replace_exp")
            assert simplify(module).graph.compact() == "x -> exp2(x)"
            with pytest.raises(ValueError, match="already"):
                register_pass(replace_exp)
        finally:
            unregister_pass("replace_exp")
    assert module.graph.compact() == "x -> exp(x)"
    assert [each.name for each in PASSES] == NAMES


def test_a_wrong_pass_of_ones_own_is_found_out():
    with config.patch(joint_custom_pre_pass=replace_exp), pytest.raises(RuntimeError, match="joint_custom_pre_pass"):
        custom_pass("joint_custom_pre_pass", graph_of(lambda x: x.exp()))


def test_a_custom_pass_that_is_no_function_is_a_type_error():
    with config.patch(joint_custom_pre_pass=3), pytest.raises(TypeError, match="joint_custom_pre_pass"):
        custom_pass("joint_custom_pre_pass", graph_of(lambda x: x.exp()))


def test_small_constants_are_computed_once_and_large_ones_never():
    table = lambda x: x * ops.arange(4).div(4).cos()
    module = graph_of(table, (4,))
    folded = simplify(module)
    assert isinstance(folded, GraphModule) and folded.graph.compact() == "x -> mul(x, folded_0)"
    with config.patch(constant_bytes=4):
        assert "cos" in simplify(module).graph.compact()
