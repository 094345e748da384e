"""Random numbers by counter: element i of a draw is a pure function of (seed, offset + i).

So a compiled kernel can make each number where it needs it, a recomputed mask is the same mask, and eager and compiled
code agree. The function is Philox4x32-10: ten rounds that multiply and mix a 128-bit counter under a 64-bit key.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).

>>> words = philox(0, np.array([0], np.uint64))
>>> [hex(int(word[0])) for word in words]       # the paper's test vector for a zero counter and key
['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
"""

from __future__ import annotations

import secrets
import threading
from typing import Any

import numpy as np

from minitorch_compile.tensor.device import device as Device
from minitorch_compile.tensor.dtype import uint8
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
DEFAULT_SEED = 67280421310721  # of a generator that nobody seeded: PyTorch's
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
    from minitorch_compile.tensor.philox_native import fill_uniform32, fill_uniform64

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


class Generator:
    """A random stream: a seed, and how many numbers have been drawn from it.

    >>> generator = Generator().manual_seed(3)
    >>> generator.advance(10), generator.advance(1), generator.position()
    ((3, 0), (3, 10), (3, 11))
    """

    def __init__(self, device: str | Device = "cpu") -> None:
        self._lock = threading.Lock()
        self.device = Device(device)
        self._seed = DEFAULT_SEED
        self._offset = 0

    def __repr__(self) -> str:
        return f"<Generator seed={self._seed} offset={self._offset}>"

    def manual_seed(self, seed: int) -> Generator:
        """Starts the stream again from a seed. RuntimeError unless it is an int, ValueError beyond 64 bits."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed: expected an int, got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"manual_seed: expected a seed in [-2**63, 2**64), got {seed}; take it modulo 2**64")
        self.set_position(int(seed) % 2**64, 0)
        return self

    def seed(self) -> int:
        """Starts the stream again from a seed that the operating system draws, and returns it."""
        drawn = secrets.randbits(63)
        self.manual_seed(drawn)
        return drawn

    def initial_seed(self) -> int:
        """The seed that the stream was started from."""
        return self._seed

    def advance(self, count: int) -> tuple[int, int]:
        """Reserves `count` numbers: the seed and the offset of the first."""
        with self._lock:
            first = self._offset
            self._offset += count
            return self._seed, first

    def position(self) -> tuple[int, int]:
        """(seed, offset): where in which stream the next number comes from."""
        return self._seed, self._offset

    def set_position(self, seed: int, offset: int) -> None:
        """Continues from a place that `position` returned."""
        with self._lock:
            self._seed, self._offset = seed, offset

    def get_state(self) -> Any:
        """The position as a tensor of 16 bytes, for programs that store it with their checkpoints."""
        return wrap(np.array(self.position(), np.uint64).view(np.uint8))

    def set_state(self, state: Any) -> None:
        """Continues from a state that get_state returned. TypeError for anything but 16 bytes in a uint8 tensor."""
        if not isinstance(state, TensorBase) or state.dtype is not uint8 or state.sizes != (16,):
            raise TypeError(f"set_state: expected the uint8 tensor of 16 bytes that get_state() returns, got {state!r}")
        seed, offset = np.ascontiguousarray(state.array).view(np.uint64)
        self.set_position(int(seed), int(offset))

    def clone_state(self) -> Generator:
        """Another generator at the same position."""
        other = Generator(self.device)
        other.set_position(*self.position())
        return other


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Starts the default stream again from `seed`, a number."""
    return default_generator.manual_seed(int(seed))
