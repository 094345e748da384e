"""Variance in every spelling, covariance, and reductions that skip NaN, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.tensor import from_numpy

ARRAY = np.random.default_rng(0).normal(size=(2, 3, 4))


@pytest.mark.parametrize(
    ("arguments", "keywords", "ddof", "axis"),
    [
        ((), {}, 1, None),
        ((False,), {}, 0, None),
        ((1,), {}, 1, 1),
        ((1, False), {}, 0, 1),
        ((), {"dim": (0, 2), "correction": 2}, 2, (0, 2)),
        ((), {"dim": -1, "unbiased": False}, 0, -1),
        ((), {"axis": 0, "correction": 0}, 0, 0),
    ],
)
def test_var_in_every_spelling(arguments: tuple, keywords: dict, ddof: int, axis: object) -> None:
    x = from_numpy(ARRAY)
    expected = ARRAY.var(axis, ddof=ddof)
    np.testing.assert_allclose(torch.var(x, *arguments, **keywords).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(x.std(*arguments, **keywords).numpy(), np.sqrt(expected), rtol=1e-12)
    variance, mean = torch.var_mean(x, *arguments, **keywords)
    np.testing.assert_allclose(variance.numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(mean.numpy(), ARRAY.mean(axis), rtol=1e-12)
    assert torch.std_mean(x, *arguments, **keywords)[1].tolist() == mean.tolist()


def test_var_keeps_dimensions_and_refuses_integers() -> None:
    x = from_numpy(ARRAY)
    assert x.var(1, keepdim=True).shape == (2, 1, 4)
    assert torch.var_mean(x, (0, 1), True, True)[1].shape == (1, 1, 4)
    assert np.isnan(torch.ones(1).var().item()) and np.isnan(torch.tensor([]).std().item())
    with pytest.raises(RuntimeError, match="only support floating point"):
        torch.tensor([1, 2]).var()
    with pytest.raises(TypeError, match="unbiased and correction"):
        x.var(0, True, correction=1)


def test_equal_elements_have_no_gradient_of_their_deviation() -> None:
    x = torch.ones(3, requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_numpy_names_of_parameters() -> None:
    x = from_numpy(ARRAY)
    assert x.sum(axis=1, keepdims=True).shape == (2, 1, 4)
    assert x.max(axis=1).values.shape == (2, 4)
    assert torch.softmax(x, axis=0).shape == x.shape
    assert torch.add(x, x2=x).tolist() == (x + x).tolist()


def test_dimensions_may_be_numpy_integers_and_integer_tensors() -> None:
    x = from_numpy(ARRAY)
    for dim in (np.int64(1), torch.tensor(1)):
        assert x.sum(dim).shape == (2, 4) and torch.std(x, dim).shape == (2, 4)


def test_closeness_of_integers_bools_and_infinities() -> None:
    assert torch.isclose(torch.tensor([1, 5]), torch.tensor([2, 9]), atol=1).tolist() == [True, False]
    assert torch.isclose(torch.tensor([True]), torch.tensor([False])).tolist() == [False]
    infinite = torch.tensor([float("inf"), -float("inf"), 1.0])
    assert torch.isclose(infinite, torch.tensor([float("inf"), float("inf"), 1.0])).tolist() == [True, False, True]
    with pytest.raises(RuntimeError, match="rtol must be"):
        torch.allclose(infinite, infinite, rtol=-1.0)
    with pytest.raises(TypeError, match="must be Tensor, not float"):
        torch.isclose(infinite, 1.0)


def test_reductions_that_skip_nan() -> None:
    array = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 2.0]])
    x = from_numpy(array)
    np.testing.assert_array_equal(x.nansum(1).numpy(), np.nansum(array, 1))
    np.testing.assert_array_equal(torch.nanmean(x, 1, keepdim=True).numpy(), np.nanmean(array, 1, keepdims=True))
    assert torch.nansum(torch.tensor([1, 2])).item() == 3
    with pytest.raises(RuntimeError, match="floating point"):
        torch.nanmean(torch.tensor([1]))


def test_any_over_no_dimensions_asks_each_element() -> None:
    x = torch.tensor([[0.0, 2.0], [1.0, 0.0]])
    assert x.any(dim=()).tolist() == [[False, True], [True, False]]
    assert torch.all(x, []).shape == (2, 2)
    assert x.sum(()).item() == 3.0


def test_positions_of_bools_are_refused_but_their_extremes_are_not() -> None:
    x = torch.tensor([False, True])
    with pytest.raises(RuntimeError, match="bool"):
        x.argmax()
    with pytest.raises(NotImplementedError, match="bool"):
        x.median()
    assert x.max(0).values.item() is True and x.max(0).indices.item() == 1


def test_counts_and_extremes() -> None:
    x = torch.tensor([[0.0, 2.0, float("nan")], [0.0, 0.0, -1.0]])
    assert x.count_nonzero().item() == 3 and torch.count_nonzero(x, 1).tolist() == [2, 1]
    assert torch.aminmax(x, dim=0).max[:2].tolist() == [0.0, 2.0]
    assert torch.tensor([3, 1]).aminmax().min.item() == 1
    assert torch.max(torch.tensor([1, 5]), other=torch.tensor([3, 2])).tolist() == [3, 5]
    assert torch.any(torch.tensor([0, 2], dtype=torch.uint8)).dtype is torch.uint8


def test_logsumexp_of_integers_and_of_nothing() -> None:
    assert torch.logsumexp(torch.tensor([1, 2]), 0).item() == pytest.approx(np.log(np.exp(1) + np.exp(2)))
    assert torch.logsumexp(torch.zeros(2, 0), 1).tolist() == [-float("inf")] * 2


def test_covariance_equals_numpy() -> None:
    rows = ARRAY[0]
    counts, weights = np.array([1, 2, 1, 3]), np.array([1.0, 0.5, 2.0, 1.0])
    x = from_numpy(rows)
    np.testing.assert_allclose(torch.cov(x).numpy(), np.cov(rows), rtol=1e-12)
    weighted = torch.cov(x, fweights=from_numpy(counts), aweights=from_numpy(weights))
    np.testing.assert_allclose(weighted.numpy(), np.cov(rows, fweights=counts, aweights=weights), rtol=1e-12)
    np.testing.assert_allclose(torch.corrcoef(x).numpy(), np.corrcoef(rows), rtol=1e-12)
    assert torch.cov(x[0]).shape == ()
    np.testing.assert_allclose(torch.cov(from_numpy(rows + 1j * rows[::-1])).numpy(), np.cov(rows + 1j * rows[::-1]))
    with pytest.raises(RuntimeError, match="two or fewer"):
        torch.cov(from_numpy(ARRAY))


def test_distances_and_renorm() -> None:
    x = torch.tensor([[3.0, 4.0], [0.3, 0.4]])
    assert torch.dist(x[0], torch.zeros(2)).item() == pytest.approx(5.0)
    assert torch.renorm(x, 2, 0, 1.0)[0].tolist() == pytest.approx([0.6, 0.8])
    assert torch.renorm(x, 2, 0, 1.0)[1].tolist() == x[1].tolist()
