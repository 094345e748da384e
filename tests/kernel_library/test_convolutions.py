"""Eager convolutions on kernels of the library: what their formulas mean in float64, over awkward geometries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import config
from minitorch_compile.inductor.library_writer.write_library import PLANNED
from minitorch_compile.kernel_library import library, replaced
from minitorch_compile.kernel_library.planned_kernel import PlannedKernel
from tests.kernel_library.used_library import results, used_library

CONVOLUTIONS = [name for name in PLANNED if name.startswith("convolution")]


@pytest.fixture
def kernels() -> Iterator[library.Library]:
    yield from used_library(CONVOLUTIONS)


def conv2d(**how: Any) -> Any:
    return lambda x, w, b: F.conv2d(x, w, b, **how)


def in_order(order: Any) -> Any:
    """With images and weights that lie in memory in this order."""
    return lambda x, w, b: F.conv2d(x.contiguous(memory_format=order), w.contiguous(memory_format=order), b, padding=1)


# A call, the sizes of its tensors, and how many of forward, weights' and input's gradient run on a kernel.
CALLS: dict[str, tuple[Any, tuple[tuple[int, ...], ...], int]] = {
    "3x3": (conv2d(padding=1), ((3, 16, 13, 11), (10, 16, 3, 3), (10,)), 3),
    "even windows, stride, dilation": (
        conv2d(stride=(2, 3), padding=(3, 0), dilation=(1, 2)), ((2, 5, 21, 23), (7, 5, 4, 2), (7,)), 3,
    ),
    "stride larger than the window": (conv2d(stride=3), ((4, 3, 20, 21), (16, 3, 2, 2), (16,)), 3),
    "groups": (conv2d(padding=1, groups=3), ((2, 6, 19, 20), (9, 2, 3, 3), (9,)), 3),
    "depthwise": (conv2d(padding=2, stride=2, groups=8), ((2, 8, 17, 17), (8, 1, 5, 5), (8,)), 3),
    "one image of one channel": (conv2d(padding=1), ((1, 1, 70, 71), (4, 1, 3, 3), (4,)), 3),
    "padding beyond the window": (conv2d(padding=4), ((2, 4, 25, 25), (5, 4, 2, 2), (5,)), 3),
    "one place": (conv2d(), ((1, 2, 3, 3), (1, 2, 3, 3), (1,)), 3),
    "1x1 of many channels": (conv2d(), ((2, 96, 8, 8), (40, 96, 1, 1), (40,)), 0),
    "1x1, every second pixel": (conv2d(stride=2), ((2, 40, 16, 16), (40, 40, 1, 1), (40,)), 3),
    "channels last": (in_order(torch.channels_last), ((2, 8, 20, 20), (12, 8, 3, 3), (12,)), 3),
    "transposed images": (
        lambda x, w, b: F.conv2d(x.transpose(2, 3), w.flip(2), b), ((2, 6, 20, 31), (8, 6, 3, 2), (8,)), 3,
    ),
    "a gradient that is one number": (
        lambda x, w, b: F.conv2d(x, w, b).sum().reshape(1), ((2, 6, 20, 31), (8, 6, 3, 2), (8,)), 3,
    ),
    "one dimension": (
        lambda x, w, b: F.conv1d(x, w, b, 2, 3, 2), ((3, 8, 200), (12, 8, 5), (12,)), 3,
    ),
    "volumes": (
        lambda x, w, b: F.conv3d(x, w, b, (2, 1, 1), (1, 2, 0), (1, 1, 2), 2),
        ((2, 6, 7, 8, 9), (4, 3, 3, 2, 3), (4,)), 3,
    ),
    "transposed volumes": (
        lambda x, w, b: F.conv_transpose3d(x, w, b, 2, 1, 1), ((2, 4, 3, 4, 5), (4, 3, 3, 3, 3), (3,)), 3,
    ),
    "without a batch": (conv2d(), ((5, 40, 41), (6, 5, 3, 3), (6,)), 3),
    "transposed": (
        lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1), ((2, 16, 13, 12), (16, 6, 3, 3), (6,)), 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_convolution_and_its_gradients(kernels: library.Library, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, sizes, expected = CALLS[name]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=size).astype(np.float32) for size in sizes]
    used: list[str] = []
    find = PlannedKernel.call

    def noted(self: PlannedKernel, plan: Any, *kind: Any) -> Any:
        found = find(self, plan, *kind)
        used.extend([kind[0]] * (found is not None))
        return found

    monkeypatch.setattr(PlannedKernel, "call", noted)
    monkeypatch.setattr(replaced, "LEAST", 1)
    found = results(call, arrays, np.float32)
    assert len(set(used)) == expected
    for value, exact in zip(found[:3], results(call, arrays, np.float64)):  # the bias's gradient is a sum, as ever
        largest = np.abs(exact).max()
        np.testing.assert_allclose(value / largest, exact / largest, rtol=1e-5, atol=1e-5)


def test_gradients_of_gradients(kernels: library.Library) -> None:
    rng = np.random.default_rng(1)

    def second(dtype: Any) -> np.ndarray:
        x, w = (
            torch.tensor(rng.normal(size=s).astype(dtype), requires_grad=True) for s in ((2, 4, 30, 31), (6, 4, 3, 3))
        )
        (by_x,) = torch.autograd.grad(F.conv2d(x, w, padding=1).square().sum(), x, create_graph=True)
        return torch.autograd.grad(by_x.square().sum(), w)[0].numpy()

    state = rng.bit_generator.state
    found = second(np.float32)
    rng.bit_generator.state = state
    np.testing.assert_allclose(found, second(np.float64), rtol=1e-3)


def test_an_empty_batch_has_no_plan(kernels: library.Library) -> None:
    w = torch.ones(64, 64, 3, 3, requires_grad=True)
    out = F.conv2d(torch.ones(0, 64, 8, 8), w)
    out.sum().backward()
    assert out.shape == (0, 64, 6, 6)
    assert w.grad.abs().max() == 0


def test_results_do_not_depend_on_threads(kernels: library.Library) -> None:
    x, w = torch.randn(8, 16, 40, 40), torch.randn(16, 16, 3, 3)
    threads, found = torch.get_num_threads(), []
    for count in (1, 2):
        torch.set_num_threads(count)
        found.append(F.conv2d(x, w, padding=1))
    torch.set_num_threads(threads)
    assert torch.equal(*found)
    with config.patch(eager_kernels="off"):
        assert torch.allclose(found[0], F.conv2d(x, w, padding=1), atol=1e-4)
