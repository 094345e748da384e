"""Functions of nn.functional in traced programs: one node for each call; what works in place shows what it writes."""

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo.eval_frame import optimize
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import ones, tensor


def targets(function, *args):
    """What the nodes of the one graph call."""
    counter = CompileCounter()
    optimize(function, counter)(*args)
    (module,) = counter.graphs
    return [str(node.target) for node in module.graph.nodes if node.op.startswith("call")]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: F.relu(x), "F.relu"),
        (lambda x: F.relu(x, inplace=False), "F.relu"),
        (lambda x: F.layer_norm(x, (3,)), "F.layer_norm"),
        (lambda x: F.mse_loss(x, x + 1), "F.mse_loss"),
        (lambda x: F.scaled_dot_product_attention(x, x, x), "ops.scaled_dot_product_attention"),
    ],
)
def test_a_call_is_one_node(function, name):
    assert targets(function, ones(2, 3)).count(name) == 1


@pytest.mark.parametrize(
    ("function", "written"),
    [
        (lambda x: F.relu(x, inplace=True), "relu_"),
        (lambda x: F.relu(x, True), "relu_"),
        (lambda x: F.leaky_relu(x, 0.1, True), "leaky_relu_"),
        (lambda x: F.silu(x, inplace=True), "copy_"),
        (lambda x: F.dropout(x, 0.5, True, True), "copy_"),
        (nn.Hardtanh(inplace=True), "hardtanh_"),
    ],
)
def test_in_place_the_body_is_traced(function, written):
    names = targets(function, ones(2, 3))
    assert written in names and not any(name.startswith("F.") for name in names if name != "F.dropout")


@pytest.mark.parametrize("name", ["relu", "elu", "silu", "hardswish"])
def test_the_argument_is_changed_as_without_compilation(name):
    def step(x):
        y = x * 2
        z = getattr(F, name)(y, inplace=True)
        return y + z

    x = tensor([-2.0, 0.5, 3.0])
    assert torch.allclose(torch.compile(step, fullgraph=True)(x), step(x))
    given, expected = x.clone(), x.clone()
    torch.compile(lambda x: getattr(F, name)(x, inplace=True), fullgraph=True)(given)
    getattr(F, name)(expected, inplace=True)
    assert torch.allclose(given, expected)


def test_a_transformer_layer_is_one_graph():
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
    x = torch.randn(2, 3, 4)
    assert torch.allclose(torch.compile(layer, fullgraph=True)(x), layer(x), atol=1e-5)
