"""A complex parameter moves as two real ones would: its real and its imaginary part."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch

RNG = np.random.default_rng(0)
START, DATA = (RNG.normal(size=(n, 2)).astype(np.float32) for n in (3, 15))

OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "weight_decay": 0.1},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "RMSprop": {"centered": True},
    "Adagrad": {"initial_accumulator_value": 0.1},
    "Rprop": {},
    "Adamax": {},
    "ASGD": {},
    "Adadelta": {},
    "NAdam": {},
    "RAdam": {},
}


def trained(name, parts_of, parameter):
    optimizer = getattr(torch.optim, name)([parameter], lr=0.05, **OPTIMIZERS[name])
    data = torch.view_as_complex(torch.tensor(DATA)).reshape(5, 3)
    for _ in range(7):
        optimizer.zero_grad()
        ((data @ parts_of(parameter)).abs() ** 2).sum().backward()
        optimizer.step()
    return parameter.detach()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_moves_as_two_real_ones(name):
    whole = trained(name, lambda w: w, torch.view_as_complex(torch.tensor(START)).requires_grad_())
    parts = trained(name, torch.view_as_complex, torch.tensor(START, requires_grad=True))
    np.testing.assert_allclose(torch.view_as_real(whole).numpy(), parts.numpy(), rtol=1e-5, atol=1e-6)


def test_lbfgs_finds_the_minimum_of_both_parts():
    """The numbers were recorded from PyTorch 2.13."""
    z = torch.tensor([1 + 2j, -0.5j, 3.0 - 1j], dtype=torch.complex128, requires_grad=True)
    optimizer = torch.optim.LBFGS([z], max_iter=2)

    def closure():
        optimizer.zero_grad()
        loss = ((z * (1 + 0.5j) - 1).abs() ** 2).sum() + (z**3).real.sum() * 0.01
        loss.backward()
        return loss

    for _ in range(8):
        optimizer.step(closure)
    expected = [0.794422 - 0.4077745j, 0.7944222 - 0.4077748j, 0.7944219 - 0.4077742j]
    np.testing.assert_allclose(z.detach().numpy(), expected, atol=1e-6)


def test_the_norm_of_complex_gradients_is_clipped():
    w = torch.view_as_complex(torch.tensor(START)).requires_grad_()
    w.grad = w.detach() * 100
    total = torch.nn.utils.clip_grad_norm_([w], 1.0)
    assert total.item() == pytest.approx(100 * np.linalg.norm(START), rel=1e-5)
    assert torch.linalg.vector_norm(w.grad).item() == pytest.approx(1, rel=1e-5)
