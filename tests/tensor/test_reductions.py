"""Reductions against NumPy in float64: every dimension, keepdim, awkward sizes and layouts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.tensor import fake_like, from_numpy, ops
from tests.tensor.awkward import arrays, layouts

REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "amax": np.amax,
    "amin": np.amin,
    "any": np.any,
    "all": np.all,
}
HAS_NO_VALUE_WHEN_EMPTY = ("amax", "amin")


def dims_of(ndim: int) -> list[object]:
    single = [*range(-ndim, ndim)]
    return [None, *single, *(list(c) for c in itertools.combinations(range(ndim), 2)), []]


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction_equals_numpy(name: str, keepdim: bool) -> None:
    op = ops.table[name]
    for array in arrays(np.float64).values():
        for dim in dims_of(array.ndim):
            all_dims = dim is None or (dim == [] and name not in ("any", "all"))  # those two collapse none of them
            axes = tuple(range(array.ndim)) if all_dims else tuple(np.atleast_1d(dim).astype(int).tolist())
            empty = any(array.shape[a] == 0 for a in axes)
            for _, x in layouts(array):
                if empty and name in HAS_NO_VALUE_WHEN_EMPTY:
                    with pytest.raises(RuntimeError if dim is None else IndexError, match="non-zero size"):
                        op(x, dim, keepdim)
                    continue
                with np.errstate(all="ignore"):
                    expected = (
                        np.asarray(REDUCTIONS[name](array, axis=axes, keepdims=keepdim))
                        if not (empty and name == "mean")
                        else None
                    )
                result, fake = op(x, dim, keepdim), op(fake_like(x), dim, keepdim)
                assert (fake.sizes, fake.strides, fake.dtype) == (result.sizes, result.strides, result.dtype)
                if expected is None:
                    assert np.isnan(result.numpy()).all()
                else:
                    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-12)
                    assert tuple(result.shape) == expected.shape


def test_integers_and_bools_add_up_in_int64() -> None:
    assert torch.tensor([True, True]).sum().dtype is torch.int64
    assert torch.tensor([200, 100], dtype=torch.uint8).sum().item() == 300
    assert torch.tensor([1, 2]).sum(dtype=torch.float64).dtype is torch.float64


def test_mean_of_integers_needs_a_dtype() -> None:
    with pytest.raises(RuntimeError, match="Input dtype must be floating point"):
        torch.tensor([1, 2]).mean()
    assert torch.tensor([1, 2]).mean(dtype=torch.float32).item() == 1.5


def test_nan_wins_in_extremes() -> None:
    x = torch.tensor([1.0, float("nan"), 3.0])
    assert np.isnan(x.max().item()) and np.isnan(x.amin().item())
    assert x.argmax().item() == 1


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arg_reductions_take_the_first_of_equals(name: str) -> None:
    x = np.array([[1, 3, 3], [0, 0, 5]], np.float32)
    for dim in (None, 0, 1, -1):
        assert ops.table[name](from_numpy(x), dim).tolist() == getattr(np, name)(x, axis=dim).tolist()
    assert ops.table[name](torch.tensor(2.0), 0).item() == 0
    with pytest.raises(IndexError, match="non-zero size"):
        ops.table[name](torch.zeros(2, 0), 1)


def test_max_over_a_dimension_names_values_and_indices() -> None:
    values, indices = torch.tensor([[1.0, 4.0], [3.0, 2.0]]).max(dim=1)
    assert values.tolist() == [4.0, 3.0] and indices.tolist() == [1, 0]
    assert torch.max(torch.tensor([1, 5]), torch.tensor([3, 2])).tolist() == [3, 5]


@pytest.mark.parametrize("correction", [0, 1])
def test_var_and_std(correction: int) -> None:
    for array in arrays(np.float64).values():
        if array.size < 2:
            continue
        x = from_numpy(array)
        np.testing.assert_allclose(x.var(correction=correction).item(), array.var(ddof=correction), rtol=1e-12)
        np.testing.assert_allclose(x.std(dim=-1, correction=0).numpy(), array.std(axis=-1), rtol=1e-10, atol=1e-12)


def softmax_oracle(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_softmax_family(name: str) -> None:
    for array in arrays(np.float64).values():
        if array.ndim == 0 or array.size == 0:
            continue
        for axis in range(-array.ndim, array.ndim):
            soft = softmax_oracle(array, axis)
            oracle = {"softmax": soft, "log_softmax": np.log(soft), "logsumexp": np.log(np.exp(array).sum(axis))}[name]
            for _, x in layouts(array):
                np.testing.assert_allclose(ops.table[name](x, axis).numpy(), oracle, rtol=1e-12, atol=1e-12)


def test_softmax_of_0d_empty_and_huge() -> None:
    assert torch.softmax(torch.tensor(3.0), 0).item() == 1.0
    assert torch.softmax(torch.zeros(2, 0), 1).shape == (2, 0)
    assert torch.softmax(torch.tensor([1000.0, 1000.0]), 0).tolist() == [0.5, 0.5]
    assert torch.logsumexp(torch.tensor([1e4, 1e4]), 0).item() == pytest.approx(1e4 + np.log(2))
    with pytest.raises(RuntimeError, match="floating-point"):
        torch.softmax(torch.tensor([1, 2]), 0)
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.softmax(torch.ones(2), 1)


def test_bad_dims_are_named() -> None:
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.ones(2).sum(1)
    with pytest.raises(RuntimeError, match="may appear once"):
        torch.ones(2, 2).sum((0, 0))
