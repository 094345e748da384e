"""The geometry of sliding windows, in any number of dimensions: how many fit, and what each of them sees.

Along one dimension, window i sees the padded elements i * stride + k * dilation, for k = 0, 1, ... below the kernel's
size; together these places k, one for each dimension, are the kernel's *taps*.

>>> output_size(7, kernel=3, stride=2, padding=1, dilation=1)
4
>>> import numpy as np
>>> windows(np.arange(5)[None, None], (3,), (2,), (1,), (2,))[0, 0]
array([[0, 1, 2],
       [2, 3, 4]])
>>> [seen_at(tap, np.arange(5), (2,), (1,), (2,)).tolist() for tap in taps((3,))]
[[0, 2], [1, 3], [2, 4]]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minitorch_compile.symbolic import WHOLE, whole
from minitorch_compile.tensor.dispatch.number_arguments import whole_number
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.tensor_base import TensorBase

Ints = tuple[int, ...]


def int_tuple(value: Any, ndim: int, operation: str, name: str) -> Ints:
    """One int for all dimensions, or one for each. TypeError for other things, RuntimeError for another count."""
    if isinstance(value, (*WHOLE, np.integer)):
        return (whole(value),) * ndim
    if isinstance(value, TensorBase):
        return (whole_number(value, operation, name),) * ndim
    values = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (None,)
    values = tuple(whole_number(v, operation, name) if isinstance(v, TensorBase) else v for v in values)
    if not all(isinstance(v, (*WHOLE, np.integer)) for v in values):
        raise TypeError(f"{operation}(): argument '{name}' must be an int or a tuple of ints, got {value!r}")
    if len(values) == 1:
        return (whole(values[0]),) * ndim
    if len(values) != ndim:
        raise RuntimeError(
            f"{operation}: expected {name} to be a single integer value or a list of {ndim} values, one for each"
            f" dimension, but got {name}={list(values)}"
        )
    return tuple(whole(v) for v in values)


def output_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool = False) -> int:
    """How many windows of a (dilated) kernel fit along one padded dimension."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = -(-room // stride) + 1 if ceil_mode else room // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1  # the last window would start in the padding
    return count


def output_sizes(
    sizes: Sequence[int], kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool = False
) -> Ints:
    """How many windows fit along each dimension."""
    return tuple(output_size(*along, ceil_mode) for along in zip(sizes, kernel, stride, padding, dilation, strict=True))


def windows(padded: Array, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Array:
    """A view (N, C, *out, *kernel) of images (N, C, *sizes): element [..., i, ..., k] is what window i sees at k."""
    along = padded.strides[2:]
    steps = [step * s for step, s in zip(along, stride, strict=True)]
    inner = [step * d for step, d in zip(along, dilation, strict=True)]
    return np.lib.stride_tricks.as_strided(
        padded, (*padded.shape[:2], *out, *kernel), (*padded.strides[:2], *steps, *inner)
    )


def pad_image(x: Array, before: Ints, after: Ints | None = None, value: float = 0) -> Array:
    """Images (N, C, *sizes) with a border of `value`, as wide behind as before unless `after` says otherwise."""
    after = before if after is None else after
    if not any((*before, *after)):
        return x
    sizes = [b + n + a for b, n, a in zip(before, x.shape[2:], after, strict=True)]
    padded = np.full((*x.shape[:2], *sizes), value, x.dtype)
    padded[inside(x.shape[2:], before)] = x
    return padded


def inside(sizes: Sequence[int], before: Ints) -> tuple[Any, ...]:
    """The index of the image in its padded form."""
    return (..., *(slice(b, b + n) for n, b in zip(sizes, before, strict=True)))


def taps(kernel: Ints) -> Iterator[Ints]:
    """The places in a kernel, the last dimension fastest."""
    return itertools.product(*map(range, kernel))


def seen_at(tap: Ints, padded: Array, stride: Ints, dilation: Ints, out: Ints) -> Array:
    """What all windows see at one tap: a view of the last dimensions of the padded images.

    >>> seen_at((1,), np.arange(7), (2,), (1,), (3,))
    array([1, 3, 5])
    """
    first = [k * d for k, d in zip(tap, dilation, strict=True)]
    along: Any = (slice(f, f + s * (o - 1) + 1 if o else f, s) for f, s, o in zip(first, stride, out, strict=True))
    return padded[(..., *along)]


def tap_of(tap: Ints) -> Any:
    """The index of one tap in an array (rows, columns, *kernel, ...)."""
    return slice(None), slice(None), *tap
