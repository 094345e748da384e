"""torch.signal: windows.

>>> windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from minitorch_compile.signal import windows

__all__ = ["windows"]
