"""Pooling against a loop over windows; the corner cases as PyTorch 2.13 has them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import from_numpy
from minitorch_compile.tensor.ops import max_pooling

MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
MEAN = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE_MEAN = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
ADAPTIVE_MAX = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
UNPOOL = {1: F.max_unpool1d, 2: F.max_unpool2d, 3: F.max_unpool3d}
SIZES = {1: (9,), 2: (7, 6), 3: (4, 5, 3)}

nan, inf = math.nan, math.inf


def random(*sizes: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=sizes)


def windows(sizes, kernel, stride, padding, dilation=1, ceil_mode=False):
    """For each window, in order: its places along each dimension, those in the padding included."""
    along = []
    for n in sizes:
        room = n + 2 * padding - dilation * (kernel - 1) - 1
        count = (math.ceil if ceil_mode else math.floor)(room / stride) + 1
        starts = [i * stride - padding for i in range(count)]
        starts = [s for s in starts if not ceil_mode or s < n]
        along.append([[s + k * dilation for k in range(kernel)] for s in starts])
    return along


WINDOWS = [(2, 2, 0, 1, False), (3, 2, 1, 1, False), (3, 2, 1, 1, True), (2, 1, 1, 2, False), (2, 3, 0, 1, True)]


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation", "ceil_mode"), WINDOWS)
def test_maxima_and_their_places(ndim, kernel, stride, padding, dilation, ceil_mode):
    x = random(2, 3, *SIZES[ndim])
    along = windows(SIZES[ndim], kernel, stride, padding, dilation, ceil_mode)
    values, places = MAX[ndim](from_numpy(x), kernel, stride, padding, dilation, ceil_mode, return_indices=True)
    expected = np.empty((2, 3, *map(len, along)))
    for at in itertools.product(*(range(len(a)) for a in along)):
        inside = [[p for p in a[i] if 0 <= p < n] for a, i, n in zip(along, at, SIZES[ndim], strict=True)]
        expected[(..., *at)] = x[(slice(None), slice(None), *np.ix_(*inside))].max(axis=tuple(range(2, 2 + ndim)))
    np.testing.assert_array_equal(values.numpy(), expected)
    flat = x.reshape(2, 3, -1)
    np.testing.assert_array_equal(
        np.take_along_axis(flat, places.numpy().reshape(2, 3, -1), 2), expected.reshape(2, 3, -1)
    )


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "ceil_mode"), [(2, 2, 0, False), (3, 2, 1, False), (3, 2, 1, True), (2, 3, 0, True)]
)
def test_means(ndim, kernel, stride, padding, ceil_mode, count_include_pad):
    x = random(2, 3, *SIZES[ndim])
    along = windows(SIZES[ndim], kernel, stride, padding, 1, ceil_mode)
    actual = MEAN[ndim](from_numpy(x), kernel, stride, padding, ceil_mode, count_include_pad)
    expected = np.empty((2, 3, *map(len, along)))
    for at in itertools.product(*(range(len(a)) for a in along)):
        seen = [a[i] for a, i in zip(along, at, strict=True)]
        inside = [[p for p in places if 0 <= p < n] for places, n in zip(seen, SIZES[ndim], strict=True)]
        counted = (
            [[p for p in places if p < n + padding] for places, n in zip(seen, SIZES[ndim], strict=True)]
            if count_include_pad
            else inside
        )
        total = x[(slice(None), slice(None), *np.ix_(*inside))].sum(axis=tuple(range(2, 2 + ndim)))
        expected[(..., *at)] = total / math.prod(map(len, counted))
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-10)


@pytest.mark.parametrize("special", [None, nan, inf])
def test_large_kernels_are_searched_in_another_way(special, monkeypatch):
    x = np.random.default_rng(0).integers(0, 4, (2, 2, 7, 8, 6)).astype("f")  # with many equals
    if special is not None:
        x[np.random.default_rng(1).random(x.shape) < 0.1] = special
    window = ((3, 4, 3), (2, 1, 2), (1, 2, 1), (1, 1, 2), True)
    monkeypatch.setattr(max_pooling, "FEW_TAPS", 100)
    values, places = max_pooling.max_pool_with_indices(from_numpy(x), *window)
    monkeypatch.setattr(max_pooling, "FEW_TAPS", 0)
    others = max_pooling.max_pool_with_indices(from_numpy(x), *window)
    np.testing.assert_array_equal(others[0].numpy(), values.numpy())
    np.testing.assert_array_equal(others[1].numpy(), places.numpy())


def test_a_divisor_of_ones_own():
    x = torch.arange(4.0).view(1, 1, 2, 2)
    assert F.avg_pool2d(x, 2, divisor_override=3).item() == 2
    assert F.avg_pool2d(x, 2, divisor_override=-1).item() == -6


def test_the_mean_of_integers_is_rounded_towards_zero():
    assert F.avg_pool1d(torch.tensor([[[1, 2, -1, -2]]]), 2).tolist() == [[[1, -1]]]


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("out", [1, 2, 3, 5, 7])
def test_adaptive_pooling_divides_into_equal_parts(ndim, out):
    x = random(2, 2, *SIZES[ndim])
    parts = [[slice(i * n // out, -(-(i + 1) * n // out)) for i in range(out)] for n in SIZES[ndim]]
    means, maxima = ADAPTIVE_MEAN[ndim](from_numpy(x), out), ADAPTIVE_MAX[ndim](from_numpy(x), out, True)
    dims = tuple(range(2, 2 + ndim))
    for at in itertools.product(range(out), repeat=ndim):
        part = x[(slice(None), slice(None), *(p[i] for p, i in zip(parts, at, strict=True)))]
        np.testing.assert_allclose(means.numpy()[(..., *at)], part.mean(axis=dims), rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(maxima[0].numpy()[(..., *at)], part.max(axis=dims))
    flat = x.reshape(2, 2, -1)
    found = np.take_along_axis(flat, maxima[1].numpy().reshape(2, 2, -1), 2)
    np.testing.assert_array_equal(found, maxima[0].numpy().reshape(2, 2, -1))


def test_none_keeps_a_size():
    assert F.adaptive_avg_pool2d(torch.ones(1, 1, 4, 6), (None, 3)).shape == (1, 1, 4, 3)


def test_no_parts_at_all():
    assert F.adaptive_avg_pool2d(torch.ones(1, 2, 4, 6), (0, 3)).shape == (1, 2, 0, 3)


class TestSpecialNumbers:
    def test_the_last_nan_wins(self):
        value, place = F.max_pool1d(torch.tensor([[nan, 1.0, nan, 2.0]]), 4, return_indices=True)
        assert math.isnan(value.item())
        assert place.item() == 2

    def test_a_window_of_minus_infinity_has_a_place_inside(self):
        values, places = F.max_pool2d(torch.full((1, 2, 2), -inf), 2, padding=1, return_indices=True)
        assert places.tolist() == [[[0, 1], [2, 3]]]
        assert (values == -inf).all()

    def test_a_dilated_window_of_minus_infinity_has_its_first_place_inside(self):
        places = F.max_pool1d(torch.full((1, 5), -inf), 3, 1, 1, 2, return_indices=True)[1]
        assert places.tolist() == [[1, 0, 1]]

    def test_the_first_of_equals(self):
        assert F.max_pool2d(torch.ones(1, 2, 2), 2, return_indices=True)[1].item() == 0


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_unpooling_puts_values_back(ndim):
    x = from_numpy(np.abs(random(2, 3, *SIZES[ndim])))
    values, places = MAX[ndim](x, 2, return_indices=True)
    back = UNPOOL[ndim](values, places, 2, output_size=x.shape)
    assert back.shape == x.shape
    assert torch.equal(MAX[ndim](back, 2), values)
    assert (back != 0).sum() == values.numel()


def test_power_means():
    x = torch.tensor([[[3.0, 4.0, 6.0, 8.0]]])
    assert F.lp_pool1d(x, 2, 2).tolist() == [[[5, 10]]]
    assert F.lp_pool2d(x, 1, (1, 4)).tolist() == [[[21]]]


@pytest.mark.parametrize("pool", [MAX[2], MEAN[2], lambda x, k: F.adaptive_avg_pool2d(x, (3, 3))])
def test_without_a_batch_dimension(pool):
    x = torch.randn(3, 6, 6)
    assert torch.equal(pool(x, 2), pool(x[None], 2)[0])


@pytest.mark.parametrize("pool", [F.max_pool2d, F.avg_pool2d, lambda x, k: F.adaptive_max_pool2d(x, 3)])
def test_channels_last_stays_channels_last(pool):
    x = torch.randn(2, 3, 4, 4)
    actual = pool(x.to(memory_format=torch.channels_last), 2)
    assert actual.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(actual, pool(x, 2))


X = torch.ones(2, 4, 6, 6)
REFUSED = {
    "three sizes for two dimensions": (lambda: F.max_pool2d(X, (2, 2, 2)), RuntimeError, "list of 2 values"),
    "too much padding": (lambda: F.max_pool2d(X, 2, padding=2), RuntimeError, "at most half of effective kernel size"),
    "too much padding for a dilated kernel": (
        lambda: F.max_pool2d(X, 2, padding=2, dilation=3),
        RuntimeError,
        "at most half of effective kernel size",
    ),
    "stride 0": (lambda: F.max_pool2d(X, 2, 0), RuntimeError, "stride must be positive"),
    "dilation 0": (lambda: F.max_pool2d(X, 2, dilation=0), RuntimeError, "dilation must be positive"),
    "an empty result": (lambda: F.max_pool2d(X, 7), RuntimeError, "Output size is too small"),
    "two dimensions": (lambda: F.max_pool2d(X[0, 0], 2), RuntimeError, "Expected 3D or 4D"),
    "a window of padding only": (
        lambda: F.max_pool1d(torch.ones(1, 2, 1), 2, padding=1, dilation=2),
        RuntimeError,
        "a window sees nothing but padding",
    ),
    "two dimensions for a mean": (lambda: F.avg_pool2d(X[0, 0], 2), IndexError, "Expected 3D or 4D"),
    "four for one": (lambda: F.avg_pool1d(X, 2), RuntimeError, "Expected 2D or 3D"),
    "bools": (lambda: F.max_pool2d(X.bool(), 2), NotImplementedError, "not implemented for 'Bool'"),
    "complex means": (lambda: F.avg_pool2d(X * 1j, 2), NotImplementedError, '"avg_pool2d" not implemented for'),
    "complex maxima": (lambda: F.max_pool2d(X * 1j, 2), NotImplementedError, '"max_pool2d" not implemented for'),
    "parts' complex means": (
        lambda: F.adaptive_avg_pool2d(X * 1j, (3, 2)),
        NotImplementedError,
        '"adaptive_avg_pool2d" not implemented for',
    ),
    "a fraction": (lambda: F.avg_pool2d(X, 2.0), TypeError, "'kernel_size' must be an int"),
    "division by 0": (lambda: F.avg_pool2d(X, 2, divisor_override=0), RuntimeError, "divisor must be not zero"),
    "a negative output": (lambda: F.adaptive_avg_pool2d(X, (-1, 2)), RuntimeError, "greater than or equal to 0"),
    "places that are no integers": (lambda: F.max_unpool2d(X, X, 2), RuntimeError, "type int64"),
    "places outside": (lambda: F.max_unpool2d(X, X.long() + 1000, 2), RuntimeError, "invalid max index: 1001"),
    "an impossible size": (
        lambda: F.max_unpool2d(X, X.long(), 2, output_size=(20, 20)),
        ValueError,
        "dim 0 must be between 10 and 14",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()
