"""How many floating-point operations a call takes: for matrix products, convolutions, additions and multiplications.

>>> from minitorch_compile import ones, ops
>>> flops_of("mm", (ones(2, 3), ones(3, 4))), flops_of("add", (ones(2, 3), 1)), flops_of("exp", (ones(2),))
(48, 6, 0)

Source: `computeFlops` of PyTorch's profiler, which counts the same operations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.tensor_base import TensorBase


def flops_of(name: str, args: Sequence[Any]) -> int:
    """The number for a call of the op of this name; 0 for one that isn't counted."""
    sizes = [tuple(x.sizes) for x in args if isinstance(x, TensorBase)]
    if name in ("mm", "bmm") and len(sizes) >= 2:
        return 2 * math.prod(sizes[0]) * sizes[1][-1]
    if name in ("addmm", "baddbmm") and len(sizes) >= 3:
        return 2 * math.prod(sizes[1]) * sizes[2][-1]
    if name in ("add", "mul") and sizes:
        return math.prod(sizes[0])
    if name.startswith("conv") and len(sizes) >= 2:
        return _of_convolution(sizes[0], sizes[1], args)
    return 0


def _of_convolution(image: tuple[int, ...], weight: tuple[int, ...], args: Sequence[Any]) -> int:
    """Of a convolution over two dimensions; what its arguments don't tell has its default."""
    numbers = [x for x in args[2:] if not isinstance(x, TensorBase) and x is not None]
    if len(image) != 4 or len(weight) != 4:
        return 0
    stride, padding, dilation = (_pair(numbers, place, default) for place, default in enumerate((1, 0, 1)))
    out = 1
    for size, kernel, step, border, spread in zip(image[2:], weight[2:], stride, padding, dilation):
        out *= (size + 2 * border - spread * (kernel - 1) - 1) // step + 1
    return 2 * image[0] * out * math.prod(weight)


def _pair(numbers: Sequence[Any], place: int, default: int) -> tuple[int, int]:
    given = numbers[place] if place < len(numbers) else default
    if isinstance(given, int):
        return given, given
    if isinstance(given, (list, tuple)) and given and all(isinstance(n, int) for n in given):
        return given[0], given[-1]
    return default, default
