"""torch.fft: discrete Fourier transforms.

>>> from minitorch_compile.tensor import tensor
>>> rfft(tensor([1.0, 1.0, 1.0, 1.0])), fftfreq(4)
(tensor([4.+0.j, 0.+0.j, 0.+0.j]), tensor([ 0.0000,  0.2500, -0.5000, -0.2500]))
"""

from minitorch_compile.tensor import ops

globals().update(ops.visible_in("fft"))
__all__ = sorted(ops.visible_in("fft"))
