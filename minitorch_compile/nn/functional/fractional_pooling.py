"""Maxima of windows whose places are drawn: a layer that shrinks an image by a factor that is no whole number.

Source: Graham, Fractional Max-Pooling, 2014.

>>> from minitorch_compile import arange, zeros
>>> x = arange(16.0).view(1, 1, 4, 4)
>>> fractional_max_pool2d(x, 2, 2, _random_samples=zeros(1, 1, 2))
tensor([[[[ 5.,  7.],
          [13., 15.]]]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.nn.tuples import _ntuple
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.numerics.dtype import int64


@functional()
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The maxima of `output_size` windows of (N, C, H, W) or (C, H, W), or of `output_ratio` times as many as there are
    places; with theirs if `return_indices`. `_random_samples`: (N, C, 2) numbers in [0, 1), drawn if not given.

    ValueError unless one of output_size and output_ratio is given.
    """
    found = _pooled("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


@functional()
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """As fractional_max_pool2d, of (N, C, D, H, W) or (C, D, H, W); `_random_samples` is (N, C, 3)."""
    found = _pooled("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def _pooled(
    name: str, ndim: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> tuple[Any, Any]:
    """(maxima, their places in a flattened image)."""
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if input.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(f"{name}: expected {ndim + 1}D or {ndim + 2}D tensor, but got sizes {list(input.shape)}")
    if samples is not None and samples.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}: Expect _random_samples to have the same dtype as input, got {samples.dtype} and {input.dtype}"
        )
    batched = input if input.ndim == ndim + 2 else input.unsqueeze(0)
    sizes, kernel = tuple(batched.shape[2:]), _ntuple(ndim)(kernel_size)
    outputs = _output_sizes(ndim, sizes, output_size, output_ratio)
    for size, window, count in zip(sizes, kernel, outputs, strict=True):
        if count + window - 1 > size:
            raise RuntimeError(f"{name}: {count} windows of {window} don't fit into the input's size {size}")
    draws = ops.rand((*batched.shape[:2], ndim), dtype=input.dtype, device=input.device) if samples is None else samples
    places = _places(sizes, kernel, outputs, draws, reversed_draws=ndim == 2)
    flat = batched.reshape((*batched.shape[:2], -1)).gather(-1, places.flatten(2))
    values, best = ops.max(flat.reshape(places.shape), -1)
    where = places.gather(-1, best.unsqueeze(-1)).squeeze(-1)
    return (values, where) if batched is input else (values.squeeze(0), where.squeeze(0))


def _output_sizes(ndim: int, sizes: Sequence[int], output_size: Any, output_ratio: Any) -> tuple[int, ...]:
    if output_size is not None:
        return _ntuple(ndim)(output_size)
    ratios = _ntuple(ndim)(output_ratio)
    if not all(0 < ratio < 1 for ratio in ratios):
        raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
    return tuple(int(size * ratio) for size, ratio in zip(sizes, ratios, strict=True))


def _places(
    sizes: Sequence[int], kernel: Sequence[int], outputs: Sequence[int], draws: Any, reversed_draws: bool
) -> Any:
    """(N, C, *outputs, elements of a window): places in the flattened image."""
    ndim = len(sizes)
    flat: Any = 0
    for d, (size, window, count) in enumerate(zip(sizes, kernel, outputs, strict=True)):
        draw = draws[
            ..., ndim - 1 - d if reversed_draws else d
        ]  # PyTorch's first draw is the width's in two dimensions
        along = _starts(size, window, count, draw).unsqueeze(-1) + ops.arange(window)  # (N, C, count, window)
        shape = [*along.shape[:2], *(1 for _ in range(2 * ndim))]
        shape[2 + d], shape[2 + ndim + d] = count, window
        flat = flat * size + along.reshape(shape)
    whole = (*draws.shape[:2], *outputs, *kernel)
    return flat.expand(whole).flatten(2 + ndim)


def _starts(size: int, window: int, count: int, draw: Any) -> Any:
    """Where the windows of one dimension begin: steps of a width that is no whole number, rounded down from a drawn
    offset; the last window ends where the image does."""
    last = ops.full((*draw.shape, 1), size - window, int64)
    if count == 1:
        return last
    step = (size - window) / (count - 1)
    steps = ops.arange(count - 1).to(draw.dtype)
    begun = ((steps + draw.unsqueeze(-1)) * step).to(int64) - (draw.unsqueeze(-1) * step).to(int64)
    return ops.cat([begun, last], -1)
