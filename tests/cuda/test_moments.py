"""Mean and variance of a channel: both from one pass over memory, as exact as from two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.inductor.device_calls import lifted_kernel, split_for_device
from minitorch_compile.inductor.device_calls.one_op_graph import schedule_of
from minitorch_compile.tensor import empty_fake, ops


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The few elements of a test are dealt out as many are."""
    monkeypatch.setattr(lifted_kernel, "FEW", 0)
    monkeypatch.setattr(split_for_device, "MANY", 0)
    monkeypatch.setattr(split_for_device, "LONG_ROW", 64)
    monkeypatch.setattr(split_for_device, "SHORTEST_ROW", 16)


LAYOUTS = [torch.channels_last, torch.contiguous_format]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_batch_is_read_once_for_mean_and_variance(layout: Any) -> None:
    x = empty_fake((8, 6, 8, 8)).contiguous(memory_format=layout)
    planned = schedule_of(ops.native_batch_norm, (x, None, None, 1e-5), [x])
    assert [x.sizes for step in planned.steps for x in step.inputs].count((8, 6, 8, 8)) == 3  # the second: one element
    assert sum("_first_rows" in str(step.outputs) for step in planned.steps) == 1


def statistics(x: np.ndarray, layout: Any) -> tuple[np.ndarray, ...]:
    given = torch.from_numpy(x).cuda().contiguous(memory_format=layout)
    return tuple(y.cpu().numpy() for y in torch.compile(ops.native_batch_norm)(given, None, None, 1e-5))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("offset", [0, 1e3, -1e6])
def test_variance_is_exact_far_from_zero(layout: Any, offset: float) -> None:
    x = np.random.default_rng(0).standard_normal((8, 6, 8, 8)).astype(np.float32) + np.float32(offset)
    x[0, 0, 0, 0] += 1e4  # distances are taken from that one
    x[:, 1] = 3.7
    _, mean, variance = statistics(x, layout)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(mean.ravel(), wide.mean((0, 2, 3)), rtol=3e-7, atol=3e-8)
    np.testing.assert_allclose(variance.ravel(), wide.var((0, 2, 3)), rtol=3e-7, atol=0)


def test_infinite_and_undefined_numbers_stay_in_their_channel() -> None:
    x = np.random.default_rng(0).standard_normal((8, 6, 8, 8)).astype(np.float32)
    x[0, 0, 0, 0], x[3, 1, 2, 2], x[0, 2, 0, 0], x[2, 3, 1, 1] = np.inf, -np.inf, np.nan, np.nan
    x[1, 4, 0, 0], x[0, 4, 0, 0] = np.inf, -np.inf
    _, mean, variance = statistics(x, torch.channels_last)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(mean.ravel(), x.mean((0, 2, 3)), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(variance.ravel(), x.var((0, 2, 3)), rtol=1e-5)


def test_another_number_than_the_mean_takes_two_passes() -> None:
    def apart(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x.sum(0)
        return total, ((x - total / 63) * (x - total / 63)).sum(0)

    x = torch.randn(64, 40)
    for found, expected in zip(torch.compile(apart)(x.cuda()), apart(x)):
        np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), rtol=2e-5, atol=1e-5)
