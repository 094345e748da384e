"""Activations against their formulas in float64; their slopes at kinks, NaN and infinities against PyTorch's."""

import math

import numpy as np
import pytest
from scipy import special

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.autograd import gradcheck, gradgradcheck
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import float16, float32, float64, from_numpy, tensor

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805

FORMULAS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "selu": lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(np.minimum(x, 0))),
    "celu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "silu": lambda x: x * special.expit(x),
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "softplus": lambda x: np.logaddexp(0, x),
    "logsigmoid": lambda x: -np.logaddexp(0, -x),
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardshrink": lambda x: np.where(abs(x) > 0.5, x, 0),
    "softshrink": lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
    "softsign": lambda x: x / (1 + abs(x)),
    "tanhshrink": lambda x: x - np.tanh(x),
    "gelu": lambda x: x * special.ndtr(x),
}
IN_PLACE = [
    "relu",
    "relu6",
    "hardtanh",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "silu",
    "mish",
    "hardsigmoid",
    "hardswish",
]


def inputs():
    rng = np.random.default_rng(0)
    yield rng.normal(size=(3, 4)) * 3
    yield rng.normal(size=(4, 6)).T[::2]
    yield np.broadcast_to(rng.normal(size=(1, 3)), (4, 3))
    yield np.array(0.7)
    yield np.zeros((0, 2))
    yield np.array([-200.0, -30.0, 30.0, 200.0])


@pytest.mark.parametrize("name", FORMULAS)
def test_the_values_are_the_formulas(name):
    for x in inputs():
        for element, tolerance in ((float64, 1e-8), (float32, 1e-5), (float16, 4e-3)):
            y = getattr(F, name)(from_numpy(x.astype(element.numpy)))
            assert y.dtype is element
            expected = FORMULAS[name](x.astype(element.numpy).astype(np.float64))
            np.testing.assert_allclose(y.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_gradients_are_right_to_the_second_order(name):
    x = tensor([-2.3, -0.7, 0.3, 1.9, 4.1], dtype=float64, requires_grad=True)
    assert gradcheck(getattr(F, name), x)
    assert gradgradcheck(getattr(F, name), x)


SLOPES = {  # at -3, -1, -0.5, 0, 0.5, 1, 3, 6 and NaN, as PyTorch 2.13 gives them
    "relu": [0, 0, 0, 0, 1, 1, 1, 1, 1],
    "relu6": [0, 0, 0, 0, 1, 1, 1, 0, 1],
    "hardtanh": [0, 0, 1, 1, 1, 0, 0, 0, 1],
    "leaky_relu": [0.01, 0.01, 0.01, 0.01, 1, 1, 1, 1, 0.01],
    "hardsigmoid": [0, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 0, 0, 0],
    "hardswish": [0, 1 / 6, 1 / 3, 0.5, 2 / 3, 5 / 6, 1, 1, 1],
    "hardshrink": [1, 1, 0, 0, 0, 1, 1, 1, 1],
    "softshrink": [1, 1, 0, 0, 0, 1, 1, 1, 1],
    "elu": [math.exp(-3), math.exp(-1), math.exp(-0.5), 1, 1, 1, 1, 1, 1],
}


@pytest.mark.parametrize("name", SLOPES)
def test_the_slopes_at_kinks_and_nan_are_pytorchs(name):
    x = tensor([-3, -1, -0.5, 0, 0.5, 1, 3, 6, math.nan], requires_grad=True)
    getattr(F, name)(x).sum().backward()
    assert x.grad.tolist() == pytest.approx(SLOPES[name])


@pytest.mark.parametrize("name", ["elu", "selu", "softplus", "logsigmoid"])
def test_large_inputs_leave_the_slope_finite(name):
    x = tensor([-1e4, 1e4], requires_grad=True)
    getattr(F, name)(x).sum().backward()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_the_input_is_the_result_and_gradients_are_the_same(name):
    x = tensor([-2.3, -0.7, 0.3, 1.9, 4.1], dtype=float64, requires_grad=True)
    (expected,) = torch.autograd.grad((getattr(F, name)(x) ** 2).sum(), x)
    y = x * 1
    before = y._version
    result = getattr(F, name)(y, inplace=True)
    assert result is y and y._version > before
    assert (y == getattr(F, name)(x)).all()
    (y**2).sum().backward()
    assert x.grad.tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_on_a_view_writes_into_its_base(name):
    base = tensor([[-2.0, 1.0], [-1.0, 3.0]])
    expected = getattr(F, name)(base[:, 1].clone())
    getattr(F, name)(base[:, 1], inplace=True)
    assert (base[:, 1] == expected).all() and base[:, 0].tolist() == [-2, -1]


def test_in_place_on_a_leaf_is_an_error():
    with pytest.raises(RuntimeError, match="leaf"):
        F.relu(tensor([1.0], requires_grad=True), inplace=True)


@pytest.mark.parametrize("name", ["relu_", "hardtanh_", "leaky_relu_", "elu_", "selu_", "celu_", "rrelu_"])
def test_the_names_with_an_underscore_store_in_the_input(name):
    x = tensor([-2.0, 1.0])
    assert getattr(F, name)(x) is x


@pytest.mark.parametrize("name", ["leaky_relu", "elu", "silu", "mish", "hardswish", "softplus", "logsigmoid", "glu"])
def test_integers_are_refused(name):
    with pytest.raises(RuntimeError, match="float"):
        getattr(F, name)(tensor([1, 2]))


def test_what_works_on_integers():
    x = tensor([-3, 2, 9])
    assert F.relu(x).tolist() == [0, 2, 9]
    assert F.relu6(x).tolist() == [0, 2, 6]
    assert F.hardtanh(x, -2, 4).dtype is x.dtype
    assert F.threshold(x, 1, 7).tolist() == [7, 2, 9]
    with pytest.raises(RuntimeError, match="unsigned"):
        F.hardtanh(x.to(torch.uint8))
    with pytest.raises(RuntimeError, match="Bool"):
        F.relu(tensor([True]))


def test_thresholds_and_parameters():
    x = tensor([-1.0, 0.5, 2.0])
    assert F.threshold(x, 0.5, -7.0).tolist() == [-7, -7, 2]
    assert F.hardtanh(x, -0.5, 1.0).tolist() == [-0.5, 0.5, 1]
    assert F.celu(x, 2.0)[0].item() == pytest.approx(2 * math.expm1(-0.5))
    assert F.softplus(x * 10, beta=2, threshold=30)[2].item() == 20
    assert F.gelu(x, approximate="tanh")[2].item() == pytest.approx(1.9545977)
    with pytest.raises(RuntimeError, match="cannot be 0"):
        F.celu(x, 0)
    with pytest.raises(ValueError, match="min_val"):
        F.hardtanh(x, 1, 0)
    with pytest.raises(RuntimeError, match="greater or equal to 0"):
        F.softshrink(x, -1)


class TestPrelu:
    def test_one_slope_for_each_channel(self):
        x = tensor([[[-1.0], [-1.0]], [[2.0], [-3.0]]])
        assert F.prelu(x, tensor([0.5, 0.1])).flatten().tolist() == pytest.approx([-0.5, -0.1, 2, -0.3])

    def test_the_slopes_get_gradients(self):
        rng = np.random.default_rng(0)
        x, w = rng.normal(size=(2, 3, 2)), rng.normal(size=3)
        assert gradcheck(F.prelu, [tensor(x, requires_grad=True), tensor(w, requires_grad=True)])

    def test_what_does_not_fit(self):
        with pytest.raises(RuntimeError, match="channels"):
            F.prelu(torch.ones(2, 3), torch.ones(2))
        with pytest.raises(RuntimeError, match="promoting"):
            F.prelu(torch.ones(2, 3), torch.ones(3, dtype=float64))


class TestGlu:
    def test_halves_along_a_dimension(self):
        x = np.random.default_rng(0).normal(size=(4, 6))
        expected = x[:2] * special.expit(x[2:])
        np.testing.assert_allclose(F.glu(from_numpy(x), 0).numpy(), expected)

    def test_an_odd_size(self):
        with pytest.raises(RuntimeError, match="must be even"):
            F.glu(torch.ones(2, 3))


class TestRandomOnes:
    def test_rrelu_draws_slopes_only_in_training(self):
        torch.manual_seed(0)
        x = -torch.ones(1000)
        y = -F.rrelu(x, 0.2, 0.4, training=True)
        assert 0.2 <= y.min() < 0.21 and 0.39 < y.max() < 0.4
        assert F.rrelu(x, 0.2, 0.4).unique().tolist() == pytest.approx([-0.3])
        with pytest.raises(RuntimeError, match="Lower bound"):
            F.rrelu(x, 0.4, 0.2)

    def test_gumbel_softmax_chooses_by_the_probabilities(self):
        torch.manual_seed(0)
        logits = tensor([0.7, 0.2, 0.1]).log().expand(4000, 3)
        chosen = F.gumbel_softmax(logits, tau=0.5, hard=True)
        assert set(chosen.sum(1).tolist()) == {1.0}
        assert chosen.mean(0).tolist() == pytest.approx([0.7, 0.2, 0.1], abs=0.03)

    def test_a_hard_choice_has_the_soft_ones_gradient(self):
        x = tensor([[0.1, 0.5, -0.2]], requires_grad=True)
        grads = []
        for hard in (False, True):
            torch.manual_seed(3)
            (g,) = torch.autograd.grad((F.gumbel_softmax(x, hard=hard) * tensor([1.0, 2.0, 3.0])).sum(), x)
            grads.append(g.flatten().tolist())
        assert grads[0] == pytest.approx(grads[1])


def test_softmax_chooses_a_dimension_with_a_warning_if_none_is_given():
    x = torch.ones(2, 3, 4)
    with pytest.warns(UserWarning, match="give dim="):
        assert F.softmax(x)[0, 0, 0].item() == 0.5
    assert F.softmin(tensor([0.0, math.log(3.0)]), dim=0).tolist() == pytest.approx([0.75, 0.25])
    assert F.softmax(tensor([1, 1]), dim=0, dtype=float64).dtype is float64


REPRESENTATIONS = [
    (nn.ReLU(True), "ReLU(inplace=True)"),
    (nn.ReLU6(), "ReLU6()"),
    (nn.Hardtanh(-2, 2.0), "Hardtanh(min_val=-2, max_val=2.0)"),
    (nn.LeakyReLU(0.2, inplace=True), "LeakyReLU(negative_slope=0.2, inplace=True)"),
    (nn.PReLU(3), "PReLU(num_parameters=3)"),
    (nn.RReLU(), "RReLU(lower=0.125, upper=0.3333333333333333)"),
    (nn.Threshold(0.1, 2), "Threshold(threshold=0.1, value=2)"),
    (nn.ELU(), "ELU(alpha=1.0)"),
    (nn.CELU(0.5, True), "CELU(alpha=0.5, inplace=True)"),
    (nn.SELU(), "SELU()"),
    (nn.GELU("tanh"), "GELU(approximate='tanh')"),
    (nn.GLU(), "GLU(dim=-1)"),
    (nn.Softplus(), "Softplus(beta=1.0, threshold=20.0)"),
    (nn.Hardshrink(), "Hardshrink(0.5)"),
    (nn.Softshrink(1), "Softshrink(1)"),
    (nn.Hardswish(inplace=True), "Hardswish()"),
    (nn.Softmax(dim=-1), "Softmax(dim=-1)"),
    (nn.Dropout(0.2), "Dropout(p=0.2, inplace=False)"),
]


@pytest.mark.parametrize(("module", "text"), REPRESENTATIONS, ids=[text for _, text in REPRESENTATIONS])
def test_modules_print_as_pytorchs_and_call_the_function(module, text):
    assert repr(module) == text
    x = torch.randn(4, 3 if isinstance(module, nn.PReLU) else 6, dtype=float32)
    assert module.eval()(x.clone()).shape[0] == 4


def test_prelus_slopes_are_its_state():
    assert {name: w.tolist() for name, w in nn.PReLU(2, init=0.1).state_dict().items()} == {
        "weight": pytest.approx([0.1, 0.1])
    }
