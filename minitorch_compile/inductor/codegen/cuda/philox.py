"""Philox4x32-10 on the GPU: the numbers of `tensor/random/philox.py`, made by each thread for itself."""

from __future__ import annotations

import numpy as np
from numba import cuda

from minitorch_compile.inductor.codegen.cuda.single_instructions import wide_product
from minitorch_compile.tensor.random.philox import MULTIPLIERS, ROUNDS, WEYL

HALF, ZERO = np.uint64(32), np.uint32(0)
MULTIPLIER_0, MULTIPLIER_1 = (np.uint32(word) for word in MULTIPLIERS)
WEYL_0, WEYL_1 = (np.uint32(word) for word in WEYL)


@cuda.jit(device=True)
def philox_words(seed, counter):
    """The first two 32-bit words for a counter. Words stay 32 bits wide from round to round."""
    key0, key1 = np.uint32(seed), np.uint32(np.uint64(seed) >> HALF)
    x0, x1 = np.uint32(counter), np.uint32(np.uint64(counter) >> HALF)
    x2, x3 = ZERO, ZERO
    for _ in range(ROUNDS):
        product0, product1 = wide_product(MULTIPLIER_0, x0), wide_product(MULTIPLIER_1, x2)
        x0, x2 = np.uint32(product1 >> HALF) ^ x1 ^ key0, np.uint32(product0 >> HALF) ^ x3 ^ key1
        x1, x3 = np.uint32(product1), np.uint32(product0)
        key0, key1 = np.uint32(key0 + WEYL_0), np.uint32(key1 + WEYL_1)
    return x0, x1


@cuda.jit(device=True)
def philox_float32(seed, counter):
    """A number in [0, 1) from 24 bits."""
    word, _ = philox_words(seed, counter)
    return np.float32(np.uint32(word >> 8)) * np.float32(2.0**-24)


@cuda.jit(device=True)
def philox_float64(seed, counter):
    """A number in [0, 1) from 53 bits."""
    low, high = philox_words(seed, counter)
    upper, lower = np.float64(np.uint32(low >> 5)), np.float64(np.uint32(high >> 6))
    return (upper * 67108864.0 + lower) * 2.0**-53
