"""A whole function as one graph that stands alone: what goes in and comes out, and what stays as it was."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo.errors import Unsupported

x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])


def exported(function, *args, **kwargs):
    return torch._dynamo.export(function)(*args, **kwargs).graph_module


def listed(result):
    return torch.utils._pytree.tree_map(lambda v: v.tolist() if isinstance(v, torch.Tensor) else v, result)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a + b,
        lambda a, b: [a + b, a - b],
        lambda a, b: {"sum": a + b, "first": (a, 3, None, "text")},
        lambda a, b: (b, a, b, a * 2, b),
        lambda a, b: a,
        lambda a, b: a * 2 if b.sum() is not None else b,
        lambda a, b: torch.zeros(2),
    ],
)
def test_it_takes_and_gives_what_the_function_does(function):
    module = exported(function, x, y)
    assert listed(module(x, y)) == listed(function(x, y))
    assert listed(module(y, x)) == listed(function(y, x)), "nothing of the example is left in it"


def test_arguments_may_be_nested_and_named():
    def function(batch, scale=2, *, shift):
        return {"y": batch["x"] * scale + shift[0]}

    module = exported(function, {"x": x}, shift=[y])
    assert listed(module({"x": y}, [x])) == {"y": [7.0, 10.0]}


def test_one_tensor_given_twice_is_one_input():
    module = exported(lambda a, b: a + 2 * b, x, x)
    assert [node.op for node in module.graph.nodes].count("placeholder") == 2
    assert listed(module(y, y)) == [9.0, 12.0]


def test_weights_and_what_the_function_closes_over_are_attributes():
    torch.manual_seed(0)
    layer, factor = nn.Linear(2, 1), torch.tensor(3.0)
    module = exported(lambda a: layer(a) * factor, x)
    assert {node.op for node in module.graph.nodes} == {"placeholder", "get_attr", "call_function", "output"}
    assert {id(p) for p in module.parameters()} == {id(p) for p in layer.parameters()}
    module(x).sum().backward()
    assert layer.weight.grad is not None


def test_buffers_arguments_and_random_numbers_are_as_before():
    norm = nn.BatchNorm1d(2)
    batch = torch.ones(4, 2)

    def function(a):
        a.add_(1)
        return nn.functional.dropout(norm(a), 0.5)

    state = torch.get_rng_state().tolist()
    module = exported(function, batch)
    assert norm.running_mean.tolist() == [0.0, 0.0] and norm.num_batches_tracked.item() == 0
    assert batch.tolist() == torch.ones(4, 2).tolist()
    assert torch.get_rng_state().tolist() == state
    module(batch)
    assert batch.tolist() == torch.full((4, 2), 2.0).tolist()


def test_a_break_is_an_error():
    with pytest.raises(Unsupported, match=r"print"):
        exported(lambda a: (print("never"), a + 1), x)


def test_below_autograd_are_ops_and_a_table_may_rewrite_them():
    layer = nn.Linear(2, 1)
    module = torch._dynamo.export(lambda a: {"y": layer(a).relu()}, aten_graph=True)(x).graph_module
    assert listed(module(y)) == listed({"y": layer(y).relu()})
    assert all(node.op != "call_method" for node in module.graph.nodes)
    table = {torch.relu: lambda a: a.clamp(min=0)}
    rewritten = torch._dynamo.export(lambda a: a.relu(), aten_graph=True, decomposition_table=table)(x).graph_module
    assert "relu" not in str(rewritten.graph) and listed(rewritten(-x)) == [0.0, 0.0]


def test_what_is_not_offered_is_refused_by_name():
    with pytest.raises(NotImplementedError, match="dynamic_shapes"):
        torch._dynamo.export(lambda a: a, dynamic_shapes={"a": {0: None}})
    with pytest.raises(NotImplementedError, match="pre_dispatch"):
        torch._dynamo.export(lambda a: a, pre_dispatch=True)


def test_arguments_given_with_the_function_are_taken_at_once():
    module, guards = torch._dynamo.export(lambda a, b: a * b, x, y)
    assert listed(module(x, y)) == [3.0, 8.0] and guards
