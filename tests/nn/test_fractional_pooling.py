"""Fractional pooling, PyTorch's older normalisation over channels, and gradients of convolutions by themselves."""

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.nn import functional as F
from minitorch_compile.nn import grad as gradients

X = (torch.arange(2 * 3 * 8 * 7) * 37 % 101).float().reshape(2, 3, 8, 7)
SAMPLES = torch.tensor([[[0.1, 0.7], [0.5, 0.2], [0.9, 0.3]], [[0.6, 0.6], [0.0, 0.99], [0.4, 0.8]]])


def test_values_and_places_are_pytorchs():
    values, places = F.fractional_max_pool2d(X, 2, (4, 3), return_indices=True, _random_samples=SAMPLES)
    assert values[0, 0].tolist() == [[94, 74, 84], [70, 87, 97], [83, 100, 66], [96, 69, 79]]
    assert places[0, 0].tolist() == [[8, 2, 5], [21, 16, 19], [35, 30, 40], [49, 51, 54]]


def test_places_say_where_the_values_are():
    values, places = F.fractional_max_pool2d(X, (3, 2), output_ratio=0.5, return_indices=True)
    assert tuple(values.shape) == (2, 3, 4, 3)
    assert torch.equal(X.flatten(2).gather(-1, places.flatten(2)).reshape(values.shape), values)


def test_three_dimensions_and_no_batch():
    x = torch.randn(3, 6, 5, 7)
    values, places = nn.FractionalMaxPool3d(2, (3, 2, 4), return_indices=True)(x)
    assert tuple(values.shape) == (3, 3, 2, 4)
    assert torch.equal(x.flatten(1).gather(-1, places.flatten(1)).reshape(values.shape), values)


def test_the_gradient_goes_to_the_maxima():
    x = X.clone().requires_grad_()
    values, places = F.fractional_max_pool2d(x, 2, (4, 3), return_indices=True, _random_samples=SAMPLES)
    values.sum().backward()
    expected = torch.zeros(2, 3, 56).scatter_add(-1, places.flatten(2), torch.ones(2, 3, 12)).reshape(X.shape)
    assert torch.equal(x.grad, expected)


def test_compiled_it_is_the_same():
    f = torch.compile(lambda x: F.fractional_max_pool2d(x, 2, (4, 3), _random_samples=SAMPLES))
    assert torch.equal(f(X), F.fractional_max_pool2d(X, 2, (4, 3), _random_samples=SAMPLES))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: nn.FractionalMaxPool2d(2), ValueError),
        (lambda: nn.FractionalMaxPool2d(2, 3, 0.5), ValueError),
        (lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5), ValueError),
        (lambda: F.fractional_max_pool2d(X, 2, 20), RuntimeError),
        (lambda: F.fractional_max_pool2d(X, 2), ValueError),
        (lambda: F.fractional_max_pool2d(X[0, 0], 2, 2), RuntimeError),
    ],
)
def test_errors_are_pytorchs(call, error):
    with pytest.raises(error):
        call()


def test_the_older_normalisation_over_channels():
    recorded = [0.6849, 1.1130, 0.3340, 0.8067, 1.2167, 0.4576, 0.9243]
    y = nn.CrossMapLRN2d(3, 0.1, 0.6, 2.0)(X / 50)
    assert torch.allclose(y[1, 2, 7], torch.tensor(recorded), atol=1e-4)
    few = nn.CrossMapLRN2d(5, 0.1, 0.6, 2.0)(X / 50)  # all three channels are in each window, as in the newer layer
    assert torch.allclose(few, nn.LocalResponseNorm(5, 0.1, 0.6, 2.0)(X / 50), atol=1e-5)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_gradients_of_convolutions(ndim):
    x = torch.randn(2, 4, *(6,) * ndim, requires_grad=True)
    w = torch.randn(6, 2, *(3,) * ndim, requires_grad=True)
    y = getattr(F, f"conv{ndim}d")(x, w, None, 2, 1, 1, 2)
    g = torch.randn(y.shape)
    expected = torch.autograd.grad(y, (x, w), g)
    assert torch.allclose(getattr(gradients, f"conv{ndim}d_input")(x.shape, w, g, 2, 1, 1, 2), expected[0], atol=1e-5)
    assert torch.allclose(getattr(gradients, f"conv{ndim}d_weight")(x, w.shape, g, 2, 1, 1, 2), expected[1], atol=1e-5)


def test_samples_of_another_dtype_are_refused():
    with pytest.raises(RuntimeError, match="same dtype as input"):
        F.fractional_max_pool2d(torch.ones(1, 1, 4, 4), 2, 2, _random_samples=torch.zeros(1, 1, 2, dtype=torch.float64))
