"""Hooks on all modules at once, eager and compiled. What is seen was recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

from minitorch_compile import nn, ones, tensor, zeros
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.nn import global_hooks
from minitorch_compile.nn import module as hooks


@pytest.fixture(autouse=True)
def nothing_left_behind(monkeypatch):
    for flag, before in (("in_calls", False), ("at_registrations", False)):
        monkeypatch.setattr(global_hooks, flag, before)
    yield
    global_hooks.EVERY_MODULE.is_full = None
    in_calls = [hooks for hooks in vars(global_hooks.EVERY_MODULE).values() if isinstance(hooks, dict)]
    for registered in (*in_calls, *global_hooks.ON_REGISTRATION.values()):
        registered.clear()


class Failing(nn.Module):
    def forward(self, x):
        raise ValueError("no")


class Sum(nn.Module):
    def forward(self, x, y=0):
        return x + y


class TestCalls:
    def test_they_come_before_a_modules_own_and_see_what_the_earlier_ones_made(self):
        seen, module = [], Sum()
        hooks.register_module_forward_pre_hook(lambda module, args: (seen.append(args), (args[0] + 1,))[1])
        module.register_forward_pre_hook(lambda module, args: (seen.append(args), (args[0] + 1,))[1])
        module.register_forward_hook(lambda module, args, output: seen.append((args, output)))
        hooks.register_module_forward_hook(
            lambda module, args, kwargs, output: (seen.append((args, kwargs, output)), output * 10)[1], with_kwargs=True
        )
        assert module(1, y=2) == 50
        assert seen == [(1,), (2,), ((3,), {"y": 2}, 5), ((3,), 50)]

    def test_one_that_is_always_called_sees_the_arguments_as_they_had_become(self):
        seen, module = [], Failing()
        module.register_forward_pre_hook(lambda module, args: args[0] + 1)
        hooks.register_module_forward_hook(lambda *seen_by_hook: seen.append(seen_by_hook[1:]), always_call=True)
        with pytest.raises(ValueError, match="no"):
            module(1)
        assert seen == [((2,), None)]

    def test_one_that_is_always_called_sees_the_output_when_another_hook_failed(self):
        seen, module = [], Sum()
        module.register_forward_hook(lambda module, args, output: 1 / 0)
        module.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
        with pytest.raises(ZeroDivisionError):
            module(1, y=2)
        assert seen == [3]

    def test_gradients_pass_by_them_first(self):
        seen, layer = [], nn.Tanh()
        hooks.register_module_full_backward_pre_hook(lambda module, grads: seen.append(("before", grads[0].tolist())))
        hooks.register_module_full_backward_hook(lambda module, inputs, outputs: seen.append(inputs[0].tolist()))
        layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append("own"))
        layer(zeros(2, requires_grad=True)).sum().backward()
        assert seen == [("before", [1.0, 1.0]), [1.0, 1.0], "own"]

    def test_the_two_kinds_of_backward_hooks_exclude_each_other(self):
        hooks.register_module_backward_hook(print)
        with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
            hooks.register_module_full_backward_hook(print)

    def test_pytorchs_names_tell_whether_there_are_any(self):
        assert not hooks._has_any_global_hook()
        handle = hooks.register_module_forward_hook(print)
        assert list(hooks._global_forward_hooks.values()) == [print] and hooks._has_any_global_hook()
        handle.remove()
        assert not hooks._has_any_global_hook()


class TestRegistrations:
    def test_what_a_module_is_given_is_shown_with_its_name(self):
        seen = []
        for register in (
            hooks.register_module_parameter_registration_hook,
            hooks.register_module_module_registration_hook,
            hooks.register_module_buffer_registration_hook,
        ):
            register(lambda module, name, value: seen.append((type(module).__name__, name, type(value).__name__)))
        model = nn.Sequential(nn.Linear(2, 3, bias=False))
        model[0].weight = None
        model.register_buffer("steps", zeros(1))
        model.steps = None
        model.steps = ones(1)
        model.add_module("head", None)
        assert seen == [
            ("Linear", "weight", "Parameter"),
            ("Sequential", "0", "Linear"),
            ("Sequential", "steps", "Tensor"),
            ("Sequential", "steps", "NoneType"),
            ("Sequential", "steps", "Tensor"),
            ("Sequential", "head", "NoneType"),
        ]

    def test_what_a_hook_returns_takes_the_place(self):
        hooks.register_module_module_registration_hook(
            lambda module, name, child: nn.Tanh() if isinstance(child, nn.ReLU) else None
        )
        assert [type(child) for child in nn.Sequential(nn.ReLU(), nn.GELU())] == [nn.Tanh, nn.GELU]


class TestCompiled:
    def test_they_are_part_of_the_graph(self):
        counter, net = CompileCounter(), nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        hooks.register_module_forward_hook(lambda module, args, output: output * 2)

        def function(x):
            return net(x) + 1

        compiled = optimize(function, backend=counter)
        assert compiled(ones(1, 2)).equal(function(ones(1, 2)))
        assert (counter.frame_count, counter.op_count) == (1, 6)

    @pytest.mark.parametrize("whole", [True, False], ids=["module", "function"])
    def test_compiled_code_is_compiled_anew_when_one_comes_or_goes(self, whole):
        # PyTorch's compiled code goes on without a hook that came later, and calls it for the wrapper: stale.
        counter, net = CompileCounter(), nn.Sequential(nn.Identity(), nn.ReLU())
        compiled = optimize(net if whole else lambda x: net(x), backend=counter)
        assert compiled(tensor([1.0])).item() == 1
        handle = hooks.register_module_forward_hook(lambda module, args, output: output * 2)
        assert (compiled(tensor([1.0])).item(), counter.frame_count) == (8, 2)
        handle.remove()
        assert compiled(tensor([1.0])).item() == 1
