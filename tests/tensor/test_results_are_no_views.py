"""What an operation computes is a tensor of its own, also where it is written as a view of something in between.

So it may be written into after no_grad, which a view made there may not be. The list is what PyTorch 2.13 answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F

OWN: dict[str, Callable[..., Any]] = {
    "matmul 2x1": lambda x: x[0] @ x[0, 0],
    "matmul 3x2": lambda x: x @ x[0].t(),
    "matmul 3x3": lambda x: x @ x.mT,
    "linear": lambda x: F.linear(x, x[0]),
    "linear with bias": lambda x: F.linear(x, x[0], x[0, 0, :3]),
    "einsum": lambda x: torch.einsum("i,j->ij", x[0, 0], x[0, 0]),
    "kron": lambda x: torch.kron(x[0], x[0]),
    "group_norm": lambda x: F.group_norm(x, 3),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 1),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x.repeat(1, 1, 1)[:1].expand(4, 3, 4), 2),
    "logsumexp": lambda x: torch.logsumexp(x, 1),
    "max over a dimension": lambda x: x.max(1).values,
    "median over a dimension": lambda x: x.median(1).values,
    "kthvalue": lambda x: x.kthvalue(1).values,
    "var_mean": lambda x: torch.var_mean(x, 1)[1],
    "quantile": lambda x: torch.quantile(x, 0.5),
    "sort of a transpose": lambda x: x.mT.sort().values,
    "diag_embed": lambda x: torch.diag_embed(x),
    "roll": lambda x: x.roll(1),
    "rot90": lambda x: torch.rot90(x),
    "repeat": lambda x: x.repeat(2, 1, 1),
    "reshape that copies": lambda x: x.mT.reshape(-1),
    "index_add": lambda x: x.index_add(0, torch.tensor([0]), x[:1]),
    "masked_scatter": lambda x: x.masked_scatter(x > 0, x),
    "linalg.norm": lambda x: torch.linalg.norm(x[0], 1),
    "linalg.solve": lambda x: torch.linalg.solve(torch.eye(4), x[0, 0]),
}


def values() -> Any:
    return torch.arange(24.0).view(2, 3, 4) - 7


@pytest.mark.parametrize("compute", OWN.values(), ids=OWN)
def test_the_result_is_no_view(compute: Callable[..., Any]) -> None:
    assert not compute(values())._is_view()
    assert not compute(values().requires_grad_())._is_view()


@pytest.mark.parametrize("compute", OWN.values(), ids=OWN)
def test_it_may_be_written_into_after_no_grad(compute: Callable[..., Any]) -> None:
    with torch.no_grad():
        y = compute(values().requires_grad_())
    weight = torch.tensor(2.0, requires_grad=True)
    before = y.clone()
    y.mul_(weight)
    y.sum().backward()
    torch.testing.assert_close(weight.grad, before.sum())


KEPT = {"attention", *(name for name in OWN if "linalg" in name)}  # the gradient needs what is written over


@pytest.mark.parametrize("name", sorted(OWN.keys() - KEPT))
def test_its_gradient_passes_a_write(name: str) -> None:
    compute = OWN[name]
    x = (values() / 10).requires_grad_()
    (plain,) = torch.autograd.grad((compute(x) * 3).sum(), x)
    (written,) = torch.autograd.grad(compute(x).mul_(3).sum(), x)
    torch.testing.assert_close(written, plain)


@pytest.mark.parametrize("view", [lambda x: x.reshape(6, 4), lambda x: x.chunk(2)[0], lambda x: x.flatten(), torch.t])
def test_views_of_arguments_stay_views(view: Callable[..., Any]) -> None:
    x = values() if view is not torch.t else values()[0]
    assert view(x)._base is (x if x._base is None else x._base)
    with torch.no_grad():
        y = view(x.requires_grad_() if x.is_leaf and not x._is_view() else x)
    if x.requires_grad:
        with pytest.raises(RuntimeError, match="no_grad"):
            y.mul_(2)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("name", ["matmul 3x2", "linear", "group_norm", "repeat"])
def test_a_compiled_function_writes_into_it(name: str, backend: str) -> None:
    def step(x: Any, weight: Any) -> Any:
        with torch.no_grad():
            y = OWN[name](x)
        y.mul_(weight)
        return y

    weights = [torch.tensor(2.0, requires_grad=True) for _ in range(2)]
    results = [f(values(), w) for f, w in zip((step, torch.compile(step, backend=backend)), weights, strict=True)]
    for result in results:
        result.sum().backward()
    torch.testing.assert_close(results[1], results[0])
    torch.testing.assert_close(weights[1].grad, weights[0].grad)
