"""Module's contract: what is registered, how it is found, hooks, conversions. Messages are PyTorch's."""

from __future__ import annotations

import copy

import pytest

from minitorch_compile import nn, no_grad, ones, randn, tensor, zeros
from minitorch_compile.tensor import float64


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(3, 1, bias=False))
        self.scale = nn.Parameter(ones(1))
        self.register_buffer("count", zeros(1))
        self.register_buffer("scratch", zeros(1), persistent=False)

    def forward(self, x):
        return self.rest(self.first(x)) * self.scale


NAMES = ["scale", "first.weight", "first.bias", "rest.1.weight"]


class TestRegistration:
    def test_parameters_are_found_in_order(self):
        assert [name for name, _ in Net().named_parameters()] == NAMES

    def test_only_this_modules_own(self):
        assert [name for name, _ in Net().named_parameters(recurse=False)] == ["scale"]

    def test_buffers(self):
        assert [name for name, _ in Net().named_buffers()] == ["count", "scratch"]

    def test_modules_and_children(self):
        net = Net()
        assert [name for name, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
        assert [name for name, _ in net.named_children()] == ["first", "rest"]
        assert list(net.modules())[0] is net

    def test_a_shared_parameter_comes_once(self):
        net = nn.Module()
        net.a = nn.Linear(2, 2)
        net.b = net.a
        net.c = nn.Linear(2, 2)
        net.c.weight = net.a.weight
        assert [name for name, _ in net.named_parameters()] == ["a.weight", "a.bias", "c.bias"]
        assert len(list(net.modules())) == 3

    def test_a_plain_tensor_is_an_attribute_and_no_more(self):
        net = nn.Module()
        net.x = ones(1)
        assert list(net.parameters()) == []
        assert list(net.buffers()) == []

    def test_buffers_by_assignment(self):
        net = nn.Module()
        net.x = nn.Buffer(ones(1))
        net.y = nn.Buffer(ones(1), persistent=False)
        assert list(net.state_dict()) == ["x"]
        assert [name for name, _ in net.named_buffers()] == ["x", "y"]

    def test_a_buffer_may_be_assigned_a_tensor(self):
        net = Net()
        net.count = ones(1)
        assert dict(net.named_buffers())["count"].item() == 1

    def test_a_parameter_may_be_none(self):
        net = Net()
        net.scale = None
        assert "scale" not in dict(net.named_parameters())
        assert net.scale is None
        net.scale = nn.Parameter(ones(1))
        assert "scale" in dict(net.named_parameters())

    def test_an_attribute_becomes_a_parameter_and_a_parameter_a_module(self):
        net = nn.Module()
        net.x = 3
        net.x = nn.Parameter(ones(1))
        assert "x" not in net.__dict__
        net.x = nn.ReLU()
        assert list(net.parameters()) == []
        del net.x
        with pytest.raises(AttributeError, match="'Module' object has no attribute 'x'"):
            net.x

    def test_lookup_by_dotted_name(self):
        net = Net()
        assert net.get_submodule("rest.1") is net.rest[1]
        assert net.get_parameter("first.bias") is net.first.bias
        with pytest.raises(AttributeError, match="Sequential has no attribute `7`"):
            net.get_submodule("rest.7")


class TestRegistrationErrors:
    def test_assigning_before_init(self):
        class Early(nn.Module):
            def __init__(self):
                self.layer = nn.ReLU()

        with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
            Early()

    def test_a_tensor_in_place_of_a_parameter(self):
        with pytest.raises(
            TypeError, match=r"cannot assign 'Tensor' as parameter 'scale' \(torch.nn.Parameter or None"
        ):
            Net().scale = ones(1)

    def test_a_number_in_place_of_a_module(self):
        with pytest.raises(TypeError, match=r"cannot assign 'int' as child module 'first' \(torch.nn.Module or None"):
            Net().first = 3

    def test_a_number_in_place_of_a_buffer(self):
        with pytest.raises(TypeError, match="cannot assign 'int' as buffer 'count'"):
            Net().count = 3

    @pytest.mark.parametrize(
        ("name", "message"),
        [("a.b", "t contain"), ("", "t be empty string"), ("forward", "attribute 'forward' already exists")],
    )
    def test_names_that_will_not_do(self, name, message):
        with pytest.raises(KeyError, match=message):
            nn.Module().register_buffer(name, ones(1))

    def test_a_parameter_must_be_a_leaf(self):
        computed = nn.Parameter(ones(1))
        computed.grad_fn = (ones(1, requires_grad=True) * 2).grad_fn
        with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'"):
            nn.Module().register_parameter("w", computed)

    def test_a_module_without_forward(self):
        with pytest.raises(NotImplementedError, match='Module .Module. is missing the required "forward" function'):
            nn.Module()(1)


class TestSwitches:
    def test_train_and_eval_reach_every_module(self):
        net = Net()
        assert net.eval() is net
        assert not any(module.training for module in net.modules())
        net.train()
        assert all(module.training for module in net.modules())
        with pytest.raises(ValueError, match="training mode is expected to be boolean"):
            net.train(1)

    def test_requires_grad(self):
        net = Net().requires_grad_(False)
        assert not any(p.requires_grad for p in net.parameters())

    def test_zero_grad(self):
        net = Net()
        net(ones(1, 2)).sum().backward()
        net.zero_grad(set_to_none=False)
        assert all((p.grad == 0).all() for p in net.parameters())
        net.zero_grad()
        assert all(p.grad is None for p in net.parameters())


class TestConversions:
    def test_to_a_dtype_keeps_the_parameters_identity(self):
        net = Net()
        before = list(net.parameters())
        assert net.to(float64) is net
        assert all(a is b for a, b in zip(before, net.parameters(), strict=True))
        assert all(p.dtype is float64 for p in net.parameters())
        assert net.count.dtype is float64
        assert net(ones(1, 2, dtype=float64)).dtype is float64

    def test_integer_buffers_stay_integers(self):
        layer = nn.BatchNorm1d(2).double()
        assert layer.running_mean.dtype is float64
        assert not layer.num_batches_tracked.is_floating_point()

    def test_gradients_are_converted_too(self):
        net = Net()
        net(ones(1, 2)).sum().backward()
        assert net.double().scale.grad.dtype is float64

    def test_apply_visits_children_first(self):
        visited = []
        Net().apply(lambda module: visited.append(type(module).__name__))
        assert visited == ["Linear", "ReLU", "Linear", "Sequential", "Net"]

    def test_a_deep_copy_shares_nothing(self):
        net = Net()
        other = copy.deepcopy(net)
        with no_grad():
            other.first.weight.fill_(0)
        assert (net.first.weight != 0).any()
        assert isinstance(other.first.weight, nn.Parameter)
        assert len(list(other.parameters())) == 4


class TestHooks:
    def test_before_forward(self):
        net = nn.Identity()
        handle = net.register_forward_pre_hook(lambda module, args: args[0] + 1)
        assert net(ones(1)).item() == 2
        handle.remove()
        assert net(ones(1)).item() == 1

    def test_after_forward(self):
        net = nn.Identity()
        seen = []
        net.register_forward_hook(lambda module, args, output: seen.append((module, args[0].item(), output.item())))
        net(ones(1))
        assert seen == [(net, 1, 1)]

    def test_hooks_run_in_order_and_prepended_ones_first(self):
        net = nn.Identity()
        net.register_forward_hook(lambda module, args, output: output + 1)
        net.register_forward_hook(lambda module, args, output: output * 10)
        net.register_forward_hook(lambda module, args, output: output + 5, prepend=True)
        assert net(ones(1)).item() == (1 + 5 + 1) * 10

    def test_keyword_arguments(self):
        class Scaled(nn.Module):
            def forward(self, x, by=1):
                return x * by

        net = Scaled()
        net.register_forward_pre_hook(lambda module, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True)
        assert net(ones(1), by=2).item() == 3
        net.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
        with pytest.raises(RuntimeError, match="must return None or a tuple of"):
            net(ones(1), by=2)

    def test_calling_a_module_without_hooks_is_calling_forward(self):
        net = Net()
        x = randn(4, 2)
        assert (net(x) == net.forward(x)).all()


class TestRepr:
    def test_as_pytorch_prints_it(self):
        assert repr(Net()) == (
            "Net(\n"
            "  (first): Linear(in_features=2, out_features=3, bias=True)\n"
            "  (rest): Sequential(\n"
            "    (0): ReLU()\n"
            "    (1): Linear(in_features=3, out_features=1, bias=False)\n"
            "  )\n"
            ")"
        )

    def test_parameters(self):
        assert repr(nn.Parameter(tensor([1.0]))) == "Parameter containing:\ntensor([1.], requires_grad=True)"
