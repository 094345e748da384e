"""Special functions on a GPU beside the CPU's, at ordinary numbers, poles and infinities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_simulator import cuda as simulated
from minitorch_compile.cuda_simulator import simulate
from minitorch_compile.inductor.codegen.cuda import device_functions
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


def test_erf_for_two_bytes_keeps_the_digits_that_it_states() -> None:
    def kernel(x: Any, out: Any) -> None:
        out[simulated.grid(1)] = device_functions.near_erf(x[simulated.grid(1)])

    x = np.concatenate([np.array(EDGES + [1e-30, 3e38, 0.02999, 17.0], np.float32), np.linspace(-7, 7, 2032)])
    x, out = x.astype(np.float32), np.zeros(2048, np.float32)
    simulate(kernel)[16, 128](x, out)
    expected = np.array([math.erf(number) for number in x])
    np.testing.assert_allclose(out, expected, rtol=0, atol=2**-20)
    np.testing.assert_allclose(out, expected, rtol=2**-15, atol=0)
    assert np.signbit(out[1])


SERIES = ["i0", "i0e", "i1", "i1e", "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0"] + [
    "scaled_modified_bessel_k1", "airy_ai",
]  # fmt: skip
OF_TWO = {
    "igamma": torch.igamma,
    "igammac": torch.igammac,
    "zeta": lambda a, b: torch.special.zeta(a + 1, b),
    "polygamma": lambda a, b: torch.polygamma(2, a),
    "trigamma": lambda a, b: torch.polygamma(1, -a),
    "hypot": torch.hypot,
    "nextafter": lambda a, b: torch.nextafter(a, b) - a,
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", SERIES)
def test_series(name: str, dtype: torch.dtype, gpus: Runtime) -> None:
    function = getattr(torch.special, name)
    x = torch.cat([torch.tensor(EDGES[:-2] + [2.0, 30.0, 80.0], dtype=dtype), torch.linspace(-11, 11, 90, dtype=dtype)])
    here, there = function(x), function(x.cuda()).cpu()
    tolerance = 2e-6 if dtype is torch.float32 else 1e-10 if name == "airy_ai" else 1e-13
    assert torch.allclose(here, there, rtol=tolerance, atol=tolerance, equal_nan=True)
    assert not gpus.kernels.reasons  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_numbers(name: str, dtype: torch.dtype, gpus: Runtime) -> None:
    a, b = (torch.linspace(0, 9, 60, dtype=dtype), torch.linspace(0, 90, 60, dtype=dtype) % 9.5)
    here, there = OF_TWO[name](a, b), OF_TWO[name](a.cuda(), b.cuda()).cpu()
    tolerance = 5e-6 if dtype is torch.float32 else 2e-12
    assert torch.allclose(here, there, rtol=tolerance, atol=0 if name == "nextafter" else tolerance, equal_nan=True)
    assert not gpus.kernels.reasons  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8], ids=str)
def test_common_divisors_and_multiples(dtype: torch.dtype, gpus: Runtime) -> None:
    low = 0 if dtype is torch.uint8 else -100
    a, b = ((torch.arange(60) * step % 200 + low).to(dtype) for step in (7, 24))
    for function in (torch.gcd, torch.lcm):
        assert torch.equal(function(a, b), function(a.cuda(), b.cuda()).cpu())
        assert torch.equal(function(a, b), torch.compile(function)(a, b))
    assert not gpus.kernels.reasons  # type: ignore[union-attr]
