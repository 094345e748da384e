"""What the data decide the size of, on a GPU: found by running sums, with the CPU's results, layouts and errors."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime

ANY = [
    torch.tensor([0.0, 1, 2, 0, float("nan")]),
    torch.tensor(3.0),
    torch.zeros(0),
    torch.zeros(2, 0),
    torch.zeros(3),
    (torch.arange(20).view(4, 5) % 3 > 0).t(),
    torch.arange(24).view(2, 3, 4) % 3,
    (torch.arange(50) * 7 % 5)[::3],
    (torch.arange(40) % 2).bfloat16(),
]
COUNTS = [
    torch.tensor([1, 1, 3]),
    torch.zeros(0, dtype=torch.int64),
    torch.tensor([2, -1]),
    torch.arange(300) * 7 % 11,
    torch.tensor([1, 2], dtype=torch.uint8),
]
OF_ANY: dict[str, Any] = {
    "argwhere": torch.argwhere,
    "where": torch.where,
    "nonzero": lambda x: torch.nonzero(x, as_tuple=True),
    "mask": lambda x: x[x != 0] if x.dim() else x,
    "masked_select": lambda x: torch.masked_select(x, x != 0),
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "unique rows": lambda x: torch.unique(x, return_inverse=True, return_counts=True, dim=0) if x.dim() else x,
    "unique columns": lambda x: torch.unique(x, dim=-1) if x.dim() else x,
    "runs": lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
    "runs of rows": lambda x: torch.unique_consecutive(x, dim=0) if x.dim() else x,
    "histc": lambda x: torch.histc(x.float(), 5),
}
OF_COUNTS: dict[str, Any] = {
    "bincount": lambda x: torch.bincount(x, minlength=5),
    "weights": lambda x: torch.bincount(x, torch.arange(x.shape[0], device=x.device).float()),
    "whole weights": lambda x: torch.bincount(x, torch.arange(x.shape[0], device=x.device)),
    "positions": torch.repeat_interleave,
    "repeated": lambda x: torch.repeat_interleave(torch.arange(x.shape[0], device=x.device) + 0.5, x),
}


def outcome(call: Any, x: Any) -> list[Any]:
    """Of each result what a program can see of it; or the error."""
    try:
        results = call(x)
    except (RuntimeError, IndexError) as error:
        return [type(error), str(error)]
    results = results if isinstance(results, (tuple, list)) else (results,)
    return [(y.dtype, y.shape, y.stride(), str(y.tolist())) for y in results]


@pytest.mark.parametrize("name", OF_ANY)
def test_of_any_tensor(name: str, gpus: Runtime) -> None:
    for x in ANY:
        there = x.cuda()
        assert outcome(OF_ANY[name], there) == outcome(OF_ANY[name], x)
    assert not gpus.kernels.reasons  # type: ignore[union-attr]


@pytest.mark.parametrize("name", OF_COUNTS)
def test_of_counts(name: str, gpus: Runtime) -> None:
    for x in COUNTS:
        assert outcome(OF_COUNTS[name], x.cuda()) == outcome(OF_COUNTS[name], x)
    assert not gpus.kernels.reasons  # type: ignore[union-attr]


def test_another_count_compiles_nothing(gpus: Runtime) -> None:
    x = torch.arange(40, device="cuda") % 7
    torch.nonzero(x > 2)
    known = len(gpus.kernels.compiled)  # type: ignore[union-attr]
    assert torch.nonzero(x > 4).shape == (10, 1)
    assert len(gpus.kernels.compiled) == known  # type: ignore[union-attr]


def test_what_a_mask_stores_and_its_gradient() -> None:
    gradients = []
    for where in ("cpu", "cuda"):
        x = torch.linspace(-1, 1, 12).view(3, 4).to(where).requires_grad_()
        y = x * 2
        y[y > 0.5] = y[y < -0.5]
        y[y > -0.5].square().sum().backward()
        gradients.append(x.grad.cpu())
    assert torch.allclose(*gradients)
