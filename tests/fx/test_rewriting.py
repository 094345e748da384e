"""Patterns, passes and parts: graphs that are changed as PyTorch's users change them."""

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile._functorch import compile as functorch_compile
from minitorch_compile.aot.make_fx import make_fx
from minitorch_compile.fx import replace_pattern, symbolic_trace
from minitorch_compile.fx.experimental.optimization import fuse, remove_dropout
from minitorch_compile.fx.passes.infra.pass_base import PassResult
from minitorch_compile.fx.passes.infra.pass_manager import (
    PassManager,
    pass_result_wrapper,
    this_before_that_pass_constraint,
)
from minitorch_compile.fx.passes.operator_support import OperatorSupport, OpSupports, any_chain, chain
from minitorch_compile.fx.passes.shape_prop import ShapeProp
from minitorch_compile.fx.passes.split_module import split_module
from minitorch_compile.fx.passes.tools_common import legalize_graph
from minitorch_compile.fx.passes.utils.fuser_utils import fuse_by_partitions
from minitorch_compile.fx.passes.utils.matcher_utils import SubgraphMatcher
from minitorch_compile.fx.subgraph_rewriter import replace_pattern_with_filters


def compact(program):
    return symbolic_trace(program).graph.compact()


@pytest.mark.parametrize("program, pattern, replacement, expected", [
    (lambda x: x.neg() + x.relu(), lambda a: a.neg() + a.relu(), lambda a: a.exp(), lambda x: x.exp()),
    (lambda x: (x + x.relu()).relu(), lambda a: a.relu(), lambda a: a.exp(), lambda x: (x + x.exp()).exp()),
    (lambda x, y: torch.cat([x, y]).sum(), lambda a, b: torch.cat([a, b]), lambda a, b: torch.stack([b, a]),
     lambda x, y: torch.stack([y, x]).sum()),
    (lambda x: x * 2 + x * 3, lambda a: a * 2, lambda a: a, lambda x: x + x * 3),  # the constants must be equal
    (lambda x: (x.exp(), x.exp() + 1), lambda a: a.exp() + 1, lambda a: a.expm1(), lambda x: (x.exp(), x.expm1())),
])  # fmt: skip
def test_patterns_are_replaced(program, pattern, replacement, expected):
    module = symbolic_trace(program)
    replace_pattern(module, pattern, replacement)
    module.graph.lint()
    assert module.graph.compact() == compact(expected)


def test_what_others_read_stays():
    def program(x):
        inner = x.exp()
        return inner + 1, inner

    module = symbolic_trace(program)
    assert replace_pattern(module, lambda a: a.exp() + 1, lambda a: a) == []


def test_overlapping_matches_are_replaced_once():
    module = symbolic_trace(lambda x: x.relu().relu().relu())
    assert len(replace_pattern(module, lambda a: a.relu().relu(), lambda a: a.relu())) == 1


def test_replacements_bring_their_modules():
    class Pattern(nn.Module):
        def __init__(self, act):
            super().__init__()
            self.act = act

        def forward(self, x):
            return self.act(x)

    class Net(Pattern):
        def forward(self, x):
            return self.act(x) + 1

    class Replacement(nn.Module):
        def __init__(self):
            super().__init__()
            self.other = nn.Tanh()

        def forward(self, x):
            return self.other(x)

    module = symbolic_trace(Net(nn.ReLU()))
    replace_pattern(module, Pattern(nn.ReLU()), Replacement())
    assert isinstance(module.other, nn.Tanh) and not hasattr(module, "act")
    assert torch.equal(module(torch.ones(1)), torch.ones(1).tanh() + 1)


def test_filters_literals_and_callbacks():
    module = symbolic_trace(lambda x, y: (x * 2, y * 3))
    only_y = lambda match, graph, pattern: match.placeholder_nodes[0].name == "y"
    done = replace_pattern_with_filters(
        module, lambda a: a * 7, lambda a: a.neg(), match_filters=[only_y], ignore_literals=True
    )
    assert module.graph.compact() == "x, y -> (x * 2, y.neg())" and len(done[0].replacements) == 1
    module = symbolic_trace(lambda x: x + 1)
    made = symbolic_trace(lambda a: a.exp()).graph
    replace_pattern_with_filters(module, lambda a: a + 1, replacement_callback=lambda match, graph, pattern: made)
    assert module.graph.compact() == "x -> x.exp()"


def test_the_matcher_refuses_patterns_that_say_nothing():
    with pytest.raises(ValueError, match="empty pattern"):
        SubgraphMatcher(torch.fx.Graph())
    with pytest.raises(AssertionError, match="dead code"):
        SubgraphMatcher(symbolic_trace(lambda x: (x + 1, x.exp())[1]).graph)


# ------------------------------------------------------------------------------------------------ passes


def test_parts_of_a_module_compute_the_same():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.param, self.linear = nn.Parameter(torch.ones(3, 4)), nn.Linear(4, 5)

        def forward(self, x, y):
            z = self.linear(x + self.param).clamp(min=0.0, max=1.0)
            w = self.linear(y).clamp(min=0.0, max=1.0)
            return z + w

    net, count = Net(), iter(range(100))
    module, names = symbolic_trace(net), {}
    parts = split_module(module, net, lambda node: next(count) % 3, names)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    assert torch.equal(parts(x, y), module(x, y))
    assert sorted(name for name, _ in parts.named_children()) == ["submod_0", "submod_1", "submod_2"]
    assert names == {"submod_1.linear": "linear", "submod_0.linear": "linear"}
    assert dict(parts.named_parameters())["param"] is net.param
    with pytest.raises(RuntimeError, match="cycle exists between partitions"):
        split_module(symbolic_trace(lambda x: ((x + 1) * 2) + 3), None, lambda n: n.name == "mul")


def test_parts_that_would_need_each_other_are_not_fused():
    module = symbolic_trace(lambda x: ((x + 1) * 2) - 3)
    _, add, mul, sub, _ = module.graph.nodes
    with pytest.raises(AssertionError, match="Invalid partition, found dependency cycles"):
        fuse_by_partitions(module, [{add: None, sub: None}])
    fused = fuse_by_partitions(module, [{add: None, mul: None}], always_return_tuple=True)
    assert fused(1) == 1 and len(fused.graph.find_nodes(op="call_module")) == 1


def test_order_is_restored_and_circles_are_refused():
    module = symbolic_trace(lambda x: (x + 1).relu())
    x, add, relu, _ = module.graph.nodes
    relu.append(add)
    assert [n.name for n in legalize_graph(module).graph.nodes] == ["x", "add", "relu", "output"]
    x, add, relu, _ = module.graph.nodes
    add.args = (relu, 1)
    with pytest.raises(RuntimeError, match="Input graph has cycles"):
        legalize_graph(module)


def test_shapes_are_propagated_on_real_and_on_fake_tensors():
    module = symbolic_trace(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU()))
    x = torch.ones(1, 1, 5, 5).to(memory_format=torch.channels_last)
    ShapeProp(module).propagate(x)
    (conv, relu) = module.graph.find_nodes(op="call_module")
    assert conv.meta["tensor_meta"].shape == (1, 2, 3, 3) and conv.meta["type"] is torch.Tensor
    assert relu.meta["tensor_meta"].dtype is torch.float32 and relu.meta["tensor_meta"].requires_grad


def test_pass_managers_sort_check_and_say_where_it_failed():
    order = []

    def first(module):
        order.append("first")

    def second(module):
        order.append("second")
        return PassResult(module, len(order) < 4)

    passes = [second, pass_result_wrapper(first)]
    manager = PassManager(passes, [this_before_that_pass_constraint(passes[1], second)], steps=1)
    assert manager(symbolic_trace(lambda x: x)).modified and order == ["first", "second"]
    circle = [this_before_that_pass_constraint(*passes), this_before_that_pass_constraint(*reversed(passes))]
    with pytest.raises(RuntimeError, match="Circular dependency"):
        PassManager(passes, circle)(symbolic_trace(lambda x: x))
    with pytest.raises(Exception, match="when running the 'first' pass after the following passes") as caught:
        PassManager([first])(symbolic_trace(lambda x: x))
    assert isinstance(caught.value.__cause__, TypeError)
    with pytest.raises(TypeError, match="only take in one variable"):
        manager.add_checks(lambda module, more: None)


def test_operator_support_goes_by_name_and_dtype():
    module = symbolic_trace(lambda x: (x + 1, torch.relu(x)))
    ShapeProp(module).propagate(torch.ones(1))
    _, add, relu, _ = module.graph.nodes
    floats = OperatorSupport({"torch.relu": (((torch.float32,),), {})})
    ints = OperatorSupport({"torch.relu": (((torch.int64,),), {})})
    answers = [
        each.is_node_supported({}, relu) for each in (floats, ints, chain(floats, ints), any_chain(floats, ints))
    ]
    assert answers == [True, False, False, True] and not floats.is_node_supported({}, add)
    assert not OpSupports.decline_if_input_dtype(torch.float32).is_node_supported({}, relu)


def test_batch_normalization_is_folded_into_the_layer_before():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
            self.head, self.norm, self.drop = nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(self.norm(self.head(self.features(x).mean((2, 3)))))

    net = Net()
    net(torch.randn(4, 1, 5, 5))  # so that there are statistics
    net.eval()
    fused, x = remove_dropout(fuse(net)), torch.randn(2, 1, 5, 5)
    torch.testing.assert_close(fused(x), net(x))
    assert {type(m).__name__ for m in fused.modules()} == {"GraphModule", "Module", "Conv2d", "Linear"}
    assert any(isinstance(m, nn.BatchNorm2d) for m in net.modules())


# ------------------------------------------------------------------------------------------------ ops, ahead of time


def test_make_fx_keeps_writes_and_containers():
    def program(d, factor):
        d["a"].add_(1)
        return {"o": d["a"] * factor, "n": 3}

    module = make_fx(program)({"a": torch.ones(3)}, 2.0)
    x = torch.ones(3)
    result = module({"a": x}, 2.0)
    assert x.tolist() == [2, 2, 2] and result["o"].tolist() == [4, 4, 4] and result["n"] == 3
    assert "add_ = torch_add_(d_1, 1)" in module.code


def test_make_fx_goes_below_transforms_and_decomposes():
    traced = make_fx(torch.func.vmap(lambda x: x.sin().sum()))(torch.ones(2, 3))
    assert torch.equal(traced(torch.ones(2, 3)), torch.ones(2, 3).sin().sum(1))
    table = {torch.neg: lambda x: x * -1}
    assert make_fx(lambda x: x.neg(), table)(torch.ones(1)).graph.compact() == "x_1 -> mul(x_1, -1)"


@pytest.mark.parametrize("boxed", [False, True])
def test_functions_and_modules_are_compiled_ahead_of_time(boxed, capsys):
    graphs = []

    def compiler(module, inputs):
        graphs.append(module)
        return functorch_compile.make_boxed_func(module) if boxed else module

    net = nn.Linear(3, 2)
    compiled = functorch_compile.aot_module(net, compiler)
    x = torch.randn(4, 3)
    compiled(x).sum().backward()
    assert torch.equal(net.bias.grad, torch.full((2,), 4.0)) and len(graphs) == 2
    compiled(x).sum()
    assert len(graphs) == 2
    compiled(torch.randn(5, 3))
    assert len(graphs) == 3

    cut = functorch_compile.min_cut_rematerialization_partition
    twice = functorch_compile.aot_function(lambda a, b=1: (a * b, "text"), functorch_compile.print_compile, None, cut)
    assert twice(x, b=2)[1] == "text" and torch.equal(twice(x, b=2)[0], x * 2) and torch.equal(twice(x, 3)[0], x * 3)
    assert "mul" in capsys.readouterr().out
