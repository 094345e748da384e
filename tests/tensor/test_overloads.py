"""Calls that PyTorch's overloads describe, by position and by name; what it gives was recorded with PyTorch 2.13."""

from __future__ import annotations

import copy
import pickle

import pytest

import minitorch_compile as torch

X = torch.arange(6.0).reshape(2, 3)


def test_norm_takes_out_and_dtype_by_position():
    out = torch.empty(3, dtype=torch.float64)
    assert torch.norm(X, 2, 0, False, out, torch.float64) is out
    assert X.norm(2, 0, False, torch.float64).tolist() == out.tolist()
    assert [round(n, 4) for n in out.tolist()] == [3.0, 4.1231, 5.3852]


def test_tensordot_and_normalize_take_out_by_position():
    product, unit = torch.empty(0), torch.empty(0)
    assert torch.tensordot(X, X.T, 1, product) is product and product.tolist() == [[5, 14], [14, 50]]
    assert torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]), 2.0, 1, 1e-12, unit) is unit
    assert [round(n, 4) for n in unit[0].tolist()] == [0.6, 0.8]


def test_the_parts_of_a_split_are_named_as_each_overload_names_them():
    where = torch.tensor([1])
    for parts in (
        torch.tensor_split(X, tensor_indices_or_sections=where),
        X.tensor_split(sections=2),
        X.split(split_size=1),
        torch.unsafe_split(input=X, split_size=1),
        X.vsplit(split_size_or_sections=2),
    ):
        assert [part.tolist() for part in parts] == [[[0, 1, 2]], [[3, 4, 5]]]


def test_nuclear_norm_takes_keepdim_where_others_take_dims():
    assert torch.nuclear_norm(X, True).shape == (1, 1)


@pytest.mark.parametrize(
    "call", [lambda: torch.normal(size=(2,)), lambda: torch.range(end=3), lambda: torch.frobenius_norm(X)]
)
def test_what_pytorch_needs_is_needed(call):
    with pytest.raises(TypeError, match="missing"):
        call()


def test_a_return_type_is_made_of_an_iterable():
    assert torch.return_types.max([1, 2]).indices == 2 and torch.return_types.max.n_fields == 2
    with pytest.raises(TypeError, match=r"torch.return_types.max\(\) takes a 2-sequence \(1-sequence given\)"):
        torch.return_types.max((1,))


def test_what_out_stores_is_of_a_type_of_its_own():
    stored = torch.max(X, 0, out=(torch.empty(3), torch.empty(3, dtype=torch.int64)))
    assert isinstance(stored, torch.return_types.max_out) and stored.values.tolist() == [3, 4, 5]


def test_a_return_type_is_copied_and_pickled():
    found = X.max(0)
    for made in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert type(made) is torch.return_types.max and made.indices.tolist() == [1, 1, 1]


def test_a_return_type_is_known_to_the_tracer():
    found = torch.compile(lambda x: x.sort(0, descending=True), fullgraph=True, backend="eager")(X)
    assert type(found) is torch.return_types.sort and found.values[0].tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    ("check", "sizes", "answer"),
    [
        (True, (2, 3, 5, 7), (0, 1, 2, 3)),
        (True, (1, 2, 3, 4), RuntimeError),
        ([torch.contiguous_format], (1, 2, 3, 4), (0, 1, 2, 3)),
        ("x", (2, 3, 5, 7), TypeError),
    ],
)
def test_an_order_of_dimensions_may_be_asked_to_be_the_only_one(check, sizes, answer):
    x = torch.empty(sizes)
    if isinstance(answer, tuple):
        assert x.dim_order(ambiguity_check=check) == answer
    else:
        with pytest.raises(answer):
            x.dim_order(ambiguity_check=check)


def test_from_is_a_word_of_python_and_a_keyword_all_the_same():
    x = torch.empty(4)
    assert x.uniform_(**{"from": 2, "to": 3}).min() >= 2 and x.random_(**{"from": 5, "to": 6}).tolist() == [5] * 4


def test_a_lazy_convolution_takes_its_arguments_by_position():
    layer = torch.nn.LazyConv2d(4, 3, 1, 1, 1, 1, False)
    assert layer(torch.ones(1, 2, 5, 5)).shape == (1, 4, 5, 5) and layer.bias is None
    upwards = torch.nn.LazyConvTranspose2d(4, 3, 2, 1, 1, 1, True, 1)
    assert upwards(torch.ones(1, 2, 5, 5)).shape == (1, 4, 10, 10) and upwards.bias is not None
