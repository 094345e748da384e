"""What puts elements in order on a GPU: stable, NaN last, along any dimension, over several merges."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels


def nothing_on_the_host(runtime: Runtime) -> bool:
    kernels = runtime.kernels
    assert isinstance(kernels, DeviceKernels)
    return not kernels.reasons


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
def test_equal_elements_keep_their_order(dtype: Any, descending: bool, gpus: Runtime) -> None:
    for size in (1, 31, 150):  # one run, a part of one, three merges
        x = (torch.arange(2 * size).view(2, size) * 7 % 5 - (0 if dtype is torch.uint8 else 2)).to(dtype)
        here = x.sort(dim=1, descending=descending, stable=True)
        there = x.cuda().sort(dim=1, descending=descending, stable=True)
        assert torch.equal(here.values, there.values.cpu()) and torch.equal(here.indices, there.indices.cpu())
    assert nothing_on_the_host(gpus)


def test_nan_is_the_largest() -> None:
    x = torch.tensor([float("nan"), 1.0, -float("inf"), float("nan"), 2.0], device="cuda")
    assert x.argsort().tolist() == [2, 1, 4, 0, 3] and x.argsort(descending=True).tolist() == [0, 3, 4, 1, 2]


def test_rows_may_lie_across_memory(gpus: Runtime) -> None:
    x = torch.randn(40, 3)
    for view in (lambda x: x, lambda x: x.t(), lambda x: x[::2]):
        for dim in (0, 1):
            here, there = view(x).sort(dim), view(x.cuda()).sort(dim)
            assert torch.equal(here.indices, there.indices.cpu()) and here.indices.stride() == there.indices.stride()
    assert nothing_on_the_host(gpus)


def test_what_is_built_on_an_order_stays_on_the_device(gpus: Runtime) -> None:
    x, y = torch.randn(5, 60), torch.arange(60) * 7 % 13
    calls: list[Any] = [
        lambda x, y: torch.topk(x, 4).indices,
        lambda x, y: torch.kthvalue(x, 9).indices,
        lambda x, y: torch.median(x, 1).indices,
        lambda x, y: torch.mode(y).indices,
        lambda x, y: torch.quantile(x, 0.3, 1),
        lambda x, y: torch.isin(y, y[:3]),
        lambda x, y: torch.searchsorted(x.sort(1).values, x),
    ]
    for call in calls:
        assert torch.equal(call(x, y), call(x.cuda(), y.cuda()).cpu())
    assert nothing_on_the_host(gpus)


def test_another_size_compiles_nothing_unless_it_needs_the_first_merge(gpus: Runtime) -> None:
    def compiled() -> int:
        assert isinstance(gpus.kernels, DeviceKernels)
        return len(gpus.kernels.compiled)

    torch.randn(3, 70, device="cuda").argsort()
    known = compiled()
    for sizes in ((2, 5), (9, 33), (1, 129)):
        torch.randn(sizes, device="cuda").argsort()
    assert compiled() == known
