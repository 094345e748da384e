"""PyTorch's functions for one step give what its optimizers give, written into their arguments."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.optim import adadelta, adagrad, adam, adamax, asgd, nadam, radam, rmsprop, rprop, sgd

BETAS = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01, "lr": 0.1}
ADAM = {**BETAS, "amsgrad": True, "maximize": False}
SQUARES = ("exp_avg", "exp_avg_sq")
# The function, its optimizer with options, the lists of states in the function's order, and its keyword arguments.
FORMS: list[tuple[Any, Any, dict[str, Any], tuple[str, ...], dict[str, Any]]] = [
    (
        adam.adam,
        torch.optim.Adam,
        {"weight_decay": 0.01, "amsgrad": True, "lr": 0.1},
        (*SQUARES, "max_exp_avg_sq"),
        ADAM,
    ),
    (adam.adamw, torch.optim.AdamW, {"amsgrad": True, "lr": 0.1}, (*SQUARES, "max_exp_avg_sq"), ADAM),
    (adamax.adamax, torch.optim.Adamax, {"lr": 0.1, "weight_decay": 0.01}, ("exp_avg", "exp_inf"), BETAS),
    (
        nadam.nadam,
        torch.optim.NAdam,
        {"lr": 0.1, "weight_decay": 0.01},
        (*SQUARES, "mu_product"),
        {**BETAS, "momentum_decay": 4e-3},
    ),
    (radam.radam, torch.optim.RAdam, {"lr": 0.1, "weight_decay": 0.01}, SQUARES, BETAS),
    (
        adagrad.adagrad,
        torch.optim.Adagrad,
        {"lr": 0.1},
        ("sum",),
        {"lr": 0.1, "weight_decay": 0, "lr_decay": 0, "eps": 1e-10, "maximize": False},
    ),
    (
        adadelta.adadelta,
        torch.optim.Adadelta,
        {},
        ("square_avg", "acc_delta"),
        {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0, "maximize": False},
    ),
    (
        rmsprop.rmsprop,
        torch.optim.RMSprop,
        {"momentum": 0.5, "centered": True},
        ("square_avg", "grad_avg", "momentum_buffer"),
        {"lr": 0.01, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0.5, "centered": True},
    ),
    (
        asgd.asgd,
        torch.optim.ASGD,
        {},
        ("ax", "mu", "eta"),
        {"lambd": 1e-4, "lr": 0.01, "t0": 1e6, "alpha": 0.75, "weight_decay": 0},
    ),
    (
        rprop.rprop,
        torch.optim.Rprop,
        {},
        ("prev", "step_size"),
        {"step_size_min": 1e-6, "step_size_max": 50, "etaminus": 0.5, "etaplus": 1.2},
    ),
]


@pytest.mark.parametrize(("function", "kind", "options", "states", "keywords"), FORMS)
def test_a_function_steps_as_its_optimizer(function, kind, options, states, keywords):
    w = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = kind([w], **options)
    gradients = [torch.tensor([0.5, -1.0]), torch.tensor([-2.0, 0.25])]
    w.grad = gradients[0]
    optimizer.step()  # from here on both have the same state
    p = w.detach().clone()
    lists = [[optimizer.state[w][name].clone()] for name in (*states, "step")]
    w.grad = gradients[1]
    optimizer.step()
    function([p], [gradients[1]], *lists, **keywords)
    assert torch.equal(p, w)
    for name, (written,) in zip((*states, "step"), lists, strict=True):
        assert torch.equal(written, optimizer.state[w][name])


def test_the_first_buffer_of_sgd_is_put_in_its_list():
    w, gradient, buffers = torch.tensor([1.0]), torch.tensor([2.0]), [None]
    options = {"weight_decay": 0.0, "momentum": 0.9, "dampening": 0.0, "nesterov": False, "maximize": False}
    for _ in range(2):
        sgd.sgd([w], [gradient], buffers, lr=0.1, **options)
    assert buffers[0] is not gradient
    assert (w.item(), buffers[0].item()) == (pytest.approx(0.42), pytest.approx(3.8))  # PyTorch 2.13's


def test_a_step_count_that_is_a_number_is_refused():
    x = torch.zeros(1)
    with pytest.raises(RuntimeError, match="list of singleton tensors"):
        adagrad.adagrad([x], [x], [x], [3], lr=0.1, weight_decay=0, lr_decay=0, eps=1e-10, maximize=False)


def test_what_only_fused_steps_take_is_refused():
    x = torch.zeros(1)
    options = {"weight_decay": 0, "momentum": 0, "dampening": 0, "nesterov": False, "maximize": False}
    with pytest.raises(AssertionError, match="grad_scale"):
        sgd.sgd([x], [x], [None], grad_scale=x, lr=0.1, **options)
