"""Running sums, products, extremes and differences against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.tensor import fake_like, from_numpy, ops
from tests.tensor.awkward import arrays, layouts

SCANS = {"cumsum": np.cumsum, "cumprod": np.cumprod, "logcumsumexp": np.logaddexp.accumulate}


@pytest.mark.parametrize("name", SCANS)
def test_scan_equals_numpy(name: str) -> None:
    for array in arrays(np.float64).values():
        for dim in range(-array.ndim, array.ndim) if array.ndim else (0, -1):
            expected = SCANS[name](array, dim) if array.ndim else array
            for _, x in layouts(array):
                result, fake = ops.table[name](x, dim), ops.table[name](fake_like(x), dim)
                assert (fake.sizes, fake.strides, fake.dtype) == (result.sizes, result.strides, result.dtype)
                np.testing.assert_allclose(result.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_integers_and_bools_accumulate_in_int64(name: str) -> None:
    for dtype in (torch.int8, torch.uint8, torch.bool, torch.int64):
        result = ops.table[name](torch.tensor([1, 1, 1], dtype=dtype), 0)
        assert result.dtype is torch.int64
    assert torch.cumsum(torch.tensor([1, 2]), 0, dtype=torch.float64).dtype is torch.float64
    assert torch.tensor([1, 2, 3], dtype=torch.int32).cumsum_(0).dtype is torch.int32


def test_half_floats_are_accumulated_in_single_precision() -> None:
    x = torch.full((4000,), 0.1, dtype=torch.float16)
    assert x.cumsum(0)[-1].item() == pytest.approx(400, rel=2e-3)
    assert x.sum().item() == pytest.approx(400, rel=2e-3)
    assert torch.full((70000,), 1.0, dtype=torch.float16).mean().item() == 1.0


def test_logcumsumexp_does_not_overflow_and_keeps_minus_infinity() -> None:
    x = torch.tensor([-float("inf"), 1000.0, 1000.0], requires_grad=True)
    result = torch.logcumsumexp(x, 0)
    assert result.tolist() == [-float("inf"), 1000.0, pytest.approx(1000 + np.log(2))]
    result[1:].sum().backward()
    assert x.grad.tolist() == pytest.approx([0.0, 1.5, 0.5], rel=1e-4)
    with pytest.raises(NotImplementedError, match="floating-point"):
        torch.logcumsumexp(torch.tensor([1]), 0)


def test_running_extremes_take_the_last_of_equals_and_keep_nan() -> None:
    values, indices = torch.cummax(torch.tensor([1, 1, 3, 2, 3]), 0)
    assert values.tolist() == [1, 1, 3, 3, 3] and indices.tolist() == [0, 1, 2, 2, 4]
    values, indices = torch.tensor([2.0, float("nan"), 1.0]).cummin(0)
    assert np.isnan(values.numpy()).tolist() == [False, True, True]
    assert indices.tolist() == [0, 1, 1]
    assert torch.tensor(3.0).cummax(0).indices.item() == 0


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_diff_equals_numpy(n: int) -> None:
    array = np.array([[1.0, 4.0, 9.0], [0.0, 2.0, -1.0]])
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(torch.diff(from_numpy(array), n, axis).numpy(), np.diff(array, n, axis))


def test_diff_of_bools_and_with_what_is_around() -> None:
    assert torch.diff(torch.tensor([True, True, False])).tolist() == [False, True]
    around = torch.diff(torch.tensor([3, 4]), prepend=torch.tensor([1]), append=torch.tensor([9]))
    assert around.tolist() == [2, 1, 5]
    with pytest.raises(RuntimeError, match="one-dimensional"):
        torch.diff(torch.tensor(1))


def test_trapezoids() -> None:
    y, x = np.array([[1.0, 3.0, 2.0], [0.0, 1.0, 5.0]]), np.array([0.0, 1.0, 4.0])
    np.testing.assert_allclose(torch.trapezoid(from_numpy(y), dx=0.5).numpy(), np.trapezoid(y, dx=0.5))
    np.testing.assert_allclose(torch.trapz(from_numpy(y), from_numpy(x)).numpy(), np.trapezoid(y, x))
    np.testing.assert_allclose(torch.trapezoid(from_numpy(y), dim=0).numpy(), np.trapezoid(y, axis=0))
    assert torch.cumulative_trapezoid(from_numpy(y))[0].tolist() == [2.0, 4.5]


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_equals_numpy(edge_order: int) -> None:
    array = np.random.default_rng(0).normal(size=(4, 5))
    uneven = np.array([0.0, 0.5, 2.0, 2.5, 4.0])
    x = from_numpy(array)
    for ours, expected in zip(
        torch.gradient(x, edge_order=edge_order), np.gradient(array, edge_order=edge_order), strict=True
    ):
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-12)
    (ours,) = torch.gradient(x, spacing=(from_numpy(uneven),), dim=-1, edge_order=edge_order)
    np.testing.assert_allclose(ours.numpy(), np.gradient(array, uneven, axis=1, edge_order=edge_order), rtol=1e-10)
    (ours,) = torch.gradient(x, spacing=0.5, dim=0)
    np.testing.assert_allclose(ours.numpy(), np.gradient(array, 0.5, axis=0), rtol=1e-12)


def test_gradient_names_what_is_wrong() -> None:
    for arguments in ({"edge_order": 3}, {"spacing": (1.0, 2.0, 3.0)}):
        with pytest.raises(RuntimeError, match="gradient"):
            torch.gradient(torch.ones(3, 3), **arguments)
    with pytest.raises(RuntimeError, match="at least edge_order"):
        torch.gradient(torch.ones(1))
