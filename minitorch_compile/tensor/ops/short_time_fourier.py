"""The spectrogram of a signal, and back: the Fourier transform of overlapping, windowed frames.

>>> from minitorch_compile.tensor import ops
>>> signal = ops.arange(8.0)
>>> spectrum = stft(signal, 4, 2, window=ops.hann_window(4), return_complex=True)
>>> spectrum.shape, istft(spectrum, 4, 2, window=ops.hann_window(4))
(torch.Size([3, 5]), tensor([0., 1., 2., 3., 4., 5., 6., 7.]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.ops.complex_numbers import view_as_real
from minitorch_compile.tensor.ops.creation import arange, full, ones
from minitorch_compile.tensor.ops.fourier import fft_fft, fft_ifft, fft_irfft, fft_rfft
from minitorch_compile.tensor.ops.indexing import index, index_put
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.padding import pad
from minitorch_compile.tensor.ops.reduction import amin
from minitorch_compile.tensor.ops.splitting import narrow
from minitorch_compile.tensor.ops.view import transpose


def _window_of(name: str, window: Any, win_length: int | None, n_fft: int, like: Any) -> Any:
    """The window, of ones unless given, in the middle of n_fft places."""
    length = n_fft if win_length is None else win_length
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length} and n_fft={n_fft}")
    if window is None:
        window = ones(length, dtype=like.dtype.to_real())
    elif tuple(window.sizes) != (length,):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={length}, but got window with size"
            f" {list(window.sizes)}"
        )
    if length == n_fft:
        return window
    left = (n_fft - length) // 2
    return cat([full((left,), 0, window.dtype), window, full((n_fft - length - left,), 0, window.dtype)])


def _places(frames: int, n_fft: int, hop: int) -> Any:
    """Where in the signal the elements of each frame lie: [frames, n_fft]."""
    return arange(frames).unsqueeze(1) * hop + arange(n_fft)


@composite(methods=True)
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The short-time Fourier transform of signals [..., length]: complex [..., frequencies, frames].

    A frame of n_fft numbers every hop_length (n_fft // 4); `center` pads the signal so that frame t is centred at
    t * hop_length; `normalized` divides by sqrt(n_fft). RuntimeError for a real input without return_complex.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    one_sided = not input.dtype.is_complex and (window is None or not window.dtype.is_complex)
    one_sided = one_sided if onesided is None else onesided
    if input.dtype.category < FLOATING or len(input.sizes) not in (1, 2):
        raise RuntimeError(f"stft: expected 1D or 2D floating tensors, but got {input.dtype} {list(input.sizes)}")
    if return_complex is None and not input.dtype.is_complex and (window is None or not window.dtype.is_complex):
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs; pass True")
    if one_sided and input.dtype.is_complex:
        raise RuntimeError("stft: Cannot have onesided output if window or input is complex")
    if align_to_window is not None and center:
        raise RuntimeError("stft: align_to_window should only be set when center = false")
    signals = input if len(input.sizes) == 2 else input.unsqueeze(0)
    if center:
        signals = pad(signals.unsqueeze(1), (n_fft // 2, n_fft // 2), pad_mode).squeeze(1)
    length = signals.sizes[-1]
    if not 0 < n_fft <= length:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {length}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    weights = _window_of("stft", window, win_length, n_fft, input)
    frames = index(signals, [None, _places(1 + (length - n_fft) // hop, n_fft, hop)]) * weights
    transform = fft_rfft if one_sided else fft_fft
    spectrum = transpose(transform(frames, norm="ortho" if normalized else "backward"), 1, 2)
    result = spectrum if len(input.sizes) == 2 else spectrum.squeeze(0)
    return view_as_real(result) if return_complex is False else result


@composite(methods=True)
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signals [..., length] whose stft is `input`, by least squares: frames are added up where they overlap.

    RuntimeError where the windows add up to 0, since nothing is known of the signal there.
    """
    if not input.dtype.is_complex:
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft")
    hop = n_fft // 4 if hop_length is None else hop_length
    spectra = transpose(input if len(input.sizes) == 3 else input.unsqueeze(0), 1, 2)
    one_sided = spectra.sizes[-1] != n_fft if onesided is None else onesided
    expected = n_fft // 2 + 1 if one_sided else n_fft
    if spectra.sizes[-1] != expected:
        raise RuntimeError(f"istft: expected {expected} frequencies to match n_fft={n_fft}, got {spectra.sizes[-1]}")
    weights = _window_of("istft", window, win_length, n_fft, input)
    norm = "ortho" if normalized else "backward"
    if return_complex:
        frames = fft_ifft(spectra, norm=norm) * weights
    elif one_sided:
        frames = fft_irfft(spectra, n_fft, norm=norm) * weights
    else:
        frames = fft_ifft(spectra, norm=norm).real * weights
    signals = _overlapped(frames, hop)
    envelope = _overlapped((weights * weights).expand((1, *frames.sizes[1:])), hop)
    start = n_fft // 2 if center else 0
    end = signals.sizes[-1] - (n_fft // 2 if center else 0)
    end = end if length is None else min(start + length, signals.sizes[-1])
    signals, envelope = narrow(signals, 1, start, end - start), narrow(envelope, 1, start, end - start)
    if not envelope.is_fake and amin(envelope.abs()).item() < 1e-11:
        raise RuntimeError("istft: window overlap add min: 1e-11 check failed; the windows leave gaps in the signal")
    signals = signals / envelope
    if length is not None and length > end - start:
        signals = pad(signals, (0, length - (end - start)))
    return signals if len(input.sizes) == 3 else signals.squeeze(0)


def _overlapped(frames: Any, hop: int) -> Any:
    """Frames [batch, frames, n] added up, each `hop` places after the one before."""
    batch, count, n = frames.sizes
    total = full((batch, (count - 1) * hop + n), 0, frames.dtype)
    return index_put(total, [None, _places(count, n, hop)], frames, True)
