"""What all optimizers share: groups, names, hooks, saving and loading, copies."""

from __future__ import annotations

import copy
import pickle

import pytest

import minitorch_compile as torch
from minitorch_compile import nn, optim
from minitorch_compile.optim.optimizer_hooks import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


def stepped(cls=optim.AdamW, **options):
    w = nn.Parameter(torch.ones(2))
    optimizer = cls([w], lr=0.1, **options)
    w.grad = torch.ones(2)
    optimizer.step()
    return w, optimizer


class TestGroups:
    def test_a_group_s_options_come_first_and_defaults_fill_in(self):
        w = nn.Parameter(torch.ones(2))
        optimizer = optim.SGD([{"params": w, "lr": 0.5, "mine": "kept"}], lr=0.1, momentum=0.9)
        group = optimizer.param_groups[0]
        assert (group["lr"], group["momentum"], group["mine"]) == (0.5, 0.9, "kept")

    def test_they_are_printed_apart(self):
        first, second = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
        lines = repr(optim.SGD([{"params": [first]}, {"params": [second], "lr": 0.5}], lr=0.1)).splitlines()
        assert lines[:2] == ["SGD (", "Parameter Group 0"]
        assert lines[lines.index("Parameter Group 1") - 1] == ""
        assert lines[-2:] == ["    weight_decay: 0", ")"]

    def test_named_parameters_leave_their_names(self):
        layer = nn.Linear(2, 2)
        optimizer = optim.SGD(layer.named_parameters(), lr=0.1)
        assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
        with pytest.raises(ValueError, match="Some param names are missing"):
            optim.SGD([("weight", layer.weight), layer.bias], lr=0.1)

    def test_a_set_has_no_order(self):
        with pytest.raises(TypeError, match="ordered collections"):
            optim.SGD([{"params": {nn.Parameter(torch.ones(1))}}], lr=0.1)

    def test_zeroing_in_place(self):
        w, optimizer = stepped()
        g = w.grad
        optimizer.zero_grad(set_to_none=False)
        assert w.grad is g
        assert g.tolist() == [0, 0]
        optimizer.zero_grad()
        assert w.grad is None


class TestSaving:
    def test_loaded_state_takes_the_parameter_s_dtype_but_the_step_count_does_not(self):
        _, optimizer = stepped()
        w = nn.Parameter(torch.ones(2, dtype=torch.float64))
        other = optim.AdamW([w])
        other.load_state_dict(optimizer.state_dict())
        assert other.state[w]["exp_avg"].dtype is torch.float64
        assert other.state[w]["step"].dtype is torch.float32
        assert other.param_groups[0]["lr"] == 0.1

    def test_loading_copies(self):
        w, optimizer = stepped()
        other = optim.AdamW([nn.Parameter(torch.ones(2))])
        other.load_state_dict(optimizer.state_dict())
        w.grad = torch.ones(2)
        optimizer.step()
        assert next(iter(other.state.values()))["step"].item() == 1

    def test_options_that_an_old_state_dict_lacks_are_the_defaults(self):
        w, optimizer = stepped()
        saved = optimizer.state_dict()
        saved["state"][0]["step"] = 1  # a number, before PyTorch 1.12
        for key in ("fused", "foreach", "decoupled_weight_decay"):
            del saved["param_groups"][0][key]
        optimizer.load_state_dict(saved)
        assert optimizer.param_groups[0]["decoupled_weight_decay"] is True
        optimizer.step()
        assert optimizer.state[w]["step"].item() == 2

    @pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
    def test_copies_go_on_by_themselves(self, duplicate):
        w, optimizer = stepped()
        other = duplicate(optimizer)
        (v,) = other.param_groups[0]["params"]
        v.grad = torch.ones(2)
        other.step()
        assert w.tolist() == pytest.approx([0.899, 0.899])
        assert v.tolist() == pytest.approx([0.7981, 0.7981], abs=1e-4)
        assert other.state[v]["step"].item() == 2


class TestHooks:
    def test_around_a_step(self):
        w, optimizer = stepped()
        log = []
        handles = [
            register_optimizer_step_pre_hook(lambda *_: log.append("all before")),
            register_optimizer_step_post_hook(lambda *_: log.append("all after")),
            optimizer.register_step_pre_hook(lambda *_: log.append("before")),
            optimizer.register_step_post_hook(lambda *_: log.append("after")),
        ]
        optimizer.step()
        assert log == ["all before", "before", "after", "all after"]
        for handle in handles:
            handle.remove()
        optimizer.step()
        assert len(log) == 4

    def test_a_hook_before_may_replace_the_closure(self):
        _, optimizer = stepped()
        optimizer.register_step_pre_hook(lambda o, args, kwargs: ((lambda: 7,), {}))
        assert optimizer.step() == 7

    def test_a_subclass_s_own_step_has_them_too(self):
        w = nn.Parameter(torch.tensor([3.0]))
        optimizer = optim.LBFGS([w])
        log = []
        optimizer.register_step_post_hook(lambda *_: log.append(1))

        def closure():
            optimizer.zero_grad()
            loss = (w**2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        assert log == [1]

    def test_around_saving_and_loading(self):
        _, optimizer = stepped()
        optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
        saved = optimizer.state_dict()
        assert saved["extra"] == 1
        seen = []
        optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append("extra" in state))
        optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
        optimizer.load_state_dict(saved)
        assert seen == [True, "loaded"]


def test_a_differentiable_step_is_part_of_the_graph():
    start = torch.tensor([1.0], requires_grad=True)
    w = start * 1
    w.retain_grad()
    rate = torch.tensor(0.1, requires_grad=True)
    optimizer = optim.SGD([w], lr=rate, differentiable=True)
    w.grad = torch.tensor([2.0])
    optimizer.step()
    w.sum().backward()
    assert rate.grad.item() == -2
    assert start.grad.item() == 1


def test_a_rate_that_is_a_tensor():
    rate = torch.tensor(0.5)
    w, optimizer = stepped(optim.SGD)
    optimizer.param_groups[0]["lr"] = rate
    optimizer.step()
    assert w.tolist() == pytest.approx([0.4, 0.4])
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        optim.SGD([w], lr=torch.ones(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: optim.RMSprop(p, alpha=-1), "Invalid alpha value: -1"),
        (lambda p: optim.Adagrad(p, lr_decay=-1), "Invalid lr_decay value: -1"),
        (lambda p: optim.Adadelta(p, rho=2), "Invalid rho value: 2"),
        (lambda p: optim.Adamax(p, betas=(1.0, 0.9)), "Invalid beta parameter at index 0: 1.0"),
        (lambda p: optim.NAdam(p, momentum_decay=-1), "Invalid momentum_decay value: -1"),
        (lambda p: optim.RAdam(p, eps=-1), "Invalid epsilon value: -1"),
        (lambda p: optim.Rprop(p, etas=(0.5, 0.9)), "Invalid eta values: 0.5, 0.9"),
        (lambda p: optim.LBFGS(p, lr=-1), "Invalid learning rate: -1"),
        (lambda p: optim.LBFGS([{"params": p}, {"params": [torch.ones(1)]}]), "doesn't support per-parameter options"),
    ],
)
def test_options_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make([nn.Parameter(torch.ones(1))])


def test_lbfgs_needs_a_closure():
    with pytest.raises(TypeError, match="closure"):
        optim.LBFGS([nn.Parameter(torch.ones(1))]).step()


def test_an_optimizer_that_only_passes_steps_on_has_no_hooks_of_its_own() -> None:
    class Wrapping(optim.Optimizer):
        def __init__(self, optimizer: optim.Optimizer) -> None:  # as libraries do it: without super().__init__()
            self.optimizer = optimizer

        def step(self, closure: object = None) -> None:
            self.optimizer.step()

    log: list[str] = []
    p = nn.Parameter(torch.ones(1))
    p.grad = torch.ones(1)
    handle = register_optimizer_step_post_hook(lambda optimizer, *_: log.append(type(optimizer).__name__))
    try:
        Wrapping(optim.SGD([p], lr=0.5)).step()
    finally:
        handle.remove()
    assert (p.tolist(), log) == ([0.5], ["SGD"])  # PyTorch's answer


@pytest.mark.parametrize("size", [3, 1 << 17], ids=["small", "native"])
@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [("RMSprop", "momentum", 0.9), ("RMSprop", "centered", True), ("Adam", "amsgrad", True)],
)
def test_an_option_that_needs_a_state_can_not_be_switched_on_later(kind, option, value, size):
    parameter = torch.nn.Parameter(torch.ones(size))
    optimizer = getattr(torch.optim, kind)([parameter])
    parameter.grad = torch.ones(size)
    optimizer.step()
    optimizer.param_groups[0][option] = value
    before = parameter.detach().clone()
    with pytest.raises(KeyError, match=f"'{option}' was off"):
        optimizer.step()
    assert torch.equal(parameter, before)
