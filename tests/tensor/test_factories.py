"""Every function that makes tensors takes requires_grad=, and what it makes is a leaf that gathers a gradient."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import minitorch_compile as torch

LIKE = torch.ones(2, 3)
FACTORIES: dict[str, Callable[..., torch.Tensor]] = {
    "arange": lambda **how: torch.arange(3.0, **how),
    "empty": lambda **how: torch.empty(3, **how),
    "eye": lambda **how: torch.eye(2, **how),
    "full": lambda **how: torch.full((2,), 1.5, **how),
    "full_like": lambda **how: torch.full_like(LIKE, 2, **how),
    "hann_window": lambda **how: torch.hann_window(4, **how),
    "linspace": lambda **how: torch.linspace(0, 1, 3, **how),
    "logspace": lambda **how: torch.logspace(0, 1, 3, **how),
    "new_ones": lambda **how: LIKE.new_ones(2, **how),
    "new_tensor": lambda **how: LIKE.new_tensor([1, 2], **how),
    "normal": lambda **how: torch.normal(0.0, 1.0, (2,), **how),
    "ones": lambda **how: torch.ones(2, **how),
    "rand": lambda **how: torch.rand(2, **how),
    "randn_like": lambda **how: torch.randn_like(LIKE, **how),
    "tensor": lambda **how: torch.tensor([1.0], **how),
    "zeros": lambda **how: torch.zeros(2, **how),
    "zeros_like": lambda **how: torch.zeros_like(LIKE, **how),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_a_factory_makes_leaves(name: str) -> None:
    x = FACTORIES[name](requires_grad=True)
    assert x.is_leaf
    x.sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))
    assert not FACTORIES[name]().requires_grad
