"""torch.fft: discrete Fourier transforms.

>>> from minitorch_compile.tensor import tensor
>>> rfft(tensor([1.0, 1.0, 1.0, 1.0])), fftfreq(4)
(tensor([4.+0.j, 0.+0.j, 0.+0.j]), tensor([ 0.0000,  0.2500, -0.5000, -0.2500]))
"""

from minitorch_compile.tensor import ops

fft = ops.fft_fft
fft2 = ops.fft_fft2
fftfreq = ops.fft_fftfreq
fftn = ops.fft_fftn
fftshift = ops.fft_fftshift
hfft = ops.fft_hfft
hfft2 = ops.fft_hfft2
hfftn = ops.fft_hfftn
ifft = ops.fft_ifft
ifft2 = ops.fft_ifft2
ifftn = ops.fft_ifftn
ifftshift = ops.fft_ifftshift
ihfft = ops.fft_ihfft
ihfft2 = ops.fft_ihfft2
ihfftn = ops.fft_ihfftn
irfft = ops.fft_irfft
irfft2 = ops.fft_irfft2
irfftn = ops.fft_irfftn
rfft = ops.fft_rfft
rfft2 = ops.fft_rfft2
rfftfreq = ops.fft_rfftfreq
rfftn = ops.fft_rfftn

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
