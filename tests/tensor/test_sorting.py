"""Sorting, choosing, counting and binning against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import minitorch_compile as torch
from minitorch_compile.tensor import fake_like, from_numpy
from minitorch_compile.tensor.tensor_base import FakeDataError
from tests.tensor.awkward import arrays, layouts, special_floats

# ------------------------------------------------------------------------------------------ order


@pytest.mark.parametrize("descending", [False, True])
def test_sort_equals_numpy_and_indices_lead_back(descending: bool) -> None:
    for array in arrays(np.float32).values():
        for dim in range(-array.ndim, array.ndim):
            for _, x in layouts(array):
                values, indices = torch.sort(x, dim, descending)
                expected = -np.sort(-array, dim) if descending else np.sort(array, dim)
                np.testing.assert_array_equal(values.numpy(), expected)
                np.testing.assert_array_equal(np.take_along_axis(array, indices.numpy(), dim), expected)
                assert torch.argsort(fake_like(x), dim, descending).sizes == indices.sizes


def test_equal_elements_keep_their_order_and_nan_is_the_largest() -> None:
    x = torch.tensor([2, 1, 2, 1])
    assert torch.argsort(x, stable=True).tolist() == [1, 3, 0, 2]
    assert x.argsort(descending=True).tolist() == [0, 2, 1, 3]
    assert torch.argsort(torch.tensor([float("nan"), 1.0, float("inf")])).tolist() == [1, 2, 0]
    assert torch.argsort(torch.tensor([1.0, float("nan")]), descending=True).tolist() == [1, 0]
    assert torch.tensor(3.0).sort().indices.item() == 0
    assert torch.msort(torch.tensor([[3, 1], [2, 4]])).tolist() == [[2, 1], [3, 4]]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_topk_is_the_head_of_sort(k: int, largest: bool) -> None:
    x = from_numpy(np.random.default_rng(0).permutation(12).reshape(3, 4).astype(np.float32))
    for dim in (0, 1, -1):
        values, indices = x.topk(k, dim, largest)
        ordered = torch.sort(x, dim, descending=largest)
        assert values.tolist() == ordered.values.narrow(dim, 0, k).tolist()
        assert indices.tolist() == ordered.indices.narrow(dim, 0, k).tolist()


def test_topk_of_many_finds_them_without_sorting_all() -> None:
    array = np.random.default_rng(0).permutation(600).reshape(2, 300).astype(np.float32)
    array[0, 7] = np.nan
    for largest in (True, False):
        values, indices = from_numpy(array).topk(5, largest=largest)
        ordered = np.sort(array)[:, ::-1][:, :5] if largest else np.sort(array)[:, :5]
        np.testing.assert_array_equal(values.numpy(), ordered)
        np.testing.assert_array_equal(np.take_along_axis(array, indices.numpy(), 1), ordered)


def test_topk_names_what_is_wrong() -> None:
    with pytest.raises(RuntimeError, match="k out of range"):
        torch.topk(torch.ones(3), 4)
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.topk(torch.ones(3), 1, 1)


def test_kthvalue_counts_from_one() -> None:
    x = torch.tensor([[3.0, 1.0, 2.0], [9.0, 8.0, 7.0]])
    values, indices = torch.kthvalue(x, 2)
    assert values.tolist() == [2.0, 8.0] and indices.tolist() == [2, 1]
    assert x.kthvalue(1, 0, True).values.tolist() == [[3.0, 1.0, 2.0]]
    for k in (0, 4):
        with pytest.raises(RuntimeError, match="out of range"):
            x.kthvalue(k)


def test_gradients_go_to_the_chosen_elements() -> None:
    x = torch.tensor([[3.0, 1.0, 2.0]], requires_grad=True)
    (x.sort().values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [[100.0, 1.0, 10.0]]
    x.grad = None
    (x.topk(2).values.sum() + x.median() * 5 + x.max(1).values.sum()).backward()
    assert x.grad.tolist() == [[2.0, 0.0, 6.0]]


# ------------------------------------------------------------------------------------------ order statistics


def test_median_is_the_lower_of_the_middle() -> None:
    assert torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0])).item() == 2.0
    values, indices = torch.tensor([[5, 1, 3], [2, 2, 9]]).median(1)
    assert values.tolist() == [3, 2] and indices[0].item() == 2
    assert np.isnan(torch.median(torch.tensor([])).item())
    with pytest.raises(IndexError, match="non-zero size"):
        torch.zeros(2, 0).median(1)


def test_median_of_nan_is_nan_unless_ignored() -> None:
    x = torch.tensor([[1.0, float("nan"), 3.0], [float("nan")] * 3])
    assert np.isnan(x.median(1).values.numpy()).all()
    assert x.nanmedian(1, keepdim=True).values[0].item() == 1.0
    assert x.nanmedian().item() == 1.0


def test_equal_medians_share_the_gradient() -> None:
    x = torch.tensor([1.0, 1.0, 2.0], requires_grad=True)
    x.median().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0.0]
    with_nan = torch.tensor([1.0, float("nan")], requires_grad=True)
    assert np.isnan(with_nan.median().item()) and with_nan.nanmedian().item() == 1.0


def test_mode_is_the_smallest_of_the_most_frequent() -> None:
    array = np.random.default_rng(0).integers(0, 3, (4, 6))
    values, indices = torch.mode(from_numpy(array))
    np.testing.assert_array_equal(values.numpy(), stats.mode(array, axis=1).mode)
    np.testing.assert_array_equal(np.take_along_axis(array, indices.numpy()[:, None], 1)[:, 0], values.numpy())
    assert torch.tensor([2, 1, 1, 2]).mode().indices.item() == 2  # the last one, as in PyTorch


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_equal_numpy(interpolation: str) -> None:
    array = np.random.default_rng(0).normal(size=(4, 5))
    q = np.array([0.0, 0.3, 0.5, 1.0])
    for dim in (None, 0, -1):
        ours = torch.quantile(from_numpy(array), from_numpy(q), dim, interpolation=interpolation)
        np.testing.assert_allclose(ours.numpy(), np.quantile(array, q, dim, method=interpolation), rtol=1e-12)
    kept = torch.quantile(from_numpy(array), 0.3, 0, keepdim=True)
    assert kept.shape == (1, 5)


def test_quantiles_of_nan_and_their_errors() -> None:
    x = torch.tensor([[1.0, float("nan"), 3.0], [1.0, 2.0, 4.0]])
    assert np.isnan(x.quantile(0.5, 1).numpy()).tolist() == [True, False]
    assert x.nanquantile(0.5, 1).tolist() == [2.0, 2.0]
    for bad in (lambda: x.quantile(1.5), lambda: x.long().quantile(0.5), lambda: torch.tensor([]).quantile(0.5)):
        with pytest.raises(RuntimeError, match="quantile"):
            bad()


# ------------------------------------------------------------------------------------------ different elements


def test_unique_equals_numpy() -> None:
    array = np.array([[3, 1, 3], [2, 1, 1]])
    values, inverse, counts = torch.unique(from_numpy(array), return_inverse=True, return_counts=True)
    expected = np.unique(array, return_inverse=True, return_counts=True)
    assert all((a.numpy() == b).all() for a, b in zip((values, inverse, counts), expected, strict=True))
    assert inverse.shape == array.shape
    rows = torch.unique(torch.tensor([[1, 2], [0, 5], [1, 2]]), dim=0)
    assert rows.tolist() == [[0, 5], [1, 2]]
    with pytest.raises(FakeDataError, match="depend on the data"):
        torch.unique(fake_like(values))


def test_unique_consecutive_keeps_the_first_of_each_run() -> None:
    values, inverse, counts = torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), True, True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 1], [0, 0, 1, 2], [2, 1, 1])
    columns = torch.tensor([[1, 1, 2], [0, 0, 0]]).unique_consecutive(dim=1)
    assert columns.tolist() == [[1, 2], [0, 0]]


def test_isin_takes_tensors_and_numbers() -> None:
    x = torch.tensor([[1, 2], [3, 4]])
    assert torch.isin(x, torch.tensor([2, 3])).tolist() == [[False, True], [True, False]]
    assert torch.isin(x, 4, invert=True).tolist() == [[True, True], [True, False]]
    assert torch.isin(1, x).item() is True


# ------------------------------------------------------------------------------------------ bins


def test_bincount_equals_numpy() -> None:
    array, weights = np.array([1, 1, 5, 0]), np.array([0.5, 1.0, 2.0, 4.0])
    np.testing.assert_array_equal(torch.bincount(from_numpy(array)).numpy(), np.bincount(array))
    ours = torch.bincount(from_numpy(array), from_numpy(weights), minlength=8)
    np.testing.assert_array_equal(ours.numpy(), np.bincount(array, weights, 8))
    assert torch.bincount(torch.tensor([], dtype=torch.int64)).shape == (0,)
    for bad in (torch.tensor([-1]), torch.tensor([[1]])):
        with pytest.raises(RuntimeError, match="bincount only supports"):
            torch.bincount(bad)
    with pytest.raises(NotImplementedError, match="bincount: implemented for integer tensors"):
        torch.bincount(torch.ones(2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32])
def test_bincount_adds_up_in_float64_unless_weights_are_float32(dtype: torch.dtype) -> None:
    weights = torch.tensor([1, 2, 3]).to(dtype)
    expected = torch.float32 if dtype is torch.float32 else torch.float64
    found = torch.bincount(torch.tensor([0, 1, 1]), weights)
    assert found.dtype is expected and found.tolist() == [1, 5]
    nothing = torch.bincount(torch.tensor([], dtype=torch.int64), weights[:0], minlength=2)
    assert nothing.dtype is torch.int64 and nothing.tolist() == [0, 0]


def test_histograms_equal_numpy() -> None:
    array = np.random.default_rng(0).normal(size=50)
    x = from_numpy(array)
    np.testing.assert_array_equal(torch.histc(x, 7, -1, 1).numpy(), np.histogram(array, 7, (-1, 1))[0])
    np.testing.assert_array_equal(x.histc(5).numpy(), np.histogram(array, 5)[0])
    hist, edges = torch.histogram(x, 4, range=(-1.0, 1.0), density=True)
    expected = np.histogram(array, 4, (-1, 1), density=True)
    np.testing.assert_allclose(hist.numpy(), expected[0])
    np.testing.assert_allclose(edges.numpy(), expected[1])
    assert torch.histc(torch.tensor([1.0, float("nan"), 5.0]), 2, 0, 2).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_equals_numpy(side: str) -> None:
    row, values = np.sort(np.random.default_rng(0).integers(0, 9, 6)), np.arange(-1, 11).reshape(3, 4)
    found = torch.searchsorted(from_numpy(row), from_numpy(values), side=side)
    np.testing.assert_array_equal(found.numpy(), np.searchsorted(row, values, side))
    rows = torch.tensor([[1, 3, 5], [2, 4, 6]])
    right = side == "right"
    assert torch.searchsorted(rows, torch.tensor([[3], [3]]), right=right).tolist() == [[1 + right], [1]]
    assert torch.bucketize(torch.tensor([3]), rows[0], right=right, out_int32=True).dtype is torch.int32


def test_searchsorted_with_a_sorter_and_its_errors() -> None:
    row = torch.tensor([5.0, 1.0, 3.0])
    assert torch.searchsorted(row, 4.0, sorter=row.argsort()).item() == 2
    with pytest.raises(RuntimeError, match="side"):
        torch.searchsorted(row, 4.0, right=True, side="left")
    with pytest.raises(RuntimeError, match="first N-1 dimensions"):
        torch.searchsorted(torch.ones(2, 3), torch.ones(3, 3))


def test_special_floats_sort_as_in_numpy() -> None:
    values = special_floats()
    np.testing.assert_array_equal(from_numpy(values).sort().values.numpy(), np.sort(values))


def test_stable_may_be_none_for_a_sort_only() -> None:
    assert torch.sort(torch.tensor([3, 1, 2]), stable=None).values.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="stable"):
        torch.argsort(torch.tensor([3, 1, 2]), stable=None)
