"""Special functions on a GPU beside the CPU's, at ordinary numbers, poles and infinities."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels

EDGES = [0.0, -0.0, 1.0, -1.0, -2.0, 0.5, -0.5, 1e-8, 1e4, float("inf"), -float("inf"), float("nan")]
NAMES = [
    "erfc", "erfcx", "erfinv", "ndtri", "gammaln", "digamma", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_cpus(name: str, dtype: torch.dtype, gpus: Runtime) -> None:
    function = getattr(torch.special, name)
    x = torch.cat([torch.tensor(EDGES, dtype=dtype), torch.linspace(-8, 8, 83, dtype=dtype)])
    here, there = function(x), function(x.cuda()).cpu()
    tolerance = 2e-6 if dtype is torch.float32 else 1e-12
    assert torch.allclose(here, there, rtol=tolerance, atol=tolerance, equal_nan=True)
    kernels = gpus.kernels
    assert isinstance(kernels, DeviceKernels) and not kernels.reasons
