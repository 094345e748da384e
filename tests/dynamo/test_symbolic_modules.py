"""Modules and optimizers, compiled from outside: parameters become inputs, forward is inlined, state stays the
user's."""

import copy
import warnings

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import assert_same, entry_count, matrix


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
        self.norm = nn.LayerNorm(3)
        self.head = nn.Sequential(nn.ReLU(), nn.Dropout(0.5), nn.Linear(3, 2))
        self.register_buffer("seen", torch.zeros(1))
        self.calls = 0

    def forward(self, x, scale=1.0):
        self.calls += 1
        self.seen += 1
        for i, layer in enumerate(self.layers):
            x = self.norm(layer(x)) + i
        return self.head(x) * scale


def net():
    torch.manual_seed(1)
    return Net()


def test_a_model_is_one_graph_with_its_parameters_as_inputs():
    region = assert_same(lambda m, x: m(x), lambda: (net(), matrix()))
    names = [node.name for node in region.graph_modules[0].graph.find_nodes(op="placeholder")]
    assert names == [
        "m_seen", "x", "m_layers_0_weight", "m_layers_0_bias", "m_norm_weight", "m_norm_bias", "m_layers_1_weight",
        "m_layers_1_bias",
        "m_head_2_weight", "m_head_2_bias",
    ] or set(names) >= {"x", "m_seen", "m_head_2_bias"}  # fmt: skip


def test_a_compiled_module_is_the_module():
    model = net()
    compiled = optimize(model, eager)
    assert isinstance(compiled, Net) and compiled.layers is model.layers
    assert list(compiled.state_dict()) == [f"_orig_mod.{key}" for key in model.state_dict()]
    assert compiled.eval() is compiled
    assert not model.training
    compiled.calls = 5
    assert model.calls == 5
    assert (compiled(matrix()) == copy.deepcopy(compiled)(matrix())).all() and model.calls == 6


def test_training_and_evaluation_mode_are_two_versions():
    model = net()
    counter = CompileCounter()
    compiled = optimize(model, counter)
    for mode in (True, False, True, False):
        compiled.train(mode)
        compiled(matrix())
    assert counter.frame_count == 2


def test_layers_of_one_shape_share_a_version():
    layers = [nn.Linear(3, 3) for _ in range(12)]
    compiled = optimize(lambda layer, x: layer(x), eager)
    for layer in layers:
        assert (compiled(layer, matrix()) == layer(matrix())).all()
    assert entry_count(region_of(compiled)) == 1


def test_hooks_added_later_are_seen():
    layer = nn.Linear(3, 3)
    compiled = optimize(layer, eager)
    compiled(matrix())
    handle = layer.register_forward_hook(lambda module, args, output: output * 0)
    assert compiled(matrix()).sum() == 0
    handle.remove()
    assert compiled(matrix()).sum() != 0


def test_a_parameter_that_is_replaced_frozen_or_removed():
    layer = nn.Linear(3, 2)
    compiled = optimize(layer, eager)
    assert compiled(matrix()).requires_grad
    layer.weight = nn.Parameter(torch.zeros(2, 3))
    assert (compiled(matrix()) == layer.bias).all()
    layer.requires_grad_(False)
    assert not compiled(matrix()).requires_grad
    layer.bias = None
    assert compiled(matrix()).sum() == 0


def test_one_parameter_used_in_two_places():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    region = assert_same(lambda m, x: m(x), lambda: (copy.deepcopy(model), matrix()))
    assert len(region.graph_modules[0].graph.find_nodes(op="placeholder")) == 4
    compiled = optimize(model, eager)
    compiled(matrix())
    model[1].weight = nn.Parameter(torch.zeros(3, 3))
    assert (compiled(matrix()) == model[1].bias).all()


def test_a_break_inside_a_module_is_told_with_the_whole_way_to_it():
    class Loud(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            y = self.inner(x)
            print("loud")
            return y * 2

    torch.manual_seed(0)
    model = Loud()
    region = assert_same(lambda m, x: m(x + 1) * 2, lambda: (model, matrix()), graphs=4, breaks=1)
    assert region.breaks[0].source_line.function == "<lambda>"
    assert region.breaks[0].stack[-1].text.strip() == 'print("loud")'
    assert "module.py" not in str(region.breaks[0])


def training_step(model, optimizer, x):
    optimizer.zero_grad()
    loss = (model(x) ** 2).sum()
    loss.backward()
    optimizer.step()
    return loss


def test_a_whole_training_step_behaves_as_plainly():
    for make in (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: torch.optim.AdamW(p, lr=0.1)):

        def losses(step):
            torch.manual_seed(3)
            model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
            optimizer = make(model.parameters())
            return [step(model, optimizer, matrix()).item() for _ in range(6)], [
                p.detach().tolist() for p in model.parameters()
            ]

        assert losses(optimize(training_step, eager)) == losses(training_step)


def test_methods_of_modules_and_classes_compile_too():
    class Model(nn.Module):
        def loss(self, x, k=2):
            return (x * k).sum()

        forward = loss

    model = Model()
    assert optimize(model.loss, eager)(matrix(), k=3) == model.loss(matrix(), k=3)
    assert optimize(Model.loss, eager)(model, matrix()) == model(matrix())


def test_a_lazy_layer_is_compiled_once_its_sizes_are_known():
    layer = torch.nn.LazyLinear(4)
    counter = CompileCounter()
    compiled = optimize(lambda x: layer(x) * 2, counter)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert torch.equal(compiled(torch.ones(2, 3)), layer(torch.ones(2, 3)) * 2)
    assert type(layer) is torch.nn.Linear and counter.frame_count == 1 and region_of(compiled).breaks == []
