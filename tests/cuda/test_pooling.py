"""Maximum pooling on a GPU: windows that overlap, padding, NaN, and gradients that meet."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels

WINDOWS = [(2,), (3, 1, 1), (3, 2, 1, 1, True), ((3, 2), (1, 2), (1, 1), (2, 1))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_maxima_their_places_and_gradients(window: tuple[Any, ...], dtype: Any, gpus: Runtime) -> None:
    images = (torch.arange(84) * 5 % 13).view(2, 2, 3, 7).to(dtype)  # with equals
    images[0, 0, 1, 2] = images[0, 0, 1, 3] = float("nan")
    found: list[list[Any]] = []
    for where in ("cpu", "cuda"):
        x = images.detach().to(where).requires_grad_()
        values, places = torch.nn.functional.max_pool2d(x, *window, return_indices=True)
        values.sum().backward()
        found.append([values.detach().cpu(), places.cpu(), x.grad.cpu()])
    for here, there in zip(*found):
        assert here.dtype is there.dtype and torch.allclose(here, there, equal_nan=True)
    kernels = gpus.kernels
    assert isinstance(kernels, DeviceKernels) and not kernels.reasons
