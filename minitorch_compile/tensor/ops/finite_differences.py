"""The slope of sampled values, by differences of neighbours.

>>> from minitorch_compile.tensor import tensor
>>> gradient(tensor([1.0, 2.0, 4.0, 9.0])), gradient(tensor([1.0, 4.0, 9.0]), spacing=(tensor([1.0, 2.0, 3.0]),))
((tensor([1.0000, 1.5000, 3.5000, 5.0000]),), (tensor([3., 4., 5.]),))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.number_arguments import number
from minitorch_compile.tensor.dispatch.op import Scalar, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, get_default_dtype, uint8
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.view import slice
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
    dims = [wrap_dim(d, ndim) for d in ([dim] if isinstance(dim, int) else dim)]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return dims


def _spacings(spacing: Any, count: int) -> list[Any]:
    """For each dimension a number, or the coordinates of its points."""
    if isinstance(spacing, TensorBase):
        return [number(spacing, "gradient", "spacing")] * count
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
    if isinstance(spacing, TensorBase):
        parts = _between_coordinates(x, dim, _widths(x, dim, spacing), edge_order)
    else:
        parts = _between_neighbours(x, dim, edge_order, spacing)
    return cat(parts, dim)


def _between_neighbours(x: Any, dim: int, edge_order: int, width: Any) -> list[Any]:
    """The slopes at the first point, inside and at the last, for equal distances.

    Inside, a point itself has no part in its slope, even if it is infinite.
    """
    n = x.sizes[dim]
    inner = (slice(x, dim, 2) - slice(x, dim, 0, n - 2)) / (2 * width)
    (a, b), (y, z) = (_points(x, dim, start, 2) for start in (0, n - 2))
    if edge_order == 1:
        return [(b - a) / width, inner, (z - y) / width]
    c, w = _points(x, dim, 2, 1)[0], _points(x, dim, n - 3, 1)[0]
    return [(-1.5 * a + 2 * b - 0.5 * c) / width, inner, (0.5 * w - 2 * y + 1.5 * z) / width]


def _between_coordinates(x: Any, dim: int, widths: Any, edge_order: int) -> list[Any]:
    """The same by the parabola through three points, `left` and `right` of the middle one."""
    n = x.sizes[dim]
    left, right = slice(widths, dim, 0, n - 2), slice(widths, dim, 1)
    both = left + right
    inner = _weighted(x, dim, 0, -right / (left * both), (right - left) / (left * right), left / (right * both))
    if edge_order == 1:
        steps = [(b - a) for a, b in (_points(x, dim, start, 2) for start in (0, n - 2))]
        return [steps[0] / slice(widths, dim, 0, 1), inner, steps[1] / slice(widths, dim, n - 2)]
    (left, right), (before, after) = (_points(widths, dim, start, 2) for start in (0, n - 3))
    both, around = left + right, before + after
    outer, middle = -(left + both) / (left * both), both / (left * right)
    first = _weighted(x, dim, 0, outer, middle, -left / (right * both))
    outer, middle = (around + after) / (after * around), -around / (before * after)
    return [first, inner, _weighted(x, dim, n - 3, after / (before * around), middle, outer)]


def _points(x: Any, dim: int, start: int, count: int) -> list[Any]:
    """So many neighbours, one by one."""
    return [slice(x, dim, place, place + 1) for place in range(start, start + count)]


def _weighted(x: Any, dim: int, start: int, *weights: Any) -> Any:
    """The sum of neighbours from `start` on, each times its weights."""
    count = weights[0].sizes[dim]
    terms = [slice(x, dim, start + k, start + k + count) * weight for k, weight in enumerate(weights)]
    return terms[0] + terms[1] + terms[2]


def _widths(x: Any, dim: int, coordinates: Any) -> Any:
    """The distances of neighbours, along `dim` of a tensor that broadcasts with x."""
    if len(coordinates.sizes) != 1 or coordinates.sizes[0] != x.sizes[dim]:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, with a coordinate for each of the"
            f" {x.sizes[dim]} points, but got sizes {list(coordinates.sizes)}"
        )
    shape = [-1 if d == dim else 1 for d in range(len(x.sizes))]
    return (slice(coordinates, 0, 1) - slice(coordinates, 0, 0, -1)).reshape(shape)
