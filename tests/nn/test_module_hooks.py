"""Hooks around a module's call, its gradients and its state; Module.compile(). As in PyTorch."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import pytest

from minitorch_compile import nn, ones, tensor
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import CompileCounter, eager


class Double(nn.Module):
    def forward(self, x, y=None):
        return x * 2


def gradient(module, x):
    x = x.clone().requires_grad_()
    module(x).sum().backward()
    return x.grad.tolist()


class TestForward:
    def test_a_hook_that_always_runs_sees_a_failure_too(self):
        class Failing(nn.Module):
            def forward(self, x):
                raise ValueError("no")

        seen, module = [], Failing()
        module.register_forward_hook(lambda module, args, output: seen.append(("always", output)), always_call=True)
        module.register_forward_hook(lambda module, args, output: seen.append("only without failure"))
        with pytest.raises(ValueError, match="no"):
            module(1)
        assert seen == [("always", None)]

    def test_hooks_by_pytorchs_names_can_be_cleared(self):
        module = Double()
        module.register_forward_hook(lambda module, args, output: output + 1)
        assert len(module._forward_hooks) == 1
        module._forward_hooks.clear()
        assert module(ones(1)).item() == 2
        module.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        module._forward_pre_hooks = OrderedDict()
        assert module(ones(1)).item() == 2

    def test_a_hook_is_found_by_its_class(self):
        class Hook:
            def __call__(self, module, args, kwargs, output):
                return output + kwargs["y"]

        module = Double()
        handle = module.register_forward_hook(Hook(), with_kwargs=True, always_call=True)
        assert [type(hook) for hook in module._forward_hooks.values()] == [Hook]
        assert list(module._forward_hooks_with_kwargs) == list(module._forward_hooks_always_called) == [handle.id]
        assert module(ones(1), y=3).item() == 5
        handle.remove()
        assert not (module._forward_hooks or module._forward_hooks_with_kwargs or module._forward_hooks_always_called)

    def test_prepended_hooks_run_first(self):
        module, order = Double(), []
        for name, first in (("a", False), ("b", True), ("c", False), ("d", True)):
            module.register_forward_pre_hook(lambda module, args, name=name: order.append(name), prepend=first)
        module(ones(1))
        assert order == ["d", "b", "a", "c"]

    def test_a_module_that_never_called_init_can_be_called(self):
        class Bare(nn.Module):
            def __init__(self):
                self.factor = 3

            def forward(self, x):
                return x * self.factor

        assert Bare()(2) == 6


class TestBackward:
    def test_what_a_hook_sees_and_when(self):
        seen, layer = [], nn.Linear(2, 3)
        layer.register_full_backward_pre_hook(lambda module, grad_output: seen.append(("before", *shapes(grad_output))))
        layer.register_full_backward_hook(lambda module, gi, go: seen.append(("after", *shapes(gi), *shapes(go))))
        gradient(layer, ones(4, 2))
        assert seen == [("before", (4, 3)), ("after", (4, 2), (4, 3))]

    def test_a_hook_may_replace_the_gradient(self):
        module = Double()
        handle = module.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 10,))
        assert gradient(module, ones(1)) == [20]
        module.register_full_backward_pre_hook(lambda module, grad_output: grad_output[0] + 1)
        assert gradient(module, ones(1)) == [40]
        handle.remove()
        assert gradient(module, ones(1)) == [4]

    def test_arguments_without_gradient_are_none(self):
        seen, module = [], Double()
        module.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
        module(ones(1, requires_grad=True), ones(1)).sum().backward()
        assert seen[0][0].item() == 2 and seen[0][1] is None

    def test_without_inputs_that_require_grad(self):
        seen, layer = [], nn.Linear(2, 1)
        layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
        with pytest.warns(UserWarning, match="no inputs require gradients"):
            layer(ones(1, 2)).sum().backward()
        assert seen == [(None,)]

    def test_a_wrong_number_of_gradients(self):
        module = Double()
        module.register_full_backward_hook(lambda module, grad_input, grad_output: (None, None))
        with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
            gradient(module, ones(1))

    def test_a_compiled_module_with_backward_hooks_does_what_the_plain_one_does(self):
        model = nn.Sequential(nn.Linear(2, 2), Double())
        model[1].register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 10,))
        assert gradient(optimize(model, eager), ones(1, 2)) == gradient(model, ones(1, 2))


def shapes(gradients):
    return [tuple(g.shape) for g in gradients]


class TestOlderBackward:
    """`register_backward_hook`: PyTorch's calls with the same layers are what is expected."""

    @pytest.mark.parametrize(
        "layer, sizes, grad_input, grad_output",
        [
            (nn.ReLU(), (3, 2), [(3, 2)], [(3, 2)]),
            (nn.Linear(2, 4), (3, 2), [(4,), (3, 2), (2, 4)], [(3, 4)]),
            (nn.Linear(2, 4, bias=False), (3, 2), [(3, 2), (2, 4)], [(3, 4)]),
            (nn.Conv2d(1, 2, 2), (1, 1, 3, 3), [(1, 1, 3, 3), (2, 1, 2, 2), (2,)], [(1, 2, 2, 2)]),
            (nn.Sequential(nn.Linear(2, 4), nn.ReLU()), (3, 2), [(3, 4)], [(3, 4)]),
        ],
    )
    def test_it_gets_the_gradients_of_the_last_node(self, layer, sizes, grad_input, grad_output):
        calls = []
        handle = layer.register_backward_hook(lambda module, *grads: calls.append((module, *grads)))
        assert list(layer._backward_hooks.values()) and layer._is_full_backward_hook is False
        with pytest.warns(FutureWarning, match="forward contains multiple autograd Nodes"):
            layer(ones(sizes, requires_grad=True)).sum().backward()
        ((module, inputs, outputs),) = calls
        assert module is layer
        assert [x.shape for x in inputs] == grad_input and [x.shape for x in outputs] == grad_output
        handle.remove()
        layer(ones(sizes, requires_grad=True)).sum().backward()
        assert len(calls) == 1

    def test_of_several_results_the_first_counts(self):
        class Two(nn.Module):
            def forward(self, x):
                return {"names": "", "sum": x.sum()}, x.square().mean()

        calls, module, x = [], Two(), ones(2, requires_grad=True)
        module.register_backward_hook(lambda *call: calls.append(call))
        with pytest.warns(FutureWarning, match="does not return a single Tensor or a tuple"):
            first, second = module(x)
        second.backward()
        assert not calls
        first["sum"].backward()
        assert len(calls) == 1

    def test_what_it_returns_becomes_the_gradients(self):
        layer, x = nn.ReLU(), ones(2, requires_grad=True)
        layer.register_backward_hook(lambda module, inputs, outputs: (inputs[0] * 3,))
        layer(x * 1).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]

    def test_nothing_happens_where_nothing_is_recorded(self):
        layer = nn.Identity()
        layer.register_backward_hook(lambda *call: pytest.fail("called"))
        layer(ones(2))
        layer(ones(2, requires_grad=True)).sum().backward()

    def test_a_module_has_hooks_of_one_kind(self):
        older, full = nn.ReLU(), nn.ReLU()
        older.register_backward_hook(print)
        full.register_full_backward_hook(print)
        for register in (older.register_full_backward_hook, full.register_backward_hook):
            with pytest.raises(RuntimeError, match="Cannot use both .* on a single Module"):
                register(print)


class TestState:
    def test_saving(self):
        model, seen = nn.Sequential(nn.Linear(1, 1, bias=False)), []
        model.register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append((prefix, keep_vars)))
        model.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.update({prefix + "new": 1}))
        assert list(model.state_dict(prefix="p.")) == ["p.0.weight", "p.new"]
        assert seen == [("p.", False)]

    def test_loading(self):
        layer, seen = nn.Linear(1, 1), []
        layer.register_load_state_dict_pre_hook(lambda module, state, prefix, *rest: seen.append((module, prefix)))
        layer.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
        layer.load_state_dict({"weight": ones(1, 1)})
        assert seen == [(layer, "")]
        renaming = nn.Linear(1, 1, bias=False)
        renaming._register_load_state_dict_pre_hook(lambda state, prefix, *rest: state.update(weight=state.pop("w")))
        old = {"w": ones(1, 1)}
        renaming.load_state_dict(old)
        assert renaming.weight.item() == 1 and list(old) == ["w"]

    def test_extra_state(self):
        class Counting(nn.Module):
            count = 3

            def get_extra_state(self):
                return {"count": self.count}

            def set_extra_state(self, state):
                self.count = state["count"]

        one, two = nn.Sequential(Counting()), nn.Sequential(Counting())
        one[0].count = 5
        assert list(one.state_dict()) == ["0._extra_state"]
        two.load_state_dict(one.state_dict())
        assert two[0].count == 5
        with pytest.raises(RuntimeError, match='Missing key.s. in state_dict: "0._extra_state"'):
            two.load_state_dict({})

    def test_versions_are_saved_with_every_path(self):
        metadata = nn.Sequential(nn.Linear(1, 1)).state_dict()._metadata
        assert metadata == OrderedDict({"": {"version": 1}, "0": {"version": 1}})

    def test_assigned_tensors_are_taken_themselves(self):
        layer, weight = nn.Linear(1, 1, bias=False).requires_grad_(False), ones(1, 1)
        layer.load_state_dict({"weight": weight}, assign=True)
        assert layer.weight.data_ptr() == weight.data_ptr()
        assert isinstance(layer.weight, nn.Parameter) and not layer.weight.requires_grad


class TestByName:
    def test_setting_and_finding(self):
        model = nn.Sequential(nn.Sequential(nn.ReLU()), nn.BatchNorm1d(1))
        model.set_submodule("0.0", nn.Tanh())
        assert isinstance(model[0][0], nn.Tanh)
        assert model.get_buffer("1.running_mean") is model[1].running_mean
        with pytest.raises(AttributeError, match="`weight` is not a buffer"):
            model.get_buffer("1.weight")
        with pytest.raises(AttributeError, match="`running_mean` is not an nn.Module"):
            model.get_submodule("1.running_mean")
        with pytest.raises(AttributeError, match="`0` is not an nn.Parameter"):
            model.get_parameter("0")
        with pytest.raises(ValueError, match="without a target name"):
            model.set_submodule("", nn.ReLU())


class TestCompile:
    def test_a_module_compiled_in_place(self):
        model, x, counter = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), ones(1, 2), CompileCounter()
        expected = model(x).tolist()
        model.compile(backend=counter)
        assert model(x).tolist() == expected and model(x).tolist() == expected
        assert counter.frame_count == 1

    def test_inside_another_compiled_module_it_is_part_of_its_graph(self):
        model, x, counter = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), ones(1, 2), CompileCounter()
        model[0].compile(backend="eager")
        assert (optimize(model, counter)(x) == model(x)).all()
        assert counter.frame_count == 1

    def test_copies_are_not_compiled(self):
        model = nn.Linear(1, 1)
        model.compile(backend="eager")
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert (other(tensor([2.0])) == model(tensor([2.0]))).all()
            assert "_call_impl" not in other.__dict__
