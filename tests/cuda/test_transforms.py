"""Fourier transforms on a GPU by cuFFT, whose stand-in checks what it is told and destroys what the library may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.fake_cufft import FakeCuFft
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.libraries import Libraries

fft = torch.fft


def real(*sizes: int) -> Any:
    return torch.randn(*sizes)


def complex_(*sizes: int) -> Any:
    return torch.complex(real(*sizes), real(*sizes))


TRANSFORMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "rows": (fft.fft, lambda: complex_(3, 8)),
    "columns": (lambda x: fft.ifft(x, dim=0, norm="ortho"), lambda: complex_(6, 5)),
    "in the middle": (lambda x: fft.fft(x, dim=1, norm="forward"), lambda: complex_(2, 5, 3)),
    "turned": (lambda x: fft.fft(x.transpose(0, 2), dim=1), lambda: complex_(2, 5, 3)),
    "all dimensions": (fft.ifftn, lambda: complex_(2, 3, 4)),
    "real": (lambda x: fft.rfft(x, norm="ortho"), lambda: real(3, 7)),
    "real columns": (lambda x: fft.rfft(x, dim=0), lambda: real(5, 4)),
    "real windows": (lambda x: fft.rfft(x.unfold(0, 4, 2)), lambda: real(12)),
    "real, the same for all": (lambda x: fft.rfft(x.expand(3, 4)), lambda: real(4)),
    "real, all dimensions": (fft.rfftn, lambda: real(2, 3, 4)),
    "real, from odd places": (fft.rfft, lambda: real(2, 6, 3).permute(0, 2, 1)),
    "real, a part": (lambda x: fft.rfft(x[1:]), lambda: real(8)),
    "back to real, to odd places": (lambda x: fft.irfft(x, n=5, dim=1), lambda: complex_(2, 3, 3)),
    "back to real": (lambda x: fft.irfft(x, n=7), lambda: complex_(3, 4)),
    "back to real columns": (lambda x: fft.irfft(x, dim=0), lambda: complex_(5, 4)),
    "back, all dimensions": (fft.irfftn, lambda: complex_(2, 3, 4)),
}


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_give_what_the_cpu_gives(name: str, wide: bool, gpus: Runtime) -> None:
    assert isinstance(gpus.driver, FakeDriver)
    gpus.kernels, library = DeviceKernels(gpus), FakeCuFft(gpus.driver)
    gpus.kernels.libraries = Libraries(gpus, {"cufft": library}.__getitem__)
    function, make = TRANSFORMS[name]
    x = make()
    if wide:
        x = x.to(torch.complex128 if x.is_complex() else torch.float64)
    there = x.cuda()
    expected, found = function(x), function(there)
    assert found.is_cuda and found.dtype == expected.dtype and found.stride() == expected.stride()
    tolerance = 1e-12 if wide else 1e-5
    assert np.allclose(found.cpu().numpy(), expected.numpy(), tolerance, tolerance)
    assert there.cpu().tolist() == x.tolist() and library.made > 0 and not gpus.kernels.reasons


def test_without_the_library_a_transform_is_computed_in_main_memory_and_says_so() -> None:
    with pytest.warns(UserWarning, match="fft_r2c on cuda is computed in main memory: cuFFT isn't there"):
        assert fft.rfft(torch.ones(2, device="cuda")).tolist() == [2, 0]
