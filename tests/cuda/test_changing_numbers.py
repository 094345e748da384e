"""A Python float that changes from call to call: nothing is traced or compiled, and the numbers are right."""

from __future__ import annotations

import math
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime

CALLS: dict[str, Any] = {
    "add": lambda x, a: x + a,
    "scaled add": lambda x, a: x.add(x, alpha=a),
    "mul": lambda x, a: a * x,
    "div": lambda x, a: x / a,
    "power": lambda x, a: x.abs() ** a,
    "lerp": lambda x, a: torch.lerp(x, x * 2, a),
    "addcdiv": lambda x, a: torch.addcdiv(x, x, x + 9, value=a),
    "compare": lambda x, a: x < a,
    "in place": lambda x, a: x.clone().mul_(a).add_(x, alpha=-a),
    "full": lambda x, a: torch.full((3,), a, device=x.device),
}
FLOATS = (0.1, 0.7, 0.25, 0.3, 3.5, 9.25, 7.0, -0.3, -0.9, -0.01, 2.0, 1.0, 0.0, math.inf, 1e-40)


@pytest.mark.parametrize("name", CALLS)
def test_every_float_is_computed_with(name: str) -> None:
    x = torch.tensor([-1.5, 0.0, 2.25])
    for a in FLOATS:
        here, there = CALLS[name](x, a), CALLS[name](x.cuda(), a)
        assert torch.allclose(here.float(), there.cpu().float(), rtol=1e-6, atol=1e-6, equal_nan=True), a


def test_from_the_third_float_on_nothing_is_traced(gpus: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(3, device="cuda")
    for a in (0.1, 0.2):
        x.add(x, alpha=a), x * a, x / -a
    with monkeypatch.context() as patch:
        patch.setattr(gpus.kernels, "prepared", None)
        found = [(a, x.add(x, alpha=a), x * a, x / -a) for a in (0.3, 0.4, 0.9)]
    for a, *results in found:
        assert [y[0].item() for y in results] == pytest.approx([1 + a, a, -1 / a])


def test_a_step_of_adam_traces_nothing_new(gpus: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = []
    for where in ("cpu", "cuda"):
        weight = torch.ones(3, device=where, requires_grad=True)
        optimizer = torch.optim.Adam([weight], lr=0.1)
        gradients = [torch.tensor([step, 1.0, -step]).to(where) for step in range(6)]
        for step, weight.grad in enumerate(gradients):
            with monkeypatch.context() as patch:
                if step >= 4 and where == "cuda":
                    patch.setattr(gpus.kernels, "prepared", None)
                optimizer.step()
        weights.append(weight.detach().cpu())
    assert torch.allclose(*weights)


def test_a_float_that_decides_what_is_computed_keeps_its_own_kernels() -> None:
    from minitorch_compile.inductor.device_calls.open_numbers import class_of

    assert [class_of(a) for a in (2.0, -0.5, 0.0, math.nan, math.inf, 1e9)] == [None] * 6


def test_floats_that_become_whole_numbers_keep_their_own_kernels() -> None:
    """With 3.5 the same kernel runs as with the mark, pi: it is for no other float."""
    x = torch.zeros(2, dtype=torch.int64, device="cuda")
    assert [x.fill_(a)[0].item() for a in (7.5, 3.5, 9.5)] == [7, 3, 9]
    assert [torch.full((2,), a, dtype=torch.int8, device="cuda")[0].item() for a in (7.5, 3.5, 9.5)] == [7, 3, 9]
