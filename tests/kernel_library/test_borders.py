"""Borders that are written where they belong: what the formula joins, with its gradient and the gradient of that."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import config
from minitorch_compile.kernel_library.borders import Bordered

SIZES = {2: (3, 31, 47), 4: (4, 5, 16, 17), 6: (2, 3, 6, 9, 14)}


def padded(pad: tuple[int, ...], mode: str, dtype: type) -> list[torch.Tensor]:
    image = np.random.default_rng(0).normal(size=SIZES[len(pad)]).astype(dtype)
    image.flat[3], image.flat[50] = np.inf, np.nan
    x = torch.tensor(image, requires_grad=True)
    out = F.pad(x, pad, mode)
    upper = torch.arange(out.numel(), dtype=x.dtype).cos().reshape(out.shape).requires_grad_()
    (slope,) = torch.autograd.grad(out, x, upper.detach(), retain_graph=True)
    (recorded,) = torch.autograd.grad(out, x, upper, create_graph=True)
    return [out.detach(), slope, *torch.autograd.grad((recorded * recorded).sum(), upper)]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("pad", [(3, 0), (46, 46), (2, 1, 0, 3), (5, 4, 15, 15), (1, 2, 2, 1, 3, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_borders_are_those_of_the_formula(
    monkeypatch: pytest.MonkeyPatch, pad: tuple[int, ...], mode: str, dtype: type
) -> None:
    used: list[str] = []
    apply = Bordered.apply
    monkeypatch.setattr(Bordered, "apply", lambda *args: (used.append(mode), apply(*args))[1])
    with config.patch(eager_kernels="on_disk"):
        found = padded(pad, mode, dtype)
    assert used
    with config.patch(eager_kernels="off"):
        meant = padded(pad, mode, dtype)
    for value, exact in zip(found, meant, strict=True):
        assert value.is_contiguous() and torch.allclose(value, exact, atol=1e-5, equal_nan=True)


def test_too_wide_a_border_is_refused_as_ever() -> None:
    with pytest.raises(RuntimeError, match="Padding size should be less"):
        F.pad(torch.ones(3, 40, 50), (50, 0), "reflect")
