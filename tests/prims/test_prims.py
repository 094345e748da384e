"""The prims: few, strict, documented, and each with a meaning of its own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from minitorch_compile import prims
from minitorch_compile.prims.prim import find
from minitorch_compile.tensor import empty_fake, float32, float64, from_numpy, int64, ones, tensor

X = ones(2, 3)
PRIMS = list(prims.table.values())


def test_the_set_is_small():
    """The only place that says how many there may be: one more takes a reason."""
    assert len(prims.table) <= 110


@pytest.mark.parametrize("prim", PRIMS, ids=repr)
def test_every_prim_is_documented_and_found_by_name(prim):
    assert prim.__doc__ and prim.dtypes in prim.__doc__ and prim.sizes in prim.__doc__
    assert prim.dtypes and prim.sizes
    assert repr(prim) == f"prims.{prim.name}"
    assert find(prim.name) is prim
    assert pickle.loads(pickle.dumps(prim)) is prim
    assert getattr(prims, prim.name) is prim


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="no prim named 'softmax'"):
        find("softmax")


REFUSED = {
    "broadcasting": (lambda: prims.add(X, ones(3)), "expected b to be like a"),
    "promotion": (lambda: prims.mul(X, ones(2, 3, dtype=float64)), "expected b to be like a"),
    "a number": (lambda: prims.add(X, 1), "expected b to be a tensor, but it is 1"),
    "a bool where numbers are expected": (lambda: prims.neg(X.bool()), "expected x to be a integer or floating-point"),
    "an integer where floats are expected": (lambda: prims.exp(tensor([1])), "expected x to be a floating-point"),
    "a float where bits are expected": (lambda: prims.bitwise_not(X), "expected x to be a bool or integer"),
    "a condition that isn't bool": (lambda: prims.where(X, X, X), "expected cond to be a bool tensor"),
    "a dtype that isn't one": (lambda: prims.convert_element_type(X, float), "expected dtype to be a dtype"),
    "negative dimensions": (lambda: prims.sum(X, (-1,)), "expected dims to be a sorted tuple"),
    "unsorted dimensions": (lambda: prims.amax(X, (1, 0)), "expected dims to be a sorted tuple"),
    "one dimension alone": (lambda: prims.sum(X, 1), "expected dims to be a sorted tuple"),
    "a maximum over nothing": (lambda: prims.amax(ones(0, 3), (0,)), "non-zero size"),
    "the sum of bools": (lambda: prims.sum(X.bool(), (0,)), "expected x to be a integer or floating-point"),
    "a negative size": (lambda: prims.reshape(X, (-1,)), "expected sizes to be a tuple of 1 ints >= 0"),
    "another number of elements": (lambda: prims.reshape(X, (5,)), "expected sizes to be the sizes of 6 elements"),
    "a partial permutation": (lambda: prims.transpose(X, (0,)), "expected permutation"),
    "sizes that don't broadcast": (
        lambda: prims.broadcast_in_dim(X, (2, 4), (0, 1)),
        "expected x to be of sizes that fit",
    ),
    "dimensions that don't broadcast": (lambda: prims.broadcast_in_dim(X, (2, 3), (1, 0)), "broadcast_dimensions"),
    "a slice past the end": (lambda: prims.slice(X, (0, 0), (2, 4), (1, 1)), "expected limit_indices"),
    "a backward slice": (lambda: prims.slice(X, (0, 0), (2, 3), (1, -1)), "expected strides"),
    "squeezing what isn't 1": (lambda: prims.squeeze(X, (0,)), "expected dims to be dimensions of size 1"),
    "negative padding": (lambda: prims.pad(X, (0, -1), (0, 0), 0), "expected low"),
    "cat of nothing": (lambda: prims.cat([], 0), "expected tensors to be a non-empty list"),
    "cat of dtypes": (lambda: prims.cat([X, X.long()], 0), r"expected tensors\[1\] to be like"),
    "a tensor as value": (lambda: prims.full((2,), X, float32), "expected value to be a number"),
    "random integers": (lambda: prims.philox_uniform((2,), tensor(0), tensor(0), int64), "floating-point dtype"),
    "a seed with a dimension": (lambda: prims.philox_uniform((2,), tensor([0]), tensor(0), float32), "expected seed"),
    "an index of another dtype": (lambda: prims.gather(X, 0, tensor([[0]]).int()), "expected index to be an int64"),
    "indices that broadcast": (lambda: prims.index(X, (tensor([0, 1]), tensor([0]))), "be like the other indices"),
    "values that broadcast": (lambda: prims.index_put(X, (tensor([0]),), ones(3), False), "be like x"),
    "a product that doesn't fit": (lambda: prims.mm(X, X), "expected b to be of a's dtype and with 3 rows"),
    "a batch that broadcasts": (lambda: prims.bmm(ones(2, 3, 4), ones(1, 4, 5)), "expected b"),
    "an index into nothing": (lambda: prims.argmax(ones(0), 0), "non-zero size"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_prims_refuse_what_is_not_exact(name):
    call, message = REFUSED[name]
    with pytest.raises(RuntimeError, match=f"^prims.*{message}"):
        call()


def test_prims_are_as_strict_about_fake_tensors():
    with pytest.raises(RuntimeError, match="expected b to be like a"):
        prims.add(empty_fake((2,)), empty_fake((3,)))


def test_division_of_integers_truncates():
    a, b = tensor([7, -7, 7, -7]), tensor([2, 2, -2, -2])
    assert prims.div(a, b).tolist() == [3, -3, -3, 3]
    assert prims.fmod(a, b).tolist() == [1, -1, 1, -1]
    assert prims.remainder(a, b).tolist() == [1, 1, -1, -1]


def test_maximum_and_amax_pass_nan_on():
    x = tensor([1.0, float("nan"), 3.0])
    assert np.isnan(prims.maximum(x, ones(3)).array).tolist() == [False, True, False]
    assert np.isnan(prims.amax(x, (0,)).item())
    assert prims.argmax(x, 0).item() == 1


def test_the_sign_bit_of_zeros_and_nans():
    x = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf])
    assert prims.signbit(from_numpy(x)).tolist() == [False, True] * 3


def test_results_are_row_major_whatever_comes_in():
    x = from_numpy(np.arange(6.0).reshape(2, 3)).t()
    for result in (
        prims.neg(x),
        prims.transpose(x, (1, 0)),
        prims.reshape(x, (6,)),
        prims.slice(x, (0, 0), (3, 1), (1, 1)),
    ):
        assert result.is_contiguous()
    assert prims.reshape(x, (6,)).tolist() == [0, 3, 1, 4, 2, 5]


def test_shape_rules_agree_with_kernels_on_0_d_and_empty_tensors():
    for x in (ones(()), ones(0, 3)):
        for prim, parameters in (
            (prims.neg, ()),
            (prims.reshape, (tuple(x.shape),)),
            (prims.transpose, (tuple(range(x.ndim)),)),
            (prims.rev, (tuple(range(x.ndim)),)),
            (prims.sum, (tuple(range(x.ndim)),)),
            (prims.broadcast_in_dim, ((2, *x.shape), tuple(range(1, x.ndim + 1)))),
            (prims.pad, ((0,) * x.ndim, (0,) * x.ndim, 1.0)),
        ):
            assert prim(x, *parameters).sizes == prim.meta(x, *parameters).sizes, prim


def test_scatters_add_up_where_indices_repeat():
    out = prims.scatter_add(tensor([0.0, 0.0]), 0, tensor([1, 1, 1]), ones(3))
    assert out.tolist() == [0.0, 3.0]
    out = prims.index_put(tensor([0.0, 0.0]), (tensor([1, -1]),), ones(2), True)
    assert out.tolist() == [0.0, 2.0]


def test_an_index_out_of_range_is_an_error():
    with pytest.raises(IndexError):
        prims.index(X, (tensor([2]),))
