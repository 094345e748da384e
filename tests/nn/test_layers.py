"""Layers: shapes, options, training against evaluation, and numbers recorded from PyTorch 2.13."""

from __future__ import annotations

import numpy as np
import pytest

from minitorch_compile import manual_seed, nn, no_grad, ones, randn, tensor, zeros
from minitorch_compile.autograd import gradcheck
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import float64, from_numpy, ops


def counting(*shape):
    """0.0, 0.1, 0.2, ... less their middle."""
    values = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) / 10
    return from_numpy(np.ascontiguousarray(values - values.mean(dtype=np.float32)))


@pytest.mark.parametrize(
    ("layer", "sizes", "expected"),
    [
        (nn.Linear(3, 5), (2, 4, 3), (2, 4, 5)),
        (nn.Linear(3, 5), (3,), (5,)),
        (nn.Conv2d(3, 8, 3, stride=2, padding=1), (2, 3, 7, 8), (2, 8, 4, 4)),
        (nn.Conv2d(4, 8, (1, 3), groups=2, bias=False), (2, 4, 5, 5), (2, 8, 5, 3)),
        (nn.Conv2d(3, 8, 3, padding="same", dilation=2), (2, 3, 7, 8), (2, 8, 7, 8)),
        (nn.MaxPool2d(3, 2, 1), (1, 2, 7, 7), (1, 2, 4, 4)),
        (nn.MaxPool2d(2, ceil_mode=True), (1, 2, 5, 5), (1, 2, 3, 3)),
        (nn.AdaptiveAvgPool2d((2, 1)), (1, 3, 4, 6), (1, 3, 2, 1)),
        (nn.Embedding(10, 4), (2, 3), (2, 3, 4)),
        (nn.LayerNorm((4, 5)), (2, 4, 5), (2, 4, 5)),
        (nn.BatchNorm2d(3), (2, 3, 4, 5), (2, 3, 4, 5)),
        (nn.BatchNorm1d(3), (2, 3), (2, 3)),
        (nn.BatchNorm1d(3), (2, 3, 4), (2, 3, 4)),
        (nn.Flatten(), (2, 3, 4), (2, 12)),
        (nn.Unflatten(1, (3, 4)), (2, 12), (2, 3, 4)),
        (nn.Identity(1, option=2), (2,), (2,)),
        (nn.Dropout(0.3), (2, 3), (2, 3)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else None,
)
def test_the_sizes_of_the_result(layer, sizes, expected):
    x = zeros(*sizes).long() if isinstance(layer, nn.Embedding) else randn(*sizes)
    assert layer(x).shape == expected


ACTIVATIONS = {
    # each at -1.0, 0.0, 0.5, 2.0
    "ReLU": (nn.ReLU(), [0.0, 0.0, 0.5, 2.0]),
    "GELU": (nn.GELU(), [-0.15865526, 0.0, 0.34573123, 1.9544997]),
    "GELU, tanh": (nn.GELU("tanh"), [-0.15880796, 0.0, 0.345714, 1.9545977]),
    "SiLU": (nn.SiLU(), [-0.26894143, 0.0, 0.31122968, 1.7615942]),
    "Tanh": (nn.Tanh(), [-0.7615942, 0.0, 0.46211717, 0.9640276]),
    "Sigmoid": (nn.Sigmoid(), [0.26894143, 0.5, 0.62245935, 0.8807971]),
    "Softmax": (nn.Softmax(0), [0.03535379, 0.09610157, 0.15844472, 0.71009994]),
    "LogSoftmax": (nn.LogSoftmax(0), [-3.3423495, -2.3423495, -1.8423495, -0.34234956]),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_as_in_pytorch(name):
    layer, expected = ACTIVATIONS[name]
    assert layer(tensor([-1.0, 0.0, 0.5, 2.0])).tolist() == pytest.approx(expected, abs=1e-6)


class TestInplace:
    def test_relu(self):
        x = tensor([-1.0, 2.0])
        assert nn.ReLU(inplace=True)(x) is x
        assert x.tolist() == [0, 2]

    def test_after_a_linear_layer_the_gradient_is_the_same(self):
        manual_seed(0)
        model, x = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True)), randn(4, 3)
        model(x).sum().backward()
        inplace = model[0].weight.grad
        model.zero_grad()
        F.relu(model[0](x)).sum().backward()
        assert (inplace == model[0].weight.grad).all()


class TestBatchNorm:
    def test_the_batch_is_normalised_and_remembered(self):
        layer = nn.BatchNorm1d(2)
        x = tensor([[1.0, 10.0], [3.0, 30.0]])
        out = layer(x)
        assert out.detach().array == pytest.approx(np.array([[-1, -1], [1, 1]]), abs=1e-4)
        assert layer.running_mean.tolist() == pytest.approx([0.2, 2.0])
        assert layer.running_var.tolist() == pytest.approx([0.9 + 0.2, 0.9 + 20.0])
        assert layer.num_batches_tracked.item() == 1

    def test_in_evaluation_the_running_statistics_count(self):
        layer = nn.BatchNorm1d(1).eval()
        layer.running_mean.fill_(2.0)
        layer.running_var.fill_(4.0)
        assert layer(tensor([[4.0]])).item() == pytest.approx(1.0, abs=1e-5)
        assert layer.num_batches_tracked.item() == 0

    def test_without_momentum_the_plain_average_is_kept(self):
        layer = nn.BatchNorm1d(1, momentum=None)
        layer(tensor([[1.0], [3.0]]))
        layer(tensor([[5.0], [7.0]]))
        assert layer.running_mean.item() == pytest.approx(4.0)

    def test_without_running_statistics_the_batch_always_counts(self):
        layer = nn.BatchNorm1d(1, track_running_stats=False).eval()
        assert layer.running_mean is None
        assert layer(tensor([[1.0], [3.0]])).detach().flatten().tolist() == pytest.approx([-1, 1], abs=1e-4)

    def test_gradients_flow_through_the_batchs_statistics(self):
        layer = nn.BatchNorm2d(2).double()
        x = tensor(np.random.default_rng(0).standard_normal((2, 2, 2, 1)), requires_grad=True)
        assert gradcheck(lambda x: layer(x) ** 2, x)

    def test_the_input_must_have_the_right_dimensions(self):
        with pytest.raises(ValueError, match=r"expected 4D input \(got 2D input\)"):
            nn.BatchNorm2d(3)(ones(2, 3))
        with pytest.raises(ValueError, match=r"expected 2D or 3D input \(got 4D input\)"):
            nn.BatchNorm1d(3)(ones(2, 3, 1, 1))

    def test_one_value_has_no_variance(self):
        with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
            nn.BatchNorm1d(3)(ones(1, 3))


class TestDropout:
    def test_only_when_training(self):
        layer = nn.Dropout(0.5)
        assert layer.eval()(ones(100)).tolist() == [1] * 100
        manual_seed(0)
        values = set(layer.train()(ones(100)).tolist())
        assert values == {0.0, 2.0}

    def test_the_extremes(self):
        assert nn.Dropout(0)(ones(3)).tolist() == [1, 1, 1]
        assert nn.Dropout(1)(ones(3)).tolist() == [0, 0, 0]
        with pytest.raises(ValueError, match="between 0 and 1"):
            nn.Dropout(1.5)

    def test_the_gradient_is_dropped_alike(self):
        x = ones(50, requires_grad=True)
        y = nn.Dropout(0.4)(x)
        y.sum().backward()
        assert (x.grad == y.detach()).all()


class TestEmbedding:
    def test_a_row_for_each_integer(self):
        layer = nn.Embedding.from_pretrained(counting(3, 2))
        assert layer(tensor([2, 0])).tolist() == [layer.weight[2].tolist(), layer.weight[0].tolist()]
        assert not layer.weight.requires_grad

    def test_rows_used_twice_get_both_gradients(self):
        layer = nn.Embedding(3, 1)
        layer(tensor([1, 1, 2])).sum().backward()
        assert layer.weight.grad.flatten().tolist() == [0, 2, 1]

    def test_the_padding_row_gets_none(self):
        layer = nn.Embedding(3, 1, padding_idx=-2)
        assert layer.weight[1].item() == 0
        layer(tensor([1, 1, 2])).sum().backward()
        assert layer.weight.grad.flatten().tolist() == [0, 0, 1]

    def test_integers_out_of_range(self):
        with pytest.raises(IndexError, match="out of range"):
            nn.Embedding(3, 1)(tensor([3]))


class TestLosses:
    def test_recorded_cross_entropy(self):
        scores, classes = counting(2, 3), tensor([0, 2])
        assert nn.CrossEntropyLoss()(scores, classes).item() == pytest.approx(1.1019429, abs=1e-6)
        weighted = nn.CrossEntropyLoss(weight=tensor([1.0, 2.0, 3.0]), label_smoothing=0.1)
        assert weighted(scores, classes).item() == pytest.approx(1.0536095, abs=1e-6)

    def test_ignored_targets(self):
        scores = counting(2, 3)
        some = F.cross_entropy(scores, tensor([0, -100]))
        assert some.item() == pytest.approx(F.cross_entropy(scores[:1], tensor([0])).item())

    def test_nothing_but_ignored_targets_gives_no_gradient(self):
        scores = counting(1, 3).requires_grad_()
        loss = F.cross_entropy(scores, tensor([-100]))
        loss.backward()
        assert np.isnan(loss.item())
        assert scores.grad.tolist() == [[0, 0, 0]]

    def test_probabilities_as_targets(self):
        scores = counting(2, 3)
        one_hot = tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        assert F.cross_entropy(scores, one_hot).item() == pytest.approx(F.cross_entropy(scores, tensor([0, 2])).item())

    @pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
    def test_nll_of_log_softmax_is_cross_entropy(self, reduction):
        scores, classes = counting(2, 3, 2), tensor([[0, 1], [2, 1]])
        ours = nn.NLLLoss(reduction=reduction)(F.log_softmax(scores, 1), classes)
        assert (ours == nn.CrossEntropyLoss(reduction=reduction)(scores, classes)).all()

    def test_mean_squared_error(self):
        assert nn.MSELoss()(tensor([1.0, 2.0]), tensor([3.0, 2.0])).item() == 2
        assert nn.MSELoss(reduction="sum")(tensor([1.0, 2.0]), tensor([3.0, 2.0])).item() == 4


class TestErrors:
    def test_channels_that_the_groups_do_not_divide(self):
        with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
            nn.Conv2d(3, 4, 1, groups=2)
        with pytest.raises(ValueError, match="out_channels must be divisible by groups"):
            nn.Conv2d(4, 3, 1, groups=2)

    def test_an_unknown_padding_mode(self):
        with pytest.raises(ValueError, match="padding_mode must be one of zeros, .* but got padding_mode='mirror'"):
            nn.Conv2d(3, 4, 1, padding_mode="mirror")

    def test_an_unknown_reduction(self):
        with pytest.raises(ValueError, match="median is not a valid value for reduction"):
            nn.MSELoss(reduction="median")(ones(1), ones(1))


def test_convolution_is_a_sum_over_windows():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((1, 2, 4, 5)), rng.standard_normal((3, 2, 2, 3))
    layer = nn.Conv2d(2, 3, (2, 3), dtype=float64, bias=False)
    with no_grad():
        layer.weight.copy_(from_numpy(w))
    expected = np.array(
        [[[(x[0, :, i : i + 2, j : j + 3] * w[o]).sum() for j in range(3)] for i in range(3)] for o in range(3)]
    )
    assert layer(from_numpy(x)).detach().array[0] == pytest.approx(expected)


def test_functional_has_exactly_the_ops_declared_functional():
    declared = {op.__name__ for op in ops.table.values() if "functional" in op.namespaces}
    assert declared - set(F.__all__) == set()
    assert [name for name in F.__all__ if getattr(F, name) is not ops.table.get(f"F.{name}", ops.table.get(name))] == []
