"""Random numbers by counter: element i of a draw is a pure function of (seed, offset + i).

So a compiled kernel can make each number where it needs it, a recomputed mask is the same mask, and eager and compiled
code agree. The function is Philox4x32-10: ten rounds that multiply and mix a 128-bit counter under a 64-bit key.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).

>>> words = philox(0, np.array([0], np.uint64))
>>> [hex(int(word[0])) for word in words]       # the paper's test vector for a zero counter and key
['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
"""

from __future__ import annotations

import numpy as np

MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox(seed: int, counters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Four 32-bit words for each 64-bit counter, as uint64 arrays. The seed is the key, modulo 2**64."""
    key0, key1 = seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF
    x0, x1 = counters & LOW, counters >> HALF
    x2, x3 = np.zeros_like(x0), np.zeros_like(x0)
    for _ in range(ROUNDS):
        product0, product1 = MULTIPLIERS[0] * x0, MULTIPLIERS[1] * x2
        x0, x1, x2, x3 = (
            (product1 >> HALF) ^ x1 ^ np.uint64(key0),
            product1 & LOW,
            (product0 >> HALF) ^ x3 ^ np.uint64(key1),
            product0 & LOW,
        )
        key0, key1 = (key0 + WEYL[0]) & 0xFFFFFFFF, (key1 + WEYL[1]) & 0xFFFFFFFF
    return x0, x1, x2, x3


LONG = 1 << 15  # from so many numbers on the native loops, sixty times as fast, are worth their loading
BLOCK = 1 << 13  # so many counters at a time stay in the processor's cache: three times faster than all at once


def uniform(seed: int, offset: int, count: int, element: np.dtype) -> np.ndarray:
    """`count` numbers in [0, 1): 24 random bits for float32 and less, 53 for float64."""
    if count >= LONG:
        return _long_uniform(seed, offset, count, element)
    result = np.empty(count, element)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        result[start:stop] = _uniform_of(
            philox(seed, np.arange(offset + start, offset + stop, dtype=np.uint64)), element
        )
    return result


def _long_uniform(seed: int, offset: int, count: int, element: np.dtype) -> np.ndarray:
    """The same numbers from native loops, which are compiled when they are first needed."""
    from minitorch_compile.tensor.random.philox_native import fill_uniform32, fill_uniform64

    double = np.dtype(element) == np.float64
    result = np.empty(count, np.float64 if double else np.float32)
    fill = fill_uniform64 if double else fill_uniform32
    fill(np.uint64(seed % 2**64), np.uint64(offset % 2**64), result)
    return result.astype(element, copy=False)


def _uniform_of(words: tuple[np.ndarray, ...], element: np.dtype) -> np.ndarray:
    if np.dtype(element) == np.float64:
        return ((words[0] >> np.uint64(5)) * 67108864.0 + (words[1] >> np.uint64(6))) * 2.0**-53
    return (words[0] >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)


def normal(seed: int, offset: int, count: int, element: np.dtype) -> np.ndarray:
    """`count` numbers of the standard normal distribution, of two uniform ones each: offset + 2 i and offset + 2 i + 1.

    sqrt(-2 log(1 - u)) cos(2 pi v), computed in float64.

    Source: Box and Muller, "A note on the generation of random normal deviates" (1958).
    """
    u, v = uniform(seed, offset, 2 * count, np.dtype(np.float64)).reshape(count, 2).T
    return (np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)).astype(element)
