"""The Philox stream as native loops, for long draws: to the bit what `philox.py` computes with NumPy, in a tenth of the
time. Importing this imports Numba, which keeps the compiled functions on disk.

>>> import numpy as np
>>> from minitorch_compile.tensor.random.philox import _uniform_of, philox
>>> numbers = np.empty(3, np.float32)
>>> fill_uniform32(np.uint64(7), np.uint64(5), numbers)
>>> (numbers == _uniform_of(philox(7, np.arange(5, 8, dtype=np.uint64)), np.dtype(np.float32))).all()
np.True_
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import uint32, uint64

from minitorch_compile.tensor.cpu.native import native


@partial(native, inline="always")
def _words(seed: int, counter: int) -> tuple[int, int]:
    """The first two of the four words of a counter."""
    key0, key1 = uint32(seed), uint32(seed >> uint64(32))
    x0, x1, x2, x3 = uint32(counter), uint32(counter >> uint64(32)), uint32(0), uint32(0)
    for _ in range(10):
        product0 = uint64(0xD2511F53) * uint64(x0)
        product1 = uint64(0xCD9E8D57) * uint64(x2)
        x0 = uint32(product1 >> uint64(32)) ^ x1 ^ key0
        x2 = uint32(product0 >> uint64(32)) ^ x3 ^ key1
        x1, x3 = uint32(product1), uint32(product0)
        key0, key1 = uint32(key0 + uint32(0x9E3779B9)), uint32(key1 + uint32(0xBB67AE85))
    return x0, x1


@native
def fill_uniform32(seed: int, offset: int, out: np.ndarray) -> None:
    """Numbers in [0, 1) of 24 random bits."""
    for i in range(len(out)):
        word, _ = _words(seed, offset + uint64(i))
        out[i] = np.float32(word >> uint32(8)) * np.float32(2.0**-24)


@native
def fill_uniform64(seed: int, offset: int, out: np.ndarray) -> None:
    """Numbers in [0, 1) of 53 random bits."""
    for i in range(len(out)):
        high, low = _words(seed, offset + uint64(i))
        out[i] = (np.float64(high >> uint32(5)) * 67108864.0 + np.float64(low >> uint32(6))) * 2.0**-53
