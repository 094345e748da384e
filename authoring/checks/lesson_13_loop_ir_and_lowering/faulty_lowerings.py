"""Four lowerings that look right, as exercise 13.2 shows them, and what each is meant to compute.

>>> import minitorch_compile as torch
>>> from minitorch_compile.course.measures.loops import computed
>>> x = torch.arange(6.0).reshape(2, 3)
>>> np.array_equal(computed(transposed, x, (1, 0)), right_transposed(x.numpy(), (1, 0)))
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.shape import within

Ints = tuple[int, ...]


def transposed(x: TensorBox, permutation: Ints) -> TensorBox:
    """x.permute(permutation)"""
    sizes = [x.sizes[dim] for dim in permutation]
    return TensorBox(sizes, x.dtype, lambda ops, at: x.load(ops, [at[dim] for dim in permutation]))


def sliced(x: TensorBox, start: int, stop: int, step: int) -> TensorBox:
    """x[start:stop:step], for a vector x and 0 <= start < stop <= x.numel()"""
    sizes = ((stop - start) // step,)
    return TensorBox(sizes, x.dtype, lambda ops, at: x.load(ops, [at[0] * step + start]))


def joined(x: TensorBox, y: TensorBox) -> TensorBox:
    """torch.cat([x, y]), for vectors"""
    length = x.sizes[0] + y.sizes[0]

    def inner(ops: Any, at: Any) -> Any:
        first = within(ops, at[0], 0, x.sizes[0])
        second = within(ops, at[0], x.sizes[0], length)
        before = ops.masked(first, lambda: x.load(ops, at), 0, x.dtype)
        after = ops.masked(second, lambda: y.load(ops, [at[0] - y.sizes[0]]), 0, y.dtype)
        return ops.apply("where", first, before, after)

    return TensorBox((length,), x.dtype, inner)


def in_fours(x: TensorBox) -> TensorBox:
    """The largest of each four elements of a vector, of the last few if it doesn't come out even"""

    def element(ops: Any, place: Any) -> Any:
        inside = within(ops, place, 0, x.sizes[0])
        load = lambda: x.load(ops, [place])
        return load() if inside is None else ops.masked(inside, load, 0, x.dtype)

    def inner(ops: Any, at: Any) -> Any:
        a, b, c, d = (element(ops, at[0] * 4 + step) for step in range(4))
        return ops.apply("maximum", ops.apply("maximum", a, b), ops.apply("maximum", c, d))

    return TensorBox(((x.sizes[0] + 3) // 4,), x.dtype, inner)


def right_transposed(x: np.ndarray, permutation: Ints) -> np.ndarray:
    return np.transpose(x, permutation)


def right_sliced(x: np.ndarray, start: int, stop: int, step: int) -> np.ndarray:
    return x[start:stop:step]


def right_joined(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.concatenate([x, y])


def right_in_fours(x: np.ndarray) -> np.ndarray:
    return np.array([x[start : start + 4].max() for start in range(0, len(x), 4)], x.dtype)
