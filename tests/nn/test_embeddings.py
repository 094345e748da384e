"""Embeddings and bags of them, against loops over the entries."""

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.autograd import gradcheck
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import float64, from_numpy, int32, tensor

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(5, 3))
REDUCE = {"sum": lambda rows: rows.sum(0), "mean": lambda rows: rows.mean(0), "max": lambda rows: rows.max(0)}


def naive_bags(bags, mode, padding=None):
    """One bag at a time; zeros where nothing counts."""
    out = np.zeros((len(bags), 3))
    for i, bag in enumerate(bags):
        counted = [j for j in bag if j != padding]
        if counted:
            out[i] = REDUCE[mode](TABLE[counted])
    return out


class TestEmbedding:
    def test_rows_longer_than_max_norm_are_shortened_in_place(self):
        table = tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
        rows = F.embedding(tensor([0, 1, 0]), table, max_norm=1.0)
        assert rows.flatten().tolist() == pytest.approx([0.6, 0.8, 0.3, 0.4, 0.6, 0.8])
        assert table.flatten().tolist() == pytest.approx([0.6, 0.8, 0.3, 0.4, 6, 8])

    def test_gradients_divided_by_the_number_of_uses(self):
        table = torch.ones(3, 1, requires_grad=True)
        F.embedding(tensor([[0, 1], [0, 0]]), table, scale_grad_by_freq=True).sum().backward()
        assert table.grad.flatten().tolist() == pytest.approx([1, 1, 0])

    def test_a_padding_row_out_of_range(self):
        with pytest.raises(AssertionError, match="within num_embeddings"):
            F.embedding(tensor([0]), torch.ones(2, 2), padding_idx=2)

    def test_the_modules_settings_are_printed_and_used(self):
        layer = nn.Embedding(4, 2, padding_idx=-1, max_norm=0.5, norm_type=1.0, scale_grad_by_freq=True, sparse=True)
        assert repr(layer) == (
            "Embedding(4, 2, padding_idx=3, max_norm=0.5, norm_type=1.0, scale_grad_by_freq=True, sparse=True)"
        )
        assert (layer(tensor([0, 1])).abs().sum(1) <= 0.5 + 1e-6).all() and not layer.weight[3].any()

    def test_from_pretrained(self):
        layer = nn.Embedding.from_pretrained(from_numpy(TABLE), freeze=False, padding_idx=1)
        assert layer.weight.requires_grad and layer.padding_idx == 1 and layer.weight[1].any()
        with pytest.raises(AssertionError, match="2-dimensional"):
            nn.Embedding.from_pretrained(torch.ones(3))


@pytest.mark.parametrize("mode", REDUCE)
@pytest.mark.parametrize("padding", [None, 1])
class TestBags:
    def test_rows_as_bags(self, mode, padding):
        entries = np.array([[1, 2, 2], [0, 1, 4], [1, 1, 1]])
        out = F.embedding_bag(*map(from_numpy, (entries, TABLE)), mode=mode, padding_idx=padding)
        np.testing.assert_allclose(out.numpy(), naive_bags(entries.tolist(), mode, padding))

    def test_bags_that_begin_at_offsets(self, mode, padding):
        entries, offsets = np.array([3, 1, 1, 0, 4, 4]), np.array([0, 2, 2, 3])
        bags = [[3, 1], [], [1], [0, 4, 4]]
        out = F.embedding_bag(*map(from_numpy, (entries, TABLE, offsets)), mode=mode, padding_idx=padding)
        np.testing.assert_allclose(out.numpy(), naive_bags(bags, mode, padding))
        with_end = from_numpy(np.array([0, 2, 2, 3, 6]))
        again = F.embedding_bag(
            from_numpy(entries), from_numpy(TABLE), with_end, mode=mode, padding_idx=padding, include_last_offset=True
        )
        assert (again == out).all()

    def test_gradients(self, mode, padding):
        entries, offsets = tensor([3, 1, 0, 4]), tensor([0, 2, 2])
        bag = lambda w: F.embedding_bag(entries, w, offsets, mode=mode, padding_idx=padding)
        assert gradcheck(bag, tensor(TABLE, requires_grad=True))


class TestMoreBags:
    def test_weights_of_entries(self):
        entries, weights = np.array([[1, 2], [0, 3]]), RNG.normal(size=(2, 2))
        out = F.embedding_bag(
            from_numpy(entries), from_numpy(TABLE), mode="sum", per_sample_weights=from_numpy(weights)
        )
        np.testing.assert_allclose(out.numpy(), np.einsum("bi,bie->be", weights, TABLE[entries]))

    def test_entries_after_the_last_offset_are_in_no_bag(self):
        entries, offsets = tensor([1, 2, 3, 4]), tensor([0, 1, 3])
        out = F.embedding_bag(entries, from_numpy(TABLE), offsets, mode="sum", include_last_offset=True)
        np.testing.assert_allclose(out.numpy(), naive_bags([[1], [2, 3]], "sum"))

    def test_int32_and_the_module(self):
        layer = nn.EmbeddingBag.from_pretrained(from_numpy(TABLE), mode="max", padding_idx=1)
        out = layer(tensor([3, 1], dtype=int32), tensor([0, 1], dtype=int32))
        np.testing.assert_allclose(out.numpy(), [TABLE[3], [0, 0, 0]])
        assert repr(layer) == "EmbeddingBag(5, 3, mode='max', padding_idx=1)"
        assert list(layer.state_dict()) == ["weight"] and not layer.weight.requires_grad

    @pytest.mark.parametrize(
        ("arguments", "error", "says"),
        [
            ({"offsets": tensor([1])}, RuntimeError, r"offsets\[0\] has to be 0"),
            ({"offsets": tensor([0, 9])}, RuntimeError, "can not be greater"),
            ({}, ValueError, "offsets has to be a 1D Tensor"),
            ({"offsets": tensor([0]), "mode": "median"}, ValueError, "sum, mean or max"),
            ({"offsets": tensor([0]), "per_sample_weights": torch.ones(3)}, NotImplementedError, "mode='sum'"),
            ({"offsets": tensor([0]), "per_sample_weights": torch.ones(2), "mode": "sum"}, ValueError, "same shape"),
        ],
    )
    def test_what_does_not_fit(self, arguments, error, says):
        with pytest.raises(error, match=says):
            F.embedding_bag(tensor([0, 1, 2]), from_numpy(TABLE), **arguments)


class TestOneHot:
    def test_a_one_in_each_row(self):
        assert F.one_hot(tensor([[2], [0]])).tolist() == [[[0, 0, 1]], [[1, 0, 0]]]
        assert F.one_hot(tensor(1), 3).tolist() == [0, 1, 0]
        assert F.one_hot(tensor([]).long(), 3).shape == (0, 3)

    def test_numbers_that_are_no_classes(self):
        for x, more in (
            (tensor([-1]), {}),
            (tensor([3]), {"num_classes": 3}),
            (tensor([1.0]), {}),
            (tensor([]).long(), {}),
        ):
            with pytest.raises(RuntimeError, match=r"lass|LongTensor"):
                F.one_hot(x, **more)


class TestBilinear:
    def test_each_output_is_a_bilinear_form(self):
        x, y, w, b = (
            RNG.normal(size=(2, 5, 3)),
            RNG.normal(size=(2, 5, 4)),
            RNG.normal(size=(6, 3, 4)),
            RNG.normal(size=6),
        )
        out = F.bilinear(*map(from_numpy, (x, y, w, b)))
        np.testing.assert_allclose(out.numpy(), np.einsum("nsi,kij,nsj->nsk", x, w, y) + b)
        with pytest.raises(RuntimeError, match="batch dimensions"):
            F.bilinear(*map(from_numpy, (x[0], y, w)))

    def test_the_module(self):
        layer = nn.Bilinear(3, 4, 6, dtype=float64)
        assert repr(layer) == "Bilinear(in1_features=3, in2_features=4, out_features=6, bias=True)"
        assert layer(torch.ones(2, 3).double(), torch.ones(2, 4).double()).shape == (2, 6)
        assert layer.weight.abs().max() <= 1 / np.sqrt(3)


def test_a_table_of_whole_numbers_is_frozen():
    layer = nn.Embedding.from_pretrained(torch.arange(6).reshape(3, 2))
    assert layer(torch.tensor([2])).tolist() == [[4, 5]] and not layer.weight.requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Embedding.from_pretrained(torch.arange(6).reshape(3, 2), freeze=False)
