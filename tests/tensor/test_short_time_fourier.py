"""Window functions against SciPy's; the short-time Fourier transform against a loop over frames, and back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import minitorch_compile as torch
from minitorch_compile.autograd import gradcheck

RNG = np.random.default_rng(0)
SIGNALS, WINDOW = RNG.normal(size=(2, 40)), RNG.random(8) + 0.2

WINDOWS = {
    "hann_window": "hann",
    "hamming_window": "hamming",
    "blackman_window": "blackman",
    "bartlett_window": "bartlett",
    "kaiser_window": ("kaiser", 12.0),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_windows_are_those_of_scipy(name, periodic, length):
    ours = getattr(torch, name)(length, periodic, dtype=torch.float64)
    np.testing.assert_allclose(ours.numpy(), signal.get_window(WINDOWS[name], length, periodic), atol=1e-12)


def test_no_window_at_all_and_less():
    assert torch.hann_window(0).shape == (0,)
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.hann_window(-1)
    with pytest.raises(RuntimeError, match="floating-point"):
        torch.hann_window(3, dtype=torch.int64)


@pytest.mark.parametrize("hop", [2, 3])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("onesided", [False, True])
def test_a_column_is_the_spectrum_of_a_windowed_frame(hop, center, normalized, onesided):
    spectrum = torch.stft(
        torch.tensor(SIGNALS), 8, hop, window=torch.tensor(WINDOW), center=center, normalized=normalized,
        onesided=onesided, return_complex=True,
    )  # fmt: skip
    padded = np.pad(SIGNALS, ((0, 0), (4, 4)), "reflect") if center else SIGNALS
    starts = range(0, padded.shape[1] - 7, hop)
    transform = np.fft.rfft if onesided else np.fft.fft
    frames = [transform(padded[:, s : s + 8] * WINDOW) for s in starts]
    np.testing.assert_allclose(spectrum.numpy(), np.stack(frames, -1) / (np.sqrt(8) if normalized else 1))


@pytest.mark.parametrize("length", [None, 37, 50])
@pytest.mark.parametrize("onesided", [False, True])
def test_the_inverse_leads_back(length, onesided):
    window = torch.tensor(WINDOW)
    spectrum = torch.stft(torch.tensor(SIGNALS), 8, window=window, onesided=onesided, return_complex=True)
    back = torch.istft(spectrum, 8, window=window, onesided=onesided, length=length)
    known = min(40, length or 40)
    np.testing.assert_allclose(back.numpy()[:, :known], SIGNALS[:, :known])
    assert back.shape == (2, length or 40)


def test_a_short_window_lies_in_the_middle_of_its_frame():
    narrow = torch.stft(torch.tensor(SIGNALS[0]), 8, win_length=4, return_complex=True)
    wide = torch.tensor([0.0, 0, 1, 1, 1, 1, 0, 0], dtype=torch.float64)
    assert torch.equal(narrow, torch.stft(torch.tensor(SIGNALS[0]), 8, window=wide, return_complex=True))


def test_a_spectrogram_can_be_differentiated():
    x, window = torch.tensor(SIGNALS[:, :12], requires_grad=True), torch.tensor(WINDOW, requires_grad=True)
    assert gradcheck(lambda x, w: torch.stft(x, 8, 4, window=w, return_complex=True).abs(), (x, window))


ERRORS = {
    "return_complex": lambda x: torch.stft(x, 8),
    "n_fft": lambda x: torch.stft(x, 80, center=False, return_complex=True),
    "window": lambda x: torch.stft(x, 8, window=torch.ones(5), return_complex=True),
    "complex-valued": lambda x: torch.istft(x, 8),
    "window overlap": lambda x: torch.istft(
        torch.stft(x, 8, window=torch.hann_window(8), center=False, return_complex=True), 8,
        window=torch.hann_window(8), center=False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", ERRORS)
def test_errors_say_what_is_wrong(message):
    with pytest.raises(RuntimeError, match=message):
        ERRORS[message](torch.tensor(SIGNALS))
