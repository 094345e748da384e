"""Checkpointing: the gradients are those without it, and less is kept."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.nn import functional as F
from minitorch_compile.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


def assert_close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5)


BOTH = pytest.mark.parametrize("use_reentrant", [True, False])


def gradients(function, *parameters):
    x = torch.tensor([[0.5, -1.0]], requires_grad=True)
    for p in parameters:
        p.grad = None
    torch.manual_seed(0)
    function(x).sum().backward()
    return [g.grad.clone() for g in (x, *parameters)]


@BOTH
@pytest.mark.parametrize("probability", [0.0, 0.5])
def test_gradients_are_the_same_also_through_dropout(use_reentrant, probability):
    layer = nn.Linear(2, 3)

    def block(x):
        return F.dropout(torch.tanh(layer(x)), probability, True).exp()

    plain = gradients(block, *layer.parameters())
    saved = gradients(lambda x: checkpoint(block, x, use_reentrant=use_reentrant), *layer.parameters())
    for a, b in zip(plain, saved, strict=True):
        assert_close(a, b)


@BOTH
def test_a_sequential_in_stretches(use_reentrant):
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    plain = gradients(model, *model.parameters())
    saved = gradients(lambda x: checkpoint_sequential(model, 2, x, use_reentrant=use_reentrant), *model.parameters())
    for a, b in zip(plain, saved, strict=True):
        assert_close(a, b)


def test_nested_and_repeated_backwards():
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def inner(z):
        return z.exp().sin()

    y = checkpoint(lambda q: checkpoint(inner, q * q, use_reentrant=False).cos(), x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    once = x.grad.clone()
    y.sum().backward()
    assert_close(x.grad, 2 * once)
    x.grad = None
    inner(x * x).cos().sum().backward()
    assert_close(x.grad, once)


def test_keyword_arguments_and_structures_go_through():
    x = torch.tensor([1.0], requires_grad=True)
    y = checkpoint(lambda pair, scale: pair["x"].exp() * scale, {"x": x}, scale=2.0, use_reentrant=False)
    y.backward()
    assert_close(x.grad, y.detach())


def test_computing_again_stops_early():
    steps = []

    def block(x):
        y = x.exp()
        steps.append("saved")
        z = y.sin()
        steps.append("after")
        return z + 0

    x = torch.tensor([1.0], requires_grad=True)
    checkpoint(block, x, use_reentrant=False).backward()
    assert steps == ["saved", "after", "saved"]


def test_a_function_that_changes_its_mind_is_noticed():
    calls = []

    def block(x):
        calls.append(1)
        return (x if len(calls) == 1 else x[:1]).exp()

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(CheckpointError, match="different metadata"):
        checkpoint(block, x, use_reentrant=False).sum().backward()


def test_which_variant_must_be_said():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.exp, x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(torch.exp, torch.ones(2), use_reentrant=True)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        checkpoint(torch.exp, x, use_reentrant=True, scale=2)


@BOTH
def test_a_compiled_program_that_checkpoints(use_reentrant):
    layer = nn.Linear(2, 2)

    def program(x):
        return checkpoint(lambda a: torch.tanh(layer(a)) * a, x, use_reentrant=use_reentrant) * 2

    plain = gradients(program, *layer.parameters())
    compiled = gradients(torch.compile(program, backend="eager"), *layer.parameters())
    for a, b in zip(plain, compiled, strict=True):
        assert_close(a, b)
