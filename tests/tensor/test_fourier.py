"""torch.fft against NumPy: every transform, normalization, size and dimension; shifts, frequencies, errors."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import fft

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(2, 4, 5))
COMPLEX = REAL + 1j * RNG.normal(size=REAL.shape)


def argument_of(name):
    return REAL if name in ("rfft", "ihfft", "rfft2", "rfftn") else COMPLEX


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("arguments", [(), (3, 1), (9,), (8, 0), (None, -2)], ids=str)
def test_transforms_along_one_dimension(name, norm, arguments):
    x = argument_of(name)
    n, dim = (*arguments, *(None, -1)[len(arguments) :])
    result = getattr(fft, name)(torch.tensor(x), n, dim, norm)
    expected = getattr(np.fft, name)(x, n, dim, norm)
    np.testing.assert_allclose(result.resolve_conj().numpy(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("arguments", [{}, {"s": (3, 6), "axes": (0, 2)}, {"s": (6, 7), "axes": (-2, -1)}], ids=str)
def test_transforms_over_several_dimensions(name, norm, arguments):
    x = argument_of(name)
    ours = {"dim" if key == "axes" else key: value for key, value in arguments.items()}
    result = getattr(fft, name)(torch.tensor(x), norm=norm, **ours)
    expected = getattr(np.fft, name)(x, norm=norm, **arguments)
    np.testing.assert_allclose(result.resolve_conj().numpy(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("there", ["fftn", "rfftn", "ihfftn"])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_the_inverse_leads_back(there, norm):
    back = {"fftn": "ifftn", "rfftn": "irfftn", "ihfftn": "hfftn"}[there]
    x = torch.tensor(REAL)
    sizes = {} if there == "fftn" else {"s": REAL.shape}
    again = getattr(fft, back)(getattr(fft, there)(x, norm=norm), norm=norm, **sizes)
    np.testing.assert_allclose(torch.real(again).numpy(), REAL, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_frequencies_and_shifts(n):
    np.testing.assert_allclose(fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5), rtol=1e-6)
    np.testing.assert_allclose(fft.rfftfreq(n).numpy(), np.fft.rfftfreq(n), rtol=1e-6)
    x = RNG.normal(size=(n, 3))
    for name in ("fftshift", "ifftshift"):
        for dim in (None, 0, (1,)):
            expected = getattr(np.fft, name)(x, dim)
            np.testing.assert_array_equal(getattr(fft, name)(torch.tensor(x), dim).numpy(), expected)


def test_dtypes_keep_their_precision():
    assert fft.fft(torch.ones(4)).dtype is torch.complex64
    assert fft.rfft(torch.ones(4, dtype=torch.float64)).dtype is torch.complex128
    assert fft.irfft(torch.ones(4, dtype=torch.complex64)).dtype is torch.float32
    assert fft.fft(torch.arange(4)).dtype is torch.complex64


def test_the_transformed_dimensions_run_fastest_in_memory():
    x = torch.tensor(REAL)
    assert fft.fft(x).stride() == (20, 5, 1)
    assert fft.fft(x, dim=1).stride() == (20, 1, 4)
    assert fft.fftn(x, dim=(0, 2)).stride() == (5, 10, 1)


def test_a_convolution_is_a_product_of_spectra_also_when_compiled():
    def convolved(a, b):
        return fft.irfft(fft.rfft(a, 9) * fft.rfft(b, 9), 9)

    a, b = torch.tensor(REAL[0, 0], requires_grad=True), torch.tensor(REAL[1, 0])
    for function in (convolved, torch.compile(convolved)):
        result = function(a, b)
        np.testing.assert_allclose(result.detach().numpy(), np.convolve(REAL[0, 0], REAL[1, 0]), atol=1e-12)
        (gradient,) = torch.autograd.grad(result.sum(), a)
        np.testing.assert_allclose(gradient.numpy(), np.full(5, REAL[1, 0].sum()))


ERRORS = {
    "no numbers": (RuntimeError, lambda: fft.fft(torch.ones(3), n=0)),
    "unknown norm": (RuntimeError, lambda: fft.fft(torch.ones(3), norm="x")),
    "half": (RuntimeError, lambda: fft.fft(torch.ones(3, dtype=torch.float16))),
    "complex to rfft": (RuntimeError, lambda: fft.rfft(torch.tensor(COMPLEX))),
    "the same dimension twice": (RuntimeError, lambda: fft.fftn(torch.ones(2, 2), dim=(0, 0))),
    "sizes for other dimensions": (RuntimeError, lambda: fft.fftn(torch.ones(2, 2), s=(1, 2), dim=(0,))),
    "no dimension": (IndexError, lambda: fft.fft(torch.tensor(1.0))),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_pytorch(name):
    error, call = ERRORS[name]
    with pytest.raises(error):
        call()
