"""Running results on a GPU: rows of one tile and of several, in every dtype, along any dimension; always the same."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime

SCANS = {
    "cumsum": lambda x, dim: (torch.cumsum(x, dim),),
    "cumprod": lambda x, dim: (torch.cumprod(x / 2 if x.dtype.is_floating_point else x, dim),),
    "cummax": torch.cummax,
    "cummin": torch.cummin,
    "logcumsumexp": lambda x, dim: (torch.logcumsumexp(x, dim),),
}
SHAPES = [((2, 33), 1), ((300,), 0), ((40, 2), 0), ((2, 50, 3), 1), ((0, 40), 1)]


def kernels_called(runtime: Runtime) -> str:
    return "\n".join(runtime.kernels.compiled)  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8])
@pytest.mark.parametrize("name", SCANS)
def test_rows_of_any_length(name: str, dtype: Any, gpus: Runtime) -> None:
    if name == "logcumsumexp" and not dtype.is_floating_point:
        return
    bound = {torch.bfloat16: 2.0**-7, torch.float64: 1e-14}.get(dtype, 1e-6)
    for sizes, dim in SHAPES:
        x = torch.randn(sizes).to(dtype) if dtype.is_floating_point else torch.randint(0, 3, sizes).to(dtype)
        for here, there in zip(SCANS[name](x, dim), SCANS[name](x.cuda(), dim)):
            assert here.dtype is there.dtype and here.stride() == there.stride()
            size = max(1.0, float(x.double().abs().sum()) if name == "cumsum" else 1.0)
            assert torch.allclose(here.double(), there.cpu().double(), rtol=bound, atol=bound * size)
    assert "tile_totals" in kernels_called(gpus) and not gpus.kernels.reasons  # type: ignore[union-attr]


@pytest.mark.slow
def test_three_levels_of_tiles() -> None:
    x = torch.randn(70_000)  # the simulator's tiles have 256 elements
    assert torch.allclose(x.cuda().cumsum(0).cpu().double(), x.double().cumsum(0), rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("name", SCANS)
def test_nan_and_infinities_are_carried_on(name: str) -> None:
    x = torch.randn(2, 100)
    x[0, 50], x[1, 3], x[1, 60] = float("nan"), float("inf"), -float("inf")
    for here, there in zip(SCANS[name](x, 1), SCANS[name](x.cuda(), 1)):
        assert torch.allclose(here, there.cpu(), rtol=1e-4, atol=1e-5, equal_nan=True)


def test_another_length_compiles_nothing(gpus: Runtime) -> None:
    torch.randn(1, 300, device="cuda").cumsum(1)
    known = len(gpus.kernels.compiled)  # type: ignore[union-attr]
    for sizes in ((2, 270), (1, 301)):
        torch.randn(sizes, device="cuda").cumsum(1)
    assert len(gpus.kernels.compiled) == known  # type: ignore[union-attr]


def test_gradients_pass_through() -> None:
    gradients = []
    for where in ("cpu", "cuda"):
        x = torch.linspace(-1, 1, 50).to(where).requires_grad_()
        x.cumsum(0).square().sum().backward()
        gradients.append(x.grad.cpu())
    assert torch.allclose(*gradients)
