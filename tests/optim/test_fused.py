"""fused=True against the plain path, over awkward parameters."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.optim import fused, fused_adaptive
from minitorch_compile.optim.fused import LARGE, is_fused, move_towards

CASES = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1, "maximize": True}),
    "adamw": ("AdamW", {"lr": 0.1}),
    "adam amsgrad": ("Adam", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}),
    "adagrad": ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
}
UNSAID = {  # whose groups have no `fused`
    "rmsprop": ("RMSprop", {"weight_decay": 0.1}),
    "rmsprop momentum": ("RMSprop", {"momentum": 0.9, "maximize": True}),
    "rmsprop centered": ("RMSprop", {"centered": True}),
    "adadelta": ("Adadelta", {"weight_decay": 0.1}),
    "nadam": ("NAdam", {"weight_decay": 0.1, "maximize": True}),
    "nadamw": ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
}


def awkward_parameters():
    """Of several sizes and dtypes, one with its memory in another order, one without a gradient."""
    values = np.random.default_rng(0)
    sizes = [(), (0,), (1,), (33,), (2, 3, 4)]
    params = [torch.tensor(values.normal(size=n), dtype=torch.float32) for n in sizes]
    params += [torch.tensor(values.normal(size=(5,)), dtype=torch.float64)]
    params += [torch.tensor(values.normal(size=(3, 4)), dtype=torch.float32).t()]
    params = [p.requires_grad_() for p in params]
    grads = [torch.tensor(values.normal(size=tuple(p.shape)), dtype=p.dtype) for p in params]
    return [*params, torch.ones(2, requires_grad=True)], [*grads, None]


@pytest.mark.parametrize("name", CASES)
def test_it_gives_what_the_plain_path_gives(name):
    cls, options = CASES[name]
    (plain, grads), (native, _) = awkward_parameters(), awkward_parameters()
    optimizers = [getattr(torch.optim, cls)(plain, **options), getattr(torch.optim, cls)(native, fused=True, **options)]
    check_alike(optimizers, plain, native, grads)


@pytest.mark.parametrize("name", UNSAID)
def test_so_do_optimizers_that_are_not_told(name, monkeypatch):
    cls, options = UNSAID[name]
    (plain, grads), (native, _) = awkward_parameters(), awkward_parameters()
    monkeypatch.setattr(fused, "LARGE", 0)
    calls = []
    monkeypatch.setattr(fused_adaptive, "run", lambda *given: calls.append(given) or fused.run(*given))
    made = getattr(torch.optim, cls)
    check_alike([made(plain, foreach=False, **options), made(native, **options)], plain, native, grads)
    assert len(calls) == (0 if options.get("centered") else 4)


def check_alike(optimizers, plain, native, grads):
    """Four steps of both, and what they leave."""
    for step in range(4):
        for params, optimizer in zip((plain, native), optimizers, strict=True):
            for p, g in zip(params, grads, strict=True):
                p.grad = None if g is None else g * (1 + step)
            optimizer.step()
    for a, b in zip(plain, native, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=2e-6, atol=1e-7)
        assert a.stride() == b.stride()
    states = [optimizer.state_dict()["state"] for optimizer in optimizers]
    assert states[0].keys() == states[1].keys()
    for number in states[0]:
        for key, value in states[0][number].items():
            np.testing.assert_allclose(states[1][number][key].numpy(), value.numpy(), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_large_groups_are_stepped_so_by_default_and_small_ones_or_on_request_not(name):
    cls, options = CASES[name]

    def one_step(count, **more):
        w = torch.tensor(np.linspace(-1, 1, count), dtype=torch.float32).requires_grad_()
        w.grad = w.detach() * 2
        optimizer = getattr(torch.optim, cls)([w], **options, **more)
        optimizer.step()
        return w.detach().numpy(), is_fused(optimizer.param_groups[0], [w])

    plain, was_fused = one_step(LARGE, foreach=False)
    assert not was_fused
    native, was_fused = one_step(LARGE)
    assert was_fused
    np.testing.assert_allclose(native, plain, rtol=1e-5, atol=1e-7)
    assert not one_step(LARGE - 1)[1]


def test_the_gradient_stays_as_it_was_and_autograd_notices_the_write():
    w = torch.ones(3, requires_grad=True)
    w.grad = torch.ones(3)
    y = (w * w).sum()
    torch.optim.AdamW([w], fused=True).step()
    assert w.grad.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize("name", [*CASES, *UNSAID])
def test_a_state_of_another_model_is_refused(name, monkeypatch):
    monkeypatch.setattr(fused, "LARGE", 0)
    cls, options = {**CASES, **UNSAID}[name]
    small, large = (torch.ones(n, requires_grad=True) for n in (3, 50))
    optimizers = [getattr(torch.optim, cls)([p], **options) for p in (small, large)]
    for p in (small, large):
        p.grad = torch.ones_like(p)
    optimizers[0].step()
    optimizers[1].load_state_dict(optimizers[0].state_dict())
    if not optimizers[1].state[large]:  # SGD without momentum has no state: its gradient may be that of another size
        large.data = torch.ones(70)
    with pytest.raises(RuntimeError, match="size"):
        optimizers[1].step()
    assert large.tolist() == [1] * len(large)


def test_a_gradient_that_is_the_parameter_turned_is_only_read():
    w = torch.arange(9.0).reshape(3, 3).requires_grad_()
    w.grad = w.data.t()
    torch.optim.SGD([w], lr=1.0, fused=True).step()
    assert torch.equal(w.detach(), torch.arange(9.0).reshape(3, 3) - torch.arange(9.0).reshape(3, 3).t())


def test_averages_of_several_sizes_are_broadcast_or_refused(monkeypatch):
    monkeypatch.setattr(fused, "LARGE", 0)
    mean = torch.zeros(4, 3)
    move_towards([mean], [torch.ones(3)], 0.25)
    assert torch.equal(mean, torch.full((4, 3), 0.25))
    with pytest.raises(RuntimeError, match="size"):
        move_towards([mean], [torch.ones(2)], 0.25)


def test_other_dtypes_are_refused():
    w = torch.ones(3, dtype=torch.float16, requires_grad=True)
    w.grad = torch.ones(3, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="requires all the params to be floating point Tensors of supported dtypes"):
        torch.optim.SGD([w], fused=True).step()


def test_what_it_can_not_be_combined_with():
    w = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        torch.optim.Adam([w], fused=True, differentiable=True)
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        torch.optim.Adam([w], fused=True, foreach=True)


def test_nan_in_amsgrad_wins_as_in_the_plain_path():
    for native in (False, True):
        w = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.Adam([w], lr=0.1, amsgrad=True, fused=native)
        for g in ([float("nan"), 1.0], [1.0, 1.0]):
            w.grad = torch.tensor(g)
            optimizer.step()
        assert np.isnan(w.detach().numpy()).tolist() == [True, False]


def test_averages_of_a_large_model_move_in_one_native_call(monkeypatch):
    (plain, values), (native, _) = awkward_parameters(), awkward_parameters()
    calls, run = [], fused.run
    monkeypatch.setattr(fused, "run", lambda *given: calls.append(given) or run(*given))
    counts = [torch.tensor([3]), torch.tensor([5])]
    with torch.no_grad():
        move_towards([*plain[:-1], counts[0]], [*values[:-1], counts[1]], 0.1)
        assert not calls
        monkeypatch.setattr(fused, "LARGE", 0)
        versions = [p._version for p in native]
        move_towards(native[:-1], values[:-1], 0.1)
    assert (len(calls), counts[0].item()) == (1, 5)
    assert all(p._version > before for p, before in zip(native[:-1], versions))
    for a, b, start, value in zip(plain[:-1], native[:-1], awkward_parameters()[0], values):
        torch.testing.assert_close(a, b, rtol=2e-6, atol=1e-7)
        torch.testing.assert_close(a, start.lerp(value, 0.1), rtol=0, atol=0)
