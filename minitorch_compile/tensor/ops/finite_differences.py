"""The slope of sampled values, by differences of neighbours.

>>> from minitorch_compile.tensor import tensor
>>> gradient(tensor([1.0, 2.0, 4.0, 9.0])), gradient(tensor([1.0, 4.0, 9.0]), spacing=(tensor([1.0, 2.0, 3.0]),))
((tensor([1.0000, 1.5000, 3.5000, 5.0000]),), (tensor([3., 4., 5.]),))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.construct import tensor
from minitorch_compile.tensor.declare import composite
from minitorch_compile.tensor.dtype import FLOATING, bool_, get_default_dtype, uint8
from minitorch_compile.tensor.op import Scalar, Tensor
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.view import slice
from minitorch_compile.tensor.strides import wrap_dim
from minitorch_compile.tensor.tensor_base import TensorBase


@composite()
def gradient(
    input: Tensor,
    *,
    spacing: Scalar | Sequence[Any] = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Any, ...]:
    """The derivative along each dimension, or those in `dim`: inside by both neighbours, at the edges by one side.

    `spacing` is the distance of neighbours: one for all, or for each dimension a number or a tensor of coordinates.
    `edge_order` 2 takes three points at an edge. RuntimeError unless there are edge_order + 1 points.
    """
    if edge_order not in (1, 2):
        raise RuntimeError(f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}")
    if input.dtype in (uint8, bool_):
        raise RuntimeError(f"torch.gradient does not support {input.dtype} input; call .float()")
    dims = _dims(dim, len(input.sizes))
    x = input if input.dtype.category >= FLOATING else input.to(get_default_dtype())
    return tuple(
        _along(x, at, width, edge_order) for at, width in zip(dims, _spacings(spacing, len(dims)), strict=True)
    )


def _dims(dim: Any, ndim: int) -> list[int]:
    if dim is None:
        return list(range(ndim))
    return [wrap_dim(d, ndim) for d in ([dim] if isinstance(dim, int) else dim)]


def _spacings(spacing: Any, count: int) -> list[Any]:
    if not isinstance(spacing, list | tuple):
        return [spacing] * count
    if len(spacing) != count:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of as many entries as there are"
            f" dimensions, {count}, but got a list of length {len(spacing)}"
        )
    return list(spacing)


def _along(x: Any, dim: int, spacing: Any, edge_order: int) -> Any:
    n = x.sizes[dim]
    if n < edge_order + 1:
        raise RuntimeError(f"torch.gradient expected each dimension size to be at least edge_order+1, got {n}")
    widths = _widths(x, dim, spacing)
    steps = (slice(x, dim, 1) - slice(x, dim, 0, n - 1)) / widths
    left, right = slice(steps, dim, 0, n - 2), slice(steps, dim, 1)
    before, after = slice(widths, dim, 0, n - 2), slice(widths, dim, 1)
    inner = (left * after + right * before) / (before + after)
    first, last = slice(steps, dim, 0, 1), slice(steps, dim, n - 2)
    if edge_order == 2:
        first = first + (first - slice(steps, dim, 1, 2)) * _share(widths, dim, 0, 1)
        last = last + (last - slice(steps, dim, n - 3, n - 2)) * _share(widths, dim, n - 2, n - 3)
    return cat([first, inner, last], dim)


def _widths(x: Any, dim: int, spacing: Any) -> Any:
    """The distances of neighbours, along `dim` of a tensor that broadcasts with x."""
    shape = [-1 if d == dim else 1 for d in range(len(x.sizes))]
    if isinstance(spacing, TensorBase) and spacing.sizes:
        coordinates: Any = spacing
        return (slice(coordinates, 0, 1) - slice(coordinates, 0, 0, -1)).reshape(shape)
    width = tensor(float(spacing), dtype=x.dtype)
    return width.reshape([1] * len(shape)).expand([x.sizes[dim] - 1 if d == dim else 1 for d in range(len(shape))])


def _share(widths: Any, dim: int, edge: int, beside: int) -> Any:
    """How far the parabola through three points bends at the edge: the outer width's part of both."""
    outer, inner = slice(widths, dim, edge, edge + 1), slice(widths, dim, beside, beside + 1)
    return outer / (outer + inner)
