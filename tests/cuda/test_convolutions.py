"""Convolutions on a GPU, with their gradients: as products of what is copied out of images, and nothing on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.fake_cublas_lt import FakeCublasLt
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.libraries import Libraries

F, randn = torch.nn.functional, torch.randn
Last = torch.channels_last
CONVOLUTIONS: dict[str, tuple[Callable[..., Any], list[Any], dict[str, Any]]] = {
    "bias": (F.conv2d, [(2, 3, 5, 6), (4, 3, 3, 3), (4,)], {}),
    "everything else": (
        F.conv2d,
        [(2, 3, 7, 6), (4, 3, 3, 2)],
        {"stride": (2, 3), "padding": (1, 2), "dilation": (2, 1)},
    ),
    "groups": (F.conv2d, [(2, 4, 4, 5), (6, 2, 3, 3)], {"groups": 2, "padding": 1}),
    "a group each": (F.conv2d, [(2, 3, 5, 6), (3, 1, 3, 3)], {"groups": 3, "padding": 1, "stride": 2}),
    "pixels": (F.conv2d, [(2, 3, 4, 5), (4, 3, 1, 1)], {}),
    "windows that hang out": (F.conv2d, [(1, 2, 3, 3), (2, 2, 3, 3)], {"padding": 2, "dilation": 2}),
    "one dimension": (F.conv1d, [(2, 3, 8), (4, 3, 3)], {"padding": 2, "stride": 2}),
    "three dimensions": (F.conv3d, [(1, 2, 4, 5, 4), (3, 2, 2, 3, 2)], {"padding": 1, "stride": (1, 2, 1)}),
    "transposed": (F.conv_transpose2d, [(2, 3, 3, 4), (3, 2, 3, 3)], {"stride": 2, "padding": 1, "output_padding": 1}),
    "transposed groups": (F.conv_transpose1d, [(2, 4, 3), (4, 2, 3)], {"stride": 3, "groups": 2}),
}


def with_gradients(function: Any, arguments: list[Any], options: dict[str, Any], where: str) -> list[Any]:
    """The result, and the gradients of a sum in which each element of it counts differently."""
    placed = [x.detach().to(where).requires_grad_() for x in arguments]
    out = function(*placed, **options)
    return [out, *torch.autograd.grad((out * torch.ones_like(out).cumsum(-1)).sum(), placed)]


def check(function: Any, arguments: list[Any], options: dict[str, Any], tolerance: float) -> None:
    here = with_gradients(function, arguments, options, "cpu")
    there = with_gradients(function, arguments, options, "cuda")
    for expected, found in zip(here, there, strict=True):
        assert found.is_cuda and found.dtype == expected.dtype and found.stride() == expected.stride()
        values, meant = (x.detach().cpu().double().numpy() for x in (found, expected))
        assert np.allclose(values, meant, tolerance, tolerance)


def use_library(gpus: Runtime) -> FakeCublasLt:
    assert isinstance(gpus.driver, FakeDriver)
    gpus.kernels, stand_in = DeviceKernels(gpus), FakeCublasLt(gpus.driver)
    gpus.kernels.libraries = Libraries(gpus, {"cublasLt": stand_in}.__getitem__)
    return stand_in


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_and_their_gradients_are_products(name: str, gpus: Runtime) -> None:
    library = use_library(gpus)
    function, sizes, options = CONVOLUTIONS[name]
    check(function, [randn(*size) for size in sizes], options, 3e-5)
    assert library.asked >= 3 and not gpus.kernels.reasons


@pytest.mark.parametrize("name", ["everything else", "a group each"])
def test_tiles_serve_as_well(name: str, gpus: Runtime) -> None:
    function, sizes, options = CONVOLUTIONS[name]
    check(function, [randn(*size, dtype=torch.float64) for size in sizes], options, 1e-12)
    assert not gpus.kernels.reasons


def test_numbers_of_two_bytes_are_copied_as_they_are_and_added_up_wide(gpus: Runtime) -> None:
    use_library(gpus)
    x, w = randn(2, 3, 5, 6, dtype=torch.bfloat16), randn(4, 3, 3, 3, dtype=torch.bfloat16)
    check(F.conv2d, [x, w], {"padding": 1, "stride": 2}, 4e-2)
    assert not gpus.kernels.reasons


def test_channels_stay_last(gpus: Runtime) -> None:
    use_library(gpus)
    x, w = randn(2, 3, 4, 5).to(memory_format=Last), randn(4, 3, 3, 3)
    check(F.conv2d, [x, w], {"padding": 1}, 3e-5)


def test_float32_convolutions_may_be_rounded_unless_somebody_forbids_it(gpus: Runtime) -> None:
    library, x, w = use_library(gpus), randn(1, 2, 3, 3, device="cuda"), randn(2, 2, 3, 3, device="cuda")
    computed = []
    create = library.matmul_desc_create
    library.matmul_desc_create = lambda *types: computed.append(types[0]) or create(*types)  # type: ignore[func-returns-value, method-assign]
    F.conv2d(x, w)
    torch.backends.cudnn.allow_tf32 = False
    try:
        F.conv2d(x, w)
    finally:
        torch.backends.cudnn.allow_tf32 = True
    assert computed == [77, 68]  # COMPUTE_32F_FAST_TF32, COMPUTE_32F


def test_a_sum_over_no_channels_is_zero() -> None:
    out = F.conv2d(torch.ones(1, 0, 3, 3, device="cuda"), torch.ones(2, 0, 2, 2, device="cuda"))
    assert out.tolist() == torch.zeros(1, 2, 2, 2).tolist()
