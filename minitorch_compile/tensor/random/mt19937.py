"""PyTorch's random stream on the CPU: the Mersenne Twister's words, and the floats, normals and integers made of them.

For runs that somebody recorded with PyTorch (`config.random_stream = "mt19937"`). A number here depends on all that
were drawn before it, so a compiled program can't make it where it needs it: the default, Philox (`philox.py`), can.

Source: Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random number
generator" (1998); NumPy makes the words. What is made of them follows PyTorch 2.13, on a machine with AVX2.

>>> engine = Mt19937(0)
>>> uniform(engine, 3, np.dtype(np.float32))                                   # torch.manual_seed(0); torch.rand(3)
array([0.4962566 , 0.7682218 , 0.08847743], dtype=float32)
>>> integers(Mt19937(0), 5, np.dtype(int), 0, 10)         # torch.manual_seed(0); torch.randint(10, (5,))
array([4, 9, 3, 0, 3])
>>> permutation(Mt19937(0), 5, np.dtype(int))               # torch.manual_seed(0); torch.randperm(5)
array([4, 0, 1, 3, 2])
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from minitorch_compile.tensor.numerics.cephes import log, rounded_once, sine_and_cosine

WORDS = 624  # of the engine's state
LEGACY = np.dtype(
    [("seed", "u8"), ("left", "i4"), ("seeded", "i4"), ("next", "u8"), ("words", "u8", WORDS)]
    + [("unused", "f8"), ("normal", "f8"), ("unused_too", "f8"), ("has_normal", "i4"), ("padding", "i4")]
)
STATE = np.dtype([("legacy", LEGACY), ("float_normal", "f4"), ("has_float_normal", "u1"), ("padding", "u1", 3)])
LOW_53 = np.uint64(2**53 - 1)
WIDE = 2**28  # ranges of integers from so many on are drawn with 64 bits
LEAST_BLOCK = 16  # normals come in blocks of so many, if there are so many
PIECE = 2**13  # numbers made at a time, whole blocks: what lies between the words and them stays in the nearest cache


class Mt19937:
    """The engine: a state of 624 words that yields 32 bits at a time, and the second normal of a pair, until needed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.bits = np.random.MT19937(0)
        state: Any = np.random.RandomState(seed & 0xFFFFFFFF).get_state(legacy=False)
        self.bits.state = state
        self.kept_normal: float | None = None

    def words(self, count: int) -> np.ndarray:
        """The next words of 32 bits, as uint64."""
        return self.bits.random_raw(count) if count else np.zeros(0, np.uint64)

    def long_words(self, count: int) -> np.ndarray:
        """Words of 64 bits: each of two, the high one first."""
        pairs = self.words(2 * count)
        return (pairs[::2] << np.uint64(32)) | pairs[1::2]

    def fraction(self) -> float:
        """One number in [0, 1) of 53 bits."""
        return float(fractions(self, 1)[0])

    def normal(self) -> float:
        """One number of the standard normal distribution. They are made in pairs (Box and Muller); the second waits."""
        if self.kept_normal is not None:
            kept, self.kept_normal = self.kept_normal, None
            return kept
        u, v = map(float, fractions(self, 2))
        radius = math.sqrt(-2 * math.log1p(-v))
        self.kept_normal = radius * math.sin(2 * math.pi * u)
        return radius * math.cos(2 * math.pi * u)

    def to_bytes(self) -> np.ndarray:
        """The state in the 5056 bytes of PyTorch's get_rng_state."""
        state, place = np.zeros((), STATE), self.bits.state["state"]
        at = int(place["pos"])
        legacy = state["legacy"]
        legacy["seed"], legacy["seeded"], legacy["words"] = self.seed, 1, place["key"]
        legacy["left"], legacy["next"] = WORDS - at + 1, at % WORDS
        legacy["normal"], legacy["has_normal"] = self.kept_normal or 0.0, self.kept_normal is not None
        return np.frombuffer(state.tobytes(), np.uint8).copy()

    @staticmethod
    def from_bytes(data: np.ndarray) -> Mt19937:
        """The engine that `to_bytes`, or PyTorch, stored."""
        legacy = np.frombuffer(np.ascontiguousarray(data).tobytes(), STATE)[0]["legacy"]
        engine = Mt19937(int(legacy["seed"]))
        at = WORDS + 1 - int(legacy["left"])
        if not legacy["seeded"] or not 0 < at <= WORDS:
            raise RuntimeError("set_state: these are no state of an mt19937 generator; pass what get_state() gave")
        words: Any = {"key": legacy["words"].astype(np.uint32), "pos": at}
        engine.bits.state = {"bit_generator": "MT19937", "state": words}
        engine.kept_normal = float(legacy["normal"]) if legacy["has_normal"] else None
        return engine


# ------------------------------------------------------------------------------------------------------------ floats


def fractions(engine: Mt19937, count: int) -> np.ndarray:
    """Numbers in [0, 1) of 53 bits, two words each."""
    return (engine.long_words(count) & LOW_53) * 2.0**-53


def _short_fractions(engine: Mt19937, count: int) -> np.ndarray:
    """Numbers in [0, 1) of 24 bits, one word each."""
    return (engine.words(count) & np.uint64(0xFFFFFF)).astype(np.float32) * np.float32(2.0**-24)


def _pieces(count: int) -> Iterator[slice]:
    """0 to count, a piece after the other."""
    for start in range(0, count, PIECE):
        yield slice(start, min(start + PIECE, count))


def uniform(engine: Mt19937, count: int, element: np.dtype, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Numbers in [low, high): 24 random bits for float32 and less, 53 for float64."""
    double = element == np.float64
    draw = fractions if double else _short_fractions
    width, start = (high - low, low) if double else (np.float32(high) - np.float32(low), np.float32(low))
    result = np.empty(count, element)
    for piece in _pieces(count):
        result[piece] = rounded_once(draw(engine, piece.stop - piece.start), width, start)
    if element.itemsize < 4:  # too few bits for what is just below `high`
        result[result == np.asarray(high).astype(element)] = low
    return result


def normal(engine: Mt19937, count: int, element: np.dtype, mean: float = 0.0, std: float = 1.0) -> np.ndarray:
    """Normal numbers, in blocks of 16 (the last one overlaps the one before it), or one by one if there are fewer."""
    if count < LEAST_BLOCK:
        return normal_one_by_one(engine, count, element, mean, std)
    draw = fractions if element == np.float64 else _short_fractions
    whole = count // LEAST_BLOCK * LEAST_BLOCK
    result = np.empty(count, element)
    for piece in _pieces(whole):
        result[piece] = _blocks(draw(engine, piece.stop - piece.start), mean, std)
    if whole < count:
        if element.itemsize >= 4:
            draw(engine, count - whole)  # PyTorch has drawn a number for each place by then, and draws the last 16 anew
        result[-LEAST_BLOCK:] = _blocks(draw(engine, LEAST_BLOCK), mean, std)
    return result


def _blocks(drawn: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Box and Muller's pairs from numbers in [0, 1): of each 16 the first 8 give the radius, the others the angle."""
    blocks = drawn.reshape(-1, 2, LEAST_BLOCK // 2)
    number = drawn.dtype.type
    distance, angle = 1 - blocks[:, 0], number(2 * math.pi) * blocks[:, 1]
    if number is np.float32:
        radius, (sine, cosine) = np.sqrt(-2 * log(distance)), sine_and_cosine(angle)
    else:
        radius, sine, cosine = np.sqrt(-2 * np.log(distance)), np.sin(angle), np.cos(angle)
    pairs = np.stack([radius * cosine, radius * sine], 1)
    return rounded_once(pairs, number(std), number(mean)).reshape(-1)


def normal_one_by_one(
    engine: Mt19937, count: int, element: np.dtype, mean: float = 0.0, std: float = 1.0
) -> np.ndarray:
    """Normal numbers in pairs, in float64: for few numbers, and for tensors with gaps."""
    drawn = np.empty(count)
    first = 0
    if engine.kept_normal is not None and count:
        drawn[0], first = engine.normal(), 1
    u, v = fractions(engine, (count - first) // 2 * 2).reshape(-1, 2).T
    radius = np.sqrt(-2 * np.log1p(-v))
    pairs = np.stack([radius * np.cos(2 * math.pi * u), radius * np.sin(2 * math.pi * u)], 1)
    drawn[first : first + pairs.size] = pairs.reshape(-1)
    if first + pairs.size < count:
        drawn[-1] = engine.normal()
    return _narrowed(rounded_once(drawn, std, mean), element)


def _narrowed(values: np.ndarray, element: np.dtype) -> np.ndarray:
    """float64 in a smaller dtype; half precision by way of float32."""
    return values.astype(np.float32).astype(element) if element.itemsize < 4 else values.astype(element)


# ---------------------------------------------------------------------------------------------------------- integers


def integers(engine: Mt19937, count: int, element: np.dtype, low: int, high: int) -> np.ndarray:
    """Integers in [low, high): words modulo the width of the range."""
    draw = engine.words if high - low < WIDE else engine.long_words
    drawn = draw(count)
    if high - low < 2**64:
        drawn = drawn % np.uint64(high - low)
    return (drawn + np.uint64(low % 2**64)).astype(np.int64).astype(element)


def integers_of_one_word(engine: Mt19937, count: int, element: np.dtype, high: int) -> np.ndarray:
    """Integers in [0, high), however wide the range."""
    return (engine.words(count) % np.uint64(high)).astype(element)


def permutation(engine: Mt19937, count: int, element: np.dtype) -> np.ndarray:
    """0 to count - 1 in random order: each changes places with one that is not placed yet (Fisher and Yates)."""
    steps = engine.words(max(count - 1, 0)) % np.arange(count, min(count, 1), -1, dtype=np.uint64)
    order = list(range(count))
    for place, step in enumerate(steps.tolist()):
        other = place + step
        order[place], order[other] = order[other], order[place]
    return np.array(order, element)
