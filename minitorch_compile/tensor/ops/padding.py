"""Borders around a tensor: of one value, mirrored, repeated from the edge, or wrapped around.

`pad` lists how many elements to put before and after the last dimension, then the one before it, and so on; a negative
number takes elements away.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1, 2, 3]])
>>> pad(x, (1, 2)), pad(x, (1, 2), "reflect"), pad(x, (1, 2), "replicate"), pad(x, (1, 2), "circular")
(tensor([[0, 1, 2, 3, 0, 0]]), tensor([[2, 1, 2, 3, 2, 1]]), tensor([[1, 1, 2, 3, 3, 3]]), tensor([[3, 1, 2, 3, 1, 2]]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.symbolic import WHOLE, whole
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.memory.memory_format import contiguous_format, strides_in, suggested_format
from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.ops.flip_and_roll import flip
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.view import expand, slice
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


def borders(ndim: int, pad: Sequence[int]) -> list[tuple[int, int]]:
    """(before, after) for each dimension, the first dimension first. Errors if `pad` doesn't fit.

    >>> borders(3, (1, 2, 3, 4))
    [(0, 0), (3, 4), (1, 2)]
    """
    if not isinstance(pad, (tuple, list)) or not all(isinstance(n, (*WHOLE, np.integer)) for n in pad):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {pad!r}")
    if len(pad) % 2:
        raise RuntimeError(f"pad: Padding length must be divisible by 2, got {len(pad)} numbers: {tuple(pad)}")
    if len(pad) > 2 * ndim:
        raise RuntimeError(
            "pad: Padding length should be less than or equal to two times the input dimension but got padding length"
            f" {len(pad)} and input of dimension {ndim}"
        )
    pairs = [(whole(pad[i]), whole(pad[i + 1])) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


@kernel_op("joining", rows=True)
def constant_pad_nd(input: Array, pad: Sequence[int], value: Scalar = 0) -> Array:
    """The input with borders of `value`."""
    around = borders(input.ndim, pad)
    sizes = [before + n + after for n, (before, after) in zip(input.shape, around, strict=True)]
    result = np.full(sizes, np.asarray(value).astype(input.dtype), input.dtype)
    kept = [np.s_[max(-b, 0) : n - max(-a, 0)] for n, (b, a) in zip(input.shape, around, strict=True)]
    place = [np.s_[max(b, 0) : n - max(a, 0)] for n, (b, a) in zip(sizes, around, strict=True)]
    result[tuple(place)] = input[tuple(kept)]
    return result


@constant_pad_nd.shape_rule
def _constant_pad_rule(input: TensorBase, pad: Sequence[int], value: Scalar = 0) -> TensorBase:
    around = borders(len(input.sizes), pad)
    sizes = [before + n + after for n, (before, after) in zip(input.sizes, around, strict=True)]
    if any(s < 0 or min(b, 0) + min(a, 0) + n < 0 for s, n, (b, a) in zip(sizes, input.sizes, around, strict=True)):
        raise RuntimeError(
            f"constant_pad_nd: The input size {list(input.sizes)}, plus negative padding {tuple(pad)}, resulted in a"
            f" negative output size {sizes}"
        )
    return empty_fake(sizes, strides_in(suggested_format(input.sizes, input.strides), sizes), input.dtype)


# ------------------------------------------------------------------------------------------ borders made of the input


def _reflect(x: Any, dim: int, before: int, after: int) -> Any:
    """Mirrored at the outermost elements, which aren't repeated."""
    n = x.sizes[dim]
    return _between(
        flip(slice(x, dim, 1, before + 1), (dim,)), x, flip(slice(x, dim, n - 1 - after, n - 1), (dim,)), dim
    )


def _replicate(x: Any, dim: int, before: int, after: int) -> Any:
    """The outermost elements, repeated."""
    return _between(_repeated(x, dim, 0, before), x, _repeated(x, dim, x.sizes[dim] - 1, after), dim)


def _circular(x: Any, dim: int, before: int, after: int) -> Any:
    """Each border continues on the other side."""
    n = x.sizes[dim]
    return _between(slice(x, dim, n - before, n), x, slice(x, dim, 0, after), dim)


def _between(before: Any, x: Any, after: Any, dim: int) -> Any:
    return cat([part for part in (before, x, after) if part.sizes[dim]], dim)


def _repeated(x: Any, dim: int, place: int, times: int) -> Any:
    return expand(slice(x, dim, place, place + 1), [times if d == dim else n for d, n in enumerate(x.sizes)])


_MODES: dict[str, Callable[[Any, int, int, int], Any]] = {
    "reflect": _reflect,
    "replicate": _replicate,
    "circular": _circular,
}


@composite(torch=False, functional=True)
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Any:
    """The input with borders: `pad` has their widths, two numbers for the last dimension, two for the one before, and
    so on; negative ones cut off.

    `mode`: "constant" (of `value`, 0 by default), and, for the last one to three dimensions of an image, "reflect",
    "replicate" and "circular". RuntimeError for borders wider than the input allows, NotImplementedError for an unknown
    mode or number of dimensions.

    >>> torch.nn.functional.pad(torch.tensor([1, 2]), (1, 2), value=9)
    tensor([9, 1, 2, 9, 9])
    """
    if mode == "constant":
        return constant_pad_nd(input, pad, (False if input.dtype is bool_ else 0) if value is None else value)
    if mode not in _MODES:
        raise NotImplementedError(
            f"pad: Unrecognised padding mode {mode}; choose constant, reflect, replicate or circular"
        )
    if value is not None and value != 0:
        raise RuntimeError(f'pad: Padding mode "{mode}" doesn\'t take in value argument')
    around = borders(len(input.sizes), pad)
    if len(pad) not in (2, 4, 6) or len(input.sizes) - len(pad) // 2 not in (1, 2):
        raise NotImplementedError(
            f"pad: Padding size {len(pad)} is not supported for {len(input.sizes)}D input tensor. Supported for"
            " non-constant padding: 2 numbers for 2D or 3D input, 4 for 3D or 4D, 6 for 4D or 5D"
        )
    _check_borders(input, around, mode)
    result = input
    for dim, (before, after) in enumerate(around):
        if before < 0 or after < 0:
            result = slice(result, dim, max(-before, 0), result.sizes[dim] - max(-after, 0))
    for dim, (before, after) in enumerate(around):
        if before > 0 or after > 0:
            result = _MODES[mode](result, dim, max(before, 0), max(after, 0))
    order = contiguous_format if mode == "circular" else suggested_format(input.sizes, input.strides)
    return (result if result is not input else input.clone()).contiguous(memory_format=order)


def _check_borders(input: Any, around: Sequence[tuple[int, int]], mode: str) -> None:
    for dim, (size, (before, after)) in enumerate(zip(input.sizes, around, strict=True)):
        if not before and not after:
            continue
        n, most = size + min(before, 0) + min(after, 0), max(before, after)
        if n <= 0 < most:
            raise RuntimeError(f"pad: Expected a non-empty dimension {dim} to pad, got sizes {list(input.sizes)}")
        if mode == "reflect" and most >= n > 0:
            raise RuntimeError(
                "pad: Padding size should be less than the corresponding input dimension, but got: padding"
                f" {(before, after)} at dimension {dim} of input {list(input.sizes)}"
            )
        if n < 0:
            raise RuntimeError(
                f"pad: the negative padding {(before, after)} takes more than there is at dimension {dim} of input"
                f" {list(input.sizes)}"
            )
        if mode == "circular" and most > n:
            raise RuntimeError(
                f"pad: Padding value causes wrapping around more than once: {(before, after)} at dimension {dim} of"
                f" input {list(input.sizes)}"
            )
