"""Optimizers and schedules over 20 steps, and the layout of their state dicts: as recorded from PyTorch 2.13."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.optim import swa_utils
from tests.optim import programs

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
NOT_SAVED = {"al"}  # scratch memory of PyTorch's LBFGS


@pytest.mark.parametrize("name", programs.OPTIMIZERS)
def test_twenty_steps_in_float64(name):
    seen, optimizer = programs.run_optimizer(torch, *programs.OPTIMIZERS[name])
    # NAdam's product of momenta is kept as a float32 tensor, and line searches amplify rounding.
    np.testing.assert_allclose(seen, RECORDED["optimizers"][name], rtol=1e-8, atol=1e-8)
    layout, expected = programs.layout(optimizer), RECORDED["layouts"][name]
    assert layout["options"] == expected["options"]
    assert layout["state"] == {key: kind for key, kind in expected["state"].items() if key not in NOT_SAVED}


@pytest.mark.parametrize("name", programs.SCHEDULES)
def test_the_rates_of_twenty_epochs(name):
    np.testing.assert_allclose(programs.run_schedule(torch, *programs.SCHEDULES[name]), RECORDED["schedules"][name])


@pytest.mark.parametrize("kind", ["sequential", "chained"])
def test_schedules_made_of_schedules(kind):
    np.testing.assert_allclose(programs.run_composed(torch, kind), RECORDED["composed"][kind])


@pytest.mark.parametrize("name", programs.PLATEAUS)
def test_plateaus(name):
    np.testing.assert_allclose(
        programs.run_plateau(torch, programs.PLATEAUS[name]), RECORDED["plateaus"][name], rtol=1e-12
    )


def test_averaged_models():
    assert swa_utils is torch.optim.swa_utils
    np.testing.assert_allclose(programs.swa(torch), RECORDED["swa"], rtol=1e-6)


CAPTURABLE = [name for name, (cls, _) in programs.OPTIMIZERS.items() if cls not in ("SGD", "Adagrad", "LBFGS")]


@pytest.mark.parametrize("name", CAPTURABLE)
def test_capturable_uses_the_counters_as_tensors_and_gives_the_same(name):
    cls, options = programs.OPTIMIZERS[name]
    seen, _ = programs.run_optimizer(torch, cls, {**options, "capturable": True})
    np.testing.assert_allclose(seen, RECORDED["optimizers"][name], rtol=1e-4, atol=1e-5)  # float32 counters


FUSED = [name for name, (cls, _) in programs.OPTIMIZERS.items() if cls in ("SGD", "Adam", "AdamW", "Adagrad")]


@pytest.mark.parametrize("name", FUSED)
def test_fused_gives_the_same(name):
    cls, options = programs.OPTIMIZERS[name]
    seen, _ = programs.run_optimizer(torch, cls, {**options, "fused": True})
    np.testing.assert_allclose(seen, RECORDED["optimizers"][name], rtol=1e-12, atol=1e-13)


def test_lion_is_its_formula():
    seen, _ = programs.run_optimizer(torch, "Lion", {"lr": 0.01, "betas": (0.8, 0.95), "weight_decay": 0.1})
    (x, y), weights = programs.parameters(torch)
    means = [np.zeros((3,)), np.zeros((1, 1))]
    for step in range(programs.STEPS):
        x.grad = y.grad = None
        programs.loss_of(x, y, weights, step).backward()
        for p, i in ((x, 0), (y, 1)):
            g, value = p.grad.numpy(), p.detach().numpy()
            direction = np.sign(0.8 * means[i] + 0.2 * g)
            value[...] = value * (1 - 0.01 * 0.1) - 0.01 * direction
            means[i] = 0.95 * means[i] + 0.05 * g
        np.testing.assert_allclose(seen[step], [*x.tolist(), *y.flatten().tolist()], rtol=1e-12)
