"""Norms against the definition in float64: subtract the mean, divide by the standard deviation, over these elements."""

import math

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.autograd import gradcheck, gradgradcheck
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import float16, float32, from_numpy, tensor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 6, 4, 2)) * 2 + 1
WEIGHT, BIAS = RNG.normal(size=6), RNG.normal(size=6)


def normalized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def by_channel(w, ndim=4):
    return w.reshape(1, -1, *[1] * (ndim - 2))


def of(*arrays):
    return [from_numpy(np.asarray(a)) for a in arrays]


class TestBatchNorm:
    @pytest.mark.parametrize(
        "x", [X[:, :, 0, 0], X[..., 0], X, X.transpose(0, 1, 3, 2)], ids=["2d", "3d", "4d", "strided"]
    )
    def test_training_goes_by_the_batch(self, x):
        axes = tuple(d for d in range(x.ndim) if d != 1)
        expected = normalized(x, axes) * by_channel(WEIGHT, x.ndim) + by_channel(BIAS, x.ndim)
        mean, var = torch.zeros(6).double(), torch.ones(6).double()
        out = F.batch_norm(from_numpy(x), mean, var, *of(WEIGHT, BIAS), training=True, momentum=0.3)
        np.testing.assert_allclose(out.numpy(), expected)
        np.testing.assert_allclose(mean.numpy(), 0.3 * x.mean(axes))
        np.testing.assert_allclose(var.numpy(), 0.7 + 0.3 * x.var(axes, ddof=1))

    def test_evaluation_goes_by_the_running_statistics(self):
        mean, var = RNG.normal(size=6), RNG.uniform(0.5, 2, 6)
        expected = (X - by_channel(mean)) / np.sqrt(by_channel(var) + 1e-5) * by_channel(WEIGHT) + by_channel(BIAS)
        np.testing.assert_allclose(F.batch_norm(*of(X, mean, var, WEIGHT, BIAS)).numpy(), expected)
        with pytest.raises(RuntimeError, match="running_mean"):
            F.batch_norm(from_numpy(X), None, None)

    def test_channels_last_stays_so(self):
        x = from_numpy(X).to(memory_format=torch.channels_last)
        assert F.batch_norm(x, None, None, training=True).stride() == x.stride()

    def test_an_empty_batch_moves_nothing(self):
        mean, weight = torch.ones(2), torch.ones(2, requires_grad=True)
        out = F.batch_norm(torch.zeros(0, 2), mean, torch.ones(2), weight, training=True)
        out.sum().backward()
        assert out.shape == (0, 2) and mean.tolist() == [1, 1] and weight.grad.tolist() == [0, 0]

    def test_gradients(self):
        leaves = [tensor(a, requires_grad=True) for a in (X[:, :2, 0], WEIGHT[:2], BIAS[:2])]
        assert gradcheck(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), leaves)
        assert gradgradcheck(lambda x, w: F.batch_norm(x, None, None, w, training=True), leaves[:2])

    def test_wrong_numbers_of_channels(self):
        with pytest.raises(RuntimeError, match="weight should contain 2 elements not 3"):
            F.batch_norm(torch.ones(3, 2), None, None, torch.ones(3), training=True)
        with pytest.raises(RuntimeError, match="running_mean should contain 2 elements not 1"):
            F.batch_norm(torch.ones(3, 2), torch.ones(1), torch.ones(2))


class TestGroupsAndInstances:
    @pytest.mark.parametrize("groups", [1, 2, 6])
    def test_group_norm(self, groups):
        grouped = normalized(X.reshape(3, groups, -1), 2).reshape(X.shape)
        out = F.group_norm(from_numpy(X), groups, *of(WEIGHT, BIAS))
        np.testing.assert_allclose(out.numpy(), grouped * by_channel(WEIGHT) + by_channel(BIAS))

    def test_groups_that_do_not_divide(self):
        with pytest.raises(RuntimeError, match="divisible"):
            F.group_norm(from_numpy(X), 4)
        with pytest.raises(ValueError, match="divisible"):
            nn.GroupNorm(4, 6)
        with pytest.raises(ValueError, match="more than 1 value"):
            F.group_norm(torch.ones(1, 2, 1), 2)

    def test_instance_norm(self):
        mean, var = torch.zeros(6).double(), torch.ones(6).double()
        out = F.instance_norm(from_numpy(X), mean, var, *of(WEIGHT, BIAS), momentum=0.5)
        expected = normalized(X, (2, 3)) * by_channel(WEIGHT) + by_channel(BIAS)
        np.testing.assert_allclose(out.numpy(), expected)
        np.testing.assert_allclose(mean.numpy(), 0.5 * X.mean((0, 2, 3)))
        np.testing.assert_allclose(var.numpy(), 0.5 + 0.5 * X.var((2, 3), ddof=1).mean(0))
        with pytest.raises(ValueError, match="spatial"):
            F.instance_norm(torch.ones(2, 3, 1))

    def test_a_sample_without_a_batch(self):
        layer = nn.InstanceNorm2d(6, affine=True).double()
        x = from_numpy(X)
        assert (layer(x[0]) == layer(x)[0]).all()
        with pytest.raises(ValueError, match="num_features"):
            layer(torch.ones(2, 5, 3, 3).double())
        with pytest.raises(ValueError, match="expected 3D or 4D input"):
            layer(torch.ones(2, 3))

    def test_running_statistics_of_instances_count_in_evaluation(self):
        layer = nn.InstanceNorm1d(2, track_running_stats=True).eval()
        x = tensor([[[1.0, 3.0], [2.0, 4.0]]])
        assert layer(x).flatten().tolist() == pytest.approx(x.flatten().tolist(), rel=1e-4)


class TestRows:
    @pytest.mark.parametrize("shape", [(2,), (4, 2)])
    def test_rms_norm(self, shape):
        axes = tuple(range(4 - len(shape), 4))
        weight = RNG.normal(size=shape)
        expected = X / np.sqrt((X**2).mean(axes, keepdims=True) + 0.01) * weight
        np.testing.assert_allclose(F.rms_norm(from_numpy(X), shape, from_numpy(weight), 0.01).numpy(), expected)

    def test_rms_norms_eps_is_the_dtypes_own(self):
        assert F.rms_norm(torch.zeros(1, 2), (2,)).tolist() == [[0, 0]]
        tiny = tensor([[1e-4]])
        step = np.finfo(np.float32).eps
        assert F.rms_norm(tiny, (1,)).item() == pytest.approx(1e-4 / math.sqrt(1e-8 + step))
        half = F.rms_norm(tiny.to(float16), (1,))
        assert half.dtype is float16 and half.item() == pytest.approx(1e-4 / math.sqrt(1e-8 + step), rel=1e-3)
        with pytest.raises(RuntimeError, match="normalized_shape"):
            F.rms_norm(torch.ones(2, 3), (2,))

    @pytest.mark.parametrize("size", [1, 2, 3, 9])
    def test_local_response_norm(self, size):
        expected = np.empty_like(X)
        for c in range(6):
            around = range(max(c - size // 2, 0), min(c - size // 2 + size, 6))
            mean = sum(X[:, i] ** 2 for i in around) / size
            expected[:, c] = X[:, c] / (2 + 0.1 * mean) ** 0.6
        out = F.local_response_norm(from_numpy(X), size, alpha=0.1, beta=0.6, k=2.0)
        np.testing.assert_allclose(out.numpy(), expected)

    @pytest.mark.parametrize("p", [1, 2, 3, math.inf])
    def test_normalize(self, p):
        norms = np.linalg.norm(X[..., 0], ord=p, axis=1, keepdims=True)
        np.testing.assert_allclose(F.normalize(from_numpy(X[..., 0]), p=p).numpy(), X[..., 0] / norms)

    def test_normalizing_zeros(self):
        x = torch.zeros(1, 3, requires_grad=True)
        F.normalize(x).sum().backward()
        assert x.grad.isfinite().all()


class TestDropout:
    @pytest.mark.parametrize("drop", [F.dropout1d, F.dropout2d, F.dropout3d], ids=["1d", "2d", "3d"])
    def test_channels_are_dropped_whole(self, drop):
        torch.manual_seed(0)
        sizes = (40, 50, *[3] * {F.dropout1d: 1, F.dropout2d: 2, F.dropout3d: 3}[drop])
        y = drop(torch.ones(*sizes), 0.25).flatten(2)
        assert (y == y[:, :, :1]).all()
        assert (y[:, :, 0] == 0).float().mean().item() == pytest.approx(0.25, abs=0.03)
        assert y.max().item() == pytest.approx(1 / 0.75)

    def test_a_sample_without_a_batch(self):
        torch.manual_seed(0)
        y = F.dropout1d(torch.ones(50, 3), 0.5)
        assert (y == y[:, :1]).all() and 0 < (y == 0).sum() < 150

    @pytest.mark.parametrize("drop", [F.alpha_dropout, F.feature_alpha_dropout], ids=["elements", "channels"])
    def test_alpha_dropout_keeps_mean_and_variance(self, drop):
        torch.manual_seed(0)
        y = drop(torch.randn(300, 300), 0.4, training=True)
        assert y.mean().item() == pytest.approx(0, abs=0.02) and y.var().item() == pytest.approx(1, abs=0.02)
        assert drop(torch.ones(2, 3, dtype=torch.bfloat16), 0.4, training=True).dtype is torch.bfloat16

    def test_in_place(self):
        torch.manual_seed(0)
        x = torch.ones(100)
        assert F.dropout(x, 0.5, inplace=True) is x and set(x.tolist()) == {0, 2}
        assert F.dropout(x, 0.5, training=False, inplace=True) is x

    def test_probabilities_out_of_range(self):
        for drop in (F.dropout, F.dropout2d, F.alpha_dropout):
            with pytest.raises(ValueError, match="between 0 and 1"):
                drop(torch.ones(2, 3, 4, 5), 1.5)
        with pytest.raises(RuntimeError, match="2D or 3D"):
            F.dropout1d(torch.ones(3))


REPRESENTATIONS = {
    "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)": nn.GroupNorm(2, 4),
    "RMSNorm((3,), eps=None, elementwise_affine=True)": nn.RMSNorm(3),
    "InstanceNorm2d(3, eps=0.1, momentum=0.1, affine=True, bias=True, track_running_stats=False)": nn.InstanceNorm2d(
        3, 0.1, affine=True
    ),
    "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)": nn.LocalResponseNorm(2),
    "LayerNorm((3, 2), eps=1e-05, elementwise_affine=True, bias=False)": nn.LayerNorm((3, 2), bias=False),
}


@pytest.mark.parametrize("text", REPRESENTATIONS)
def test_modules_print_as_pytorchs(text):
    assert repr(REPRESENTATIONS[text]) == text


def test_the_state_has_pytorchs_keys():
    tracked = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert list(nn.InstanceNorm1d(2, affine=True, track_running_stats=True).state_dict()) == tracked
    assert list(nn.InstanceNorm1d(2).state_dict()) == []
    assert list(nn.GroupNorm(1, 2, bias=False).state_dict()) == ["weight"]
    assert list(nn.RMSNorm(2).state_dict()) == ["weight"]
    assert nn.BatchNorm2d(2, dtype=torch.float64).running_var.dtype is torch.float64
    assert nn.GroupNorm(1, 2)(torch.ones(2, 2, 3)).dtype is float32


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_a_constant_row_of_float16_has_the_gradient_of_pytorch(value):
    """The reciprocal of the deviation is 316 there, and its square more than the largest float16."""
    x = torch.full((1, 4), value, dtype=torch.float16, requires_grad=True)
    F.layer_norm(x, (4,)).backward(torch.tensor([[1.0, 2.0, 3.0, 4.0]]).half())
    assert x.grad.tolist() == [[-474.5, -158.125, 158.125, 474.5]]
