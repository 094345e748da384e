"""Borders made of the image itself, written where they belong: one copy, and one node of the tape.

The formula joins strips, one dimension after the other; its gradient takes as many copies again. Here a strip is a part
of the result that is a copy of another part; backward, what arrived at it is added there.

>>> parts_of("reflect", 4, 2, 1)
[(slice(0, 2, None), slice(4, 2, -1)), (slice(6, 7, None), slice(4, 3, -1))]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile import config
from minitorch_compile.autograd import Function, enable_grad, grad
from minitorch_compile.kernel_library.replaced import LEAST, arrays_of, recorded_composite
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

Array = np.ndarray
Around = list[tuple[int, int]]  # the borders before and after each dimension
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
WIDEST = {"reflect": -1, "replicate": math.inf, "circular": 0}  # how much wider than a dimension a border may be

FORMULA: Callable[..., Any] = ops.pad.kernel  # as it was before it got this short cut


def parts_of(mode: str, n: int, before: int, after: int) -> list[tuple[slice, slice]]:
    """Along a dimension of n elements: each border in the result, and what it is a copy of there."""
    end = before + n
    if mode == "reflect":
        stop = end - 2 - after
        sources = slice(2 * before, before, -1), slice(end - 2, stop if stop >= 0 else None, -1)
    elif mode == "replicate":
        sources = slice(before, before + 1), slice(end - 1, end)
    else:
        sources = slice(n, n + before), slice(before, before + after)
    targets = slice(0, before), slice(end, end + after)
    return [part for part, width in zip(zip(targets, sources), (before, after)) if width]


def strips_of(sizes: Sequence[int], around: Around, mode: str) -> tuple[tuple[slice, ...], list[Any]]:
    """Where the image lies in the result; and, in the order in which they are written, the dimension of each strip, its
    place, and that of what it is a copy of."""
    inner = tuple(slice(before, before + n) for n, (before, _) in zip(sizes, around, strict=True))
    strips = []
    for d, (before, after) in enumerate(around):
        for target, source in parts_of(mode, sizes[d], before, after):
            places = (((slice(None),) * d + (part,) + inner[d + 1 :]) for part in (target, source))
            strips.append((d, *places))
    return inner, strips


class Bordered(Function):
    """(image, its borders, mode) -> the image with them."""

    new_gradients = True

    @staticmethod
    def forward(ctx: Any, x: Any, around: Around, mode: str) -> Any:
        array, ctx.call = x.array, (tuple(x.sizes), around, mode)
        inner, strips = strips_of(array.shape, around, mode)
        out = np.empty([before + n + after for n, (before, after) in zip(array.shape, around)], array.dtype)
        out[inner] = array
        for _, target, source in strips:
            out[target] = out[source]
        return wrap(out)

    @staticmethod
    def backward(ctx: Any, upper: Any) -> tuple[Any, None, None]:
        sizes, around, mode = ctx.call
        arrays = None if grad_state.enabled else arrays_of(upper)
        if arrays is None:
            return _by_formula(sizes, around, mode, upper), None, None
        total = np.array(arrays[0])
        inner, strips = strips_of(sizes, around, mode)
        for d, target, source in reversed(strips):
            arrived = total[target]
            total[source] += arrived.sum(d, keepdims=True) if mode == "replicate" else arrived
        return wrap(np.ascontiguousarray(total[inner])), None, None


def _by_formula(sizes: tuple[int, ...], around: Around, mode: str, upper: Any) -> Any:
    """The gradient by the formula, recorded if that is asked for. It is the same for all images."""
    again, x = grad_state.enabled, ops.zeros(sizes, dtype=upper.dtype).requires_grad_()
    with enable_grad():
        return grad(FORMULA(x, _as_given(around), mode), x, upper, create_graph=again)[0]


def _as_given(around: Around) -> list[int]:
    """The borders as `pad` takes them: the last dimension first, those of images alone."""
    return [n for pair in reversed(around[-min(len(around) - 1, 3) :]) for n in pair]


@recorded_composite(ops.pad)
def _(input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Any:
    if mode not in WIDEST or value or config.eager_kernels == "off" or not isinstance(input, TensorBase):
        return None
    sizes, width = input.sizes, len(pad)
    if math.prod(sizes) < LEAST or width not in (2, 4, 6) or len(sizes) - width // 2 not in (1, 2):
        return None
    pairs = [(pad[i], pad[i + 1]) for i in range(0, width, 2)]
    around: Around = [(0, 0)] * (len(sizes) - len(pairs)) + pairs[::-1]
    for n, pair in zip(sizes, around, strict=True):
        if any(type(border) is not int or not 0 <= border <= n + WIDEST[mode] for border in pair):
            return None
    arrays = arrays_of(input) if any(pad) else None
    if arrays is None or arrays[0].dtype not in FLOATS or not arrays[0].flags.c_contiguous:
        return None
    return Bordered.apply(input, around, mode)
