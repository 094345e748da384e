"""Hessians times vectors by dual numbers that go through a backward pass, for functions whose gradients need their
arguments, their results, or neither; against rows of the Hessian. PyTorch 2.13 has them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.autograd import forward_ad
from minitorch_compile.nn import functional as F

Function = Callable[[Any], Any]
X = torch.tensor([0.5, 0.7, 1.3], dtype=torch.float64)
V = torch.tensor([1.0, -0.5, 0.3], dtype=torch.float64)


def regular(x: Any) -> Any:
    return torch.diag(x) + 0.1 * torch.outer(x, x)


def written_views(x: Any) -> Any:
    y = x.clone()
    y[1:].mul_(x[:2])
    y[0].exp_()
    return (y**2).sum()


FUNCTIONS: dict[str, Function] = {
    "exp": lambda x: x.exp().sum(),
    "sin": lambda x: x.sin().prod(),
    "pow": lambda x: (x**3).sum(),
    "div": lambda x: (1 / x).sum() * x.sum(),
    "log": lambda x: x.log().sum() ** 2,
    "tanh": lambda x: x.tanh().sum(),
    "sigmoid": lambda x: x.sigmoid().sum(),
    "softmax": lambda x: (F.softmax(x, 0) ** 2).sum(),
    "log_softmax": lambda x: F.cross_entropy(x.reshape(1, 3), torch.tensor([1])),
    "logsumexp": lambda x: x.logsumexp(0),
    "sqrt": lambda x: x.sqrt().sum(),
    "matmul": lambda x: (x.reshape(1, -1) @ x.reshape(-1, 1)).sum() ** 2,
    "gelu": lambda x: F.gelu(x).sum(),
    "layer_norm": lambda x: (F.layer_norm(x, (3,)) ** 3).sum(),
    "norm": lambda x: x.norm() ** 3,
    "cumprod": lambda x: x.cumprod(0).sum(),
    "atan2": lambda x: torch.atan2(x, x.flip(0)).sum(),
    "std": lambda x: x.std(),
    "inv": lambda x: torch.linalg.inv(regular(x)).sum(),
    "det": lambda x: torch.linalg.det(regular(x)),
    "solve": lambda x: torch.linalg.solve(regular(x), x).sum(),
    "cholesky": lambda x: torch.linalg.cholesky(regular(x)).pow(2).sum() * x.sum(),
    "svdvals": lambda x: torch.linalg.svdvals(torch.outer(x, x.flip(0)) + torch.diag(x)).pow(3).sum(),
    "index": lambda x: (x[[0, 2]] ** 3).sum(),
    "cat": lambda x: torch.cat([x, x.exp()]).prod(),
    "relu": lambda x: (x.relu() ** 3).sum(),
    "where": lambda x: torch.where(x > 0.6, x**2, x**3).sum(),
    "conv": lambda x: (F.conv1d(x.reshape(1, 1, 3), x[:2].reshape(1, 1, 2)) ** 2).sum(),
    "amax": lambda x: x.amax() ** 3,
    "sort": lambda x: (x.sort().values * torch.arange(3)).pow(2).sum(),
    "view": lambda x: (x.view(3, 1).expand(3, 2) * x.view(3, 1)).pow(2).sum(),
    "mul_, exp_": lambda x: x.clone().mul_(x).exp_().sum(),
    "add_": lambda x: (x.clone().add_(x, alpha=3) ** 3).sum(),
    "sigmoid_": lambda x: (x.clone().sigmoid_() * x).sum(),
    "copy_": lambda x: x.clone().copy_(x.exp()).pow(2).sum(),
    "zero_": lambda x: (x.clone().zero_() + x**2).sum(),
    "masked_fill_": lambda x: x.clone().masked_fill_(x > 1, 2.0).pow(3).sum(),
    "index_add_": lambda x: x.clone().index_add_(0, torch.tensor([0]), x[1:2] ** 2).pow(2).sum(),
    "written views": written_views,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("by_leaf", [False, True])
def test_the_tangent_of_the_gradient_is_the_hessian_times_the_vector(function: Function, by_leaf: bool) -> None:
    with forward_ad.dual_level():
        leaf = X.clone().requires_grad_()
        dual = forward_ad.make_dual(leaf if by_leaf else X.clone().requires_grad_(), V)
        (gradient,) = torch.autograd.grad(function(dual), leaf if by_leaf else dual, create_graph=True)
        found = forward_ad.unpack_dual(gradient).tangent
    torch.testing.assert_close(found.detach(), torch.func.hessian(function)(X) @ V)


def test_without_a_graph_of_the_gradient() -> None:
    with forward_ad.dual_level():
        leaf = X.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(forward_ad.make_dual(leaf, V).exp().sum(), leaf)
        torch.testing.assert_close(forward_ad.unpack_dual(gradient).tangent.detach(), X.exp() * V)


def test_tensors_may_become_leaves_in_a_level() -> None:
    with forward_ad.dual_level():
        assert torch.ones(1).requires_grad_().requires_grad
