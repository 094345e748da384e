"""The inputs that break careless code: every op is tried on them.

A case is (name, NumPy array); `layouts` turns one array into tensors that hold the same values in different layouts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minitorch_compile.tensor import Tensor, from_numpy

FLOATS = (np.float32, np.float64)
INTEGERS = (np.int64, np.int32, np.uint8)


def arrays(dtype: type = np.float32, positive: bool = False) -> dict[str, np.ndarray]:
    """Arrays of awkward sizes, by name; `positive` keeps away from 0 for logarithms and divisors."""
    rng = np.random.default_rng(0)

    def of(*sizes: int) -> np.ndarray:
        if np.dtype(dtype).kind == "b":
            return rng.random(sizes) < 0.5
        if np.dtype(dtype).kind in "iu":
            return rng.integers(1 if positive or np.dtype(dtype).kind == "u" else -9, 10, sizes).astype(dtype)
        values = rng.uniform(0.5, 3.0, sizes) if positive else rng.normal(size=sizes) * 2
        return np.asarray(values, dtype)

    return {
        "0-d": of(),
        "one element": of(1),
        "vector": of(5),
        "empty": of(0),
        "empty rows": of(3, 0),
        "matrix": of(3, 4),
        "row": of(1, 4),
        "column": of(3, 1),
        "cube": of(2, 3, 4),
        "ones everywhere": of(1, 1, 1),
    }


def special_floats(dtype: type = np.float32) -> np.ndarray:
    """Signed zeros, infinities, NaN, the smallest and largest magnitudes."""
    info = np.finfo(dtype)
    return np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, -info.tiny, info.max / 4, 1.0, -1.0, 0.5], dtype)


def layouts(array: np.ndarray) -> Iterator[tuple[str, Tensor]]:
    """Tensors of the same values whose elements lie differently in memory."""
    yield "contiguous", from_numpy(array.copy())
    if array.ndim >= 2:
        yield "transposed", from_numpy(array.T.copy()).permute(tuple(range(array.ndim))[::-1])
    if array.ndim >= 1:
        doubled = np.repeat(array, 2, axis=-1)
        yield "every second", from_numpy(doubled)[..., ::2]
        padded = np.concatenate([array[:1], array]) if array.shape[0] else array.copy()
        yield "offset", from_numpy(padded)[padded.shape[0] - array.shape[0] :]
    if array.ndim >= 1 and array.shape[0] > 0 and (array == array[:1]).all():
        yield "stride 0", from_numpy(array[:1].copy()).expand(array.shape)
