"""Initialisers: what they promise about the numbers."""

from __future__ import annotations

import math

import pytest

from minitorch_compile import empty, manual_seed, nn
from minitorch_compile.nn import init


def filled(initialiser, *args, sizes=(200, 100), **kwargs):
    manual_seed(0)
    x = empty(*sizes)
    assert initialiser(x, *args, **kwargs) is x
    return x.array


def test_constants():
    assert (filled(init.zeros_) == 0).all()
    assert (filled(init.ones_) == 1).all()
    assert (filled(init.constant_, 0.5) == 0.5).all()
    assert filled(init.eye_, sizes=(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("initialiser", "kwargs", "std"),
    [
        (init.uniform_, {"a": -1.0, "b": 3.0}, 4 / math.sqrt(12)),
        (init.normal_, {"mean": 0.0, "std": 2.0}, 2.0),
        (init.xavier_uniform_, {}, math.sqrt(2 / 300)),
        (init.xavier_normal_, {"gain": 2.0}, 2 * math.sqrt(2 / 300)),
        (init.kaiming_uniform_, {"nonlinearity": "relu"}, math.sqrt(2 / 100)),
        (init.kaiming_normal_, {"mode": "fan_out", "nonlinearity": "relu"}, math.sqrt(2 / 200)),
    ],
)
def test_the_standard_deviation(initialiser, kwargs, std):
    assert filled(initialiser, **kwargs).std() == pytest.approx(std, rel=0.03)


def test_uniform_stays_within_its_bounds():
    values = filled(init.uniform_, -1.0, 3.0)
    assert values.min() >= -1
    assert values.max() < 3
    assert values.mean() == pytest.approx(1, abs=0.05)


def test_truncated_normal_stays_within_its_bounds():
    values = filled(init.trunc_normal_, std=2.0, a=-1.0, b=1.0)
    assert values.min() >= -1
    assert values.max() <= 1


def test_the_fan_of_a_convolution_counts_the_window():
    assert filled(init.kaiming_normal_, sizes=(64, 16, 3, 3)).std() == pytest.approx(math.sqrt(2 / (16 * 9)), rel=0.05)


def test_a_parameter_stays_a_leaf():
    w = nn.Parameter(empty(2, 2))
    init.normal_(w)
    assert w.is_leaf
    assert w.requires_grad


def test_layers_start_within_one_over_root_fan_in():
    layer = nn.Linear(25, 40)
    assert layer.weight.abs().max().item() <= 1 / 5
    assert layer.bias.abs().max().item() <= 1 / 5


def test_the_same_seed_the_same_numbers():
    assert (filled(init.normal_) == filled(init.normal_)).all()


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [("linear", None, 1), ("tanh", None, 5 / 3), ("relu", None, math.sqrt(2)), ("leaky_relu", 1, 1)],
)
def test_gains(name, param, gain):
    assert init.calculate_gain(name, param) == pytest.approx(gain)


class TestErrors:
    def test_unknown_nonlinearity(self):
        with pytest.raises(ValueError, match="Unsupported nonlinearity softplusplus"):
            init.calculate_gain("softplusplus")

    def test_unknown_mode(self):
        with pytest.raises(ValueError, match="Mode fan_up not supported"):
            init.kaiming_normal_(empty(2, 2), mode="fan_up")

    def test_vectors_have_no_fan(self):
        with pytest.raises(ValueError, match="fewer than 2 dimensions"):
            init.xavier_normal_(empty(2))

    def test_eye_is_a_matrix(self):
        with pytest.raises(ValueError, match="Only tensors with 2 dimensions"):
            init.eye_(empty(2))
