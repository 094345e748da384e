"""Initialisers: what they promise about the numbers."""

from __future__ import annotations

import math

import pytest

from minitorch_compile import Generator, empty, manual_seed, nn
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


def test_orthogonal_rows_or_columns():
    wide, tall = filled(init.orthogonal_, sizes=(3, 5)), filled(init.orthogonal_, 2.0, sizes=(6, 2, 2))
    assert (wide @ wide.T).round(5).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert abs(tall.reshape(6, 4).T @ tall.reshape(6, 4) / 4 - init.eye_(empty(4, 4)).array).max() < 1e-5


def test_a_dirac_convolution_gives_back_its_input():
    assert filled(init.dirac_, sizes=(2, 3, 3)).tolist() == [
        [[0, 1, 0], [0] * 3, [0] * 3],
        [[0] * 3, [0, 1, 0], [0] * 3],
    ]
    assert filled(init.dirac_, 2, sizes=(4, 1, 1)).ravel().tolist() == [1, 0, 1, 0]


def test_sparse_columns():
    assert ((filled(init.sparse_, 0.35, sizes=(10, 4)) == 0).sum(0) == 4).all()


def test_a_truncated_tail_is_reached():
    with pytest.warns(UserWarning, match="mean is more than 2 std"):
        values = filled(init.trunc_normal_, 0.0, 1.0, 3.0, 4.0)
    assert values.min() >= 3 and values.max() <= 4


def test_a_generator_decides():
    first, second = (filled(init.orthogonal_, generator=Generator().manual_seed(4), sizes=(3, 3)) for _ in range(2))
    assert (first == second).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: init.eye_(empty(3)), "Only tensors with 2 dimensions are supported"),
        (lambda: init.dirac_(empty(3, 3)), "Only tensors with 3, 4, or 5 dimensions"),
        (lambda: init.dirac_(empty(3, 3, 3), 2), "dim 0 must be divisible by groups"),
        (lambda: init.orthogonal_(empty(3)), "Only tensors with 2 or more dimensions"),
        (lambda: init.calculate_gain("leaky_relu", True), "negative_slope True not a valid number"),
        (lambda: init.kaiming_normal_(empty(2, 2), mode="fan"), "Mode fan not supported"),
    ],
)
def test_what_cannot_be_filled(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_names_without_underscore_are_deprecated():
    with pytest.warns(FutureWarning, match="nn.init.ones_|nn.init.constant_"):
        assert (init.constant(empty(2), 3.0) == 3).all()
