"""Poisson, binomial and gamma numbers on a GPU: those of the CPU after the same seed, and their gradients."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime

RATES = torch.cat([torch.linspace(0, 30, 40), torch.tensor([1e-3, 500.0, 3000.0])])
SHAPES = torch.cat([torch.linspace(0.05, 30, 40), torch.tensor([300.0])])


def gradient(x: Any) -> Any:
    x = x.detach().clone().requires_grad_()
    torch._standard_gamma(x).sum().backward()
    return x.grad


DRAWS: dict[str, Any] = {
    "poisson": (torch.poisson, (RATES,), 0.0),
    "binomial": (torch.binomial, (torch.arange(43.0), torch.linspace(0, 1, 43)), 0.0),
    "many trials": (torch.binomial, (torch.full((20,), 1000.0), torch.linspace(0.01, 0.99, 20)), 0.0),
    "many counts": (torch.poisson, (torch.tensor([1e6, 1e8, 1e9], dtype=torch.float64),), 0.0),
    "gamma": (torch._standard_gamma, (SHAPES,), 2e-6),
    "gamma in float64": (torch._standard_gamma, (SHAPES.double(),), 1e-11),
    "dirichlet": (torch._sample_dirichlet, (torch.linspace(0.1, 2, 12).view(3, 4),), 1e-5),
    "gradient": (gradient, (torch.linspace(0.5, 20, 30).double(),), 1e-5),
    "no elements": (torch.poisson, (torch.zeros(0),), 0.0),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_numbers(name: str, gpus: Runtime) -> None:
    draw, tensors, bound = DRAWS[name]
    made = []
    for where in ("cpu", "cuda"):
        torch.manual_seed(3)
        made.append(draw(*(x.to(where) for x in tensors)))
    here, there = made
    assert there.is_cuda and here.dtype is there.dtype and not gpus.kernels.reasons  # type: ignore[union-attr]
    assert torch.allclose(here, there.cpu(), rtol=bound, atol=0)


def test_counts_that_are_further_apart_than_one_are_found() -> None:
    rates = torch.full((3,), 1e17, dtype=torch.float64, device="cuda")
    assert bool(((torch.poisson(rates) - rates).abs() < 1e10).all())
