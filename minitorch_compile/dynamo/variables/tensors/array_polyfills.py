"""NumPy's functions in tensor operations, for arrays whose numbers only the graph has.

Each function has NumPy's parameters, as far as they are followed, and is traced in place of NumPy's. Of dtypes it knows
nothing: `graph_arrays.py` converts what comes in and what goes out, as NumPy itself says.

>>> from minitorch_compile.tensor import ones
>>> total(ones(2, 3), axis=1), split_axis(ones(2, 3), (1, 0)).shape
(tensor([3., 3.]), torch.Size([3, 2]))
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from minitorch_compile.tensor import ops

Tensor = Any


class Operands(Enum):
    """In which dtype the arrays among the arguments are computed with."""

    OF_RESULT = "that of the result"
    COMMON = "the one that holds all of them: what is compared, and gives truth"
    OWN = "their own"


def total(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return a.sum() if axis is None and not keepdims else a.sum(_every(a, axis), keepdims)


def mean(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return a.mean() if axis is None and not keepdims else a.mean(_every(a, axis), keepdims)


def product(a: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    return a.prod() if axis is None else a.prod(axis, keepdims)


def standard_deviation(a: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    return ops.std(a, _every(a, axis), correction=ddof, keepdim=keepdims)


def variance(a: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    return ops.var(a, _every(a, axis), correction=ddof, keepdim=keepdims)


def greatest(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return ops.amax(a, _every(a, axis), keepdims)


def least(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return ops.amin(a, _every(a, axis), keepdims)


def _every(a: Tensor, axis: Any) -> Any:
    return tuple(range(a.dim())) if axis is None else axis


def any_of(a: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    return a.any() if axis is None else a.any(axis, keepdims)


def all_of(a: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    return a.all() if axis is None else a.all(axis, keepdims)


def place_of_greatest(a: Tensor, axis: int | None = None) -> Tensor:
    return a.argmax() if axis is None else a.argmax(axis)


def place_of_least(a: Tensor, axis: int | None = None) -> Tensor:
    return a.argmin() if axis is None else a.argmin(axis)


def cumulative_sum(a: Tensor, axis: int | None = None) -> Tensor:
    return a.reshape(-1).cumsum(0) if axis is None else a.cumsum(axis)


def cumulative_product(a: Tensor, axis: int | None = None) -> Tensor:
    return a.reshape(-1).cumprod(0) if axis is None else a.cumprod(axis)


def sorted_along(a: Tensor, axis: int | None = -1) -> Tensor:
    return a.reshape(-1).sort().values if axis is None else a.sort(axis).values


def order_along(a: Tensor, axis: int | None = -1) -> Tensor:
    return a.reshape(-1).argsort() if axis is None else a.argsort(axis)


def reshape(a: Tensor, shape: Any) -> Tensor:
    return a.reshape(shape)


def split_axis(a: Tensor, axes: Any = None) -> Tensor:
    return a.permute(tuple(range(a.dim()))[::-1] if axes is None else axes)


def swap_axes(a: Tensor, axis1: int, axis2: int) -> Tensor:
    return a.transpose(axis1, axis2)


def ravel(a: Tensor) -> Tensor:
    return a.reshape(-1)


def flatten(a: Tensor) -> Tensor:
    return a.reshape(-1).clone()


def squeeze(a: Tensor, axis: Any = None) -> Tensor:
    return a.squeeze() if axis is None else a.squeeze(axis)


def expand_dims(a: Tensor, axis: int) -> Tensor:
    return a.unsqueeze(axis)


def broadcast_to(array: Tensor, shape: Any) -> Tensor:
    return array.expand(shape)


def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    return ops.cat([a.reshape(-1) for a in arrays] if axis is None else arrays, 0 if axis is None else axis)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    return ops.stack(arrays, axis)


def vstack(tup: Any) -> Tensor:
    return ops.vstack(tup)


def hstack(tup: Any) -> Tensor:
    return ops.hstack(tup)


def roll(a: Tensor, shift: Any, axis: Any = None) -> Tensor:
    return a.roll(shift) if axis is None else a.roll(shift, axis)


def tile(A: Tensor, reps: Any) -> Tensor:
    return A.tile(reps)


def lower_triangle(m: Tensor, k: int = 0) -> Tensor:
    return m.tril(k)


def upper_triangle(m: Tensor, k: int = 0) -> Tensor:
    return m.triu(k)


def clip(a: Tensor, a_min: Any = None, a_max: Any = None) -> Tensor:
    return a.clamp(a_min, a_max)


def choose(condition: Tensor, x: Any, y: Any) -> Tensor:
    return ops.where(condition, x, y)


def maximum(a: Any, b: Any) -> Tensor:
    if isinstance(b, (int, float)):
        return a.clamp(min=b)
    return b.clamp(min=a) if isinstance(a, (int, float)) else ops.maximum(a, b)


def minimum(a: Any, b: Any) -> Tensor:
    if isinstance(b, (int, float)):
        return a.clamp(max=b)
    return b.clamp(max=a) if isinstance(a, (int, float)) else ops.minimum(a, b)


def dot(a: Tensor, b: Tensor) -> Tensor:
    return a @ b


def matmul(a: Tensor, b: Tensor) -> Tensor:
    return a @ b


def outer(a: Tensor, b: Tensor) -> Tensor:
    return a.reshape(-1).outer(b.reshape(-1))


def einsum(subscripts: str, *operands: Tensor) -> Tensor:
    return ops.einsum(subscripts, *operands)


def norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    return ops.linalg_norm(x, ord, axis, keepdims)


def copy(a: Tensor) -> Tensor:
    return a.clone()


def rounded(a: Tensor, decimals: int = 0) -> Tensor:
    return a.round(decimals=decimals) if decimals else a.round()


def same(a: Tensor) -> Tensor:
    return a


def zeros_like(a: Tensor) -> Tensor:
    return ops.zeros_like(a)


def ones_like(a: Tensor) -> Tensor:
    return ops.ones_like(a)


def get_item(a: Tensor, index: Any) -> Tensor:
    return a[index]


def divide(a: Tensor, b: Tensor) -> Tensor:
    return a / b


Row = tuple[Callable[..., Any], Operands]
OF_RESULT, COMMON, OWN = Operands.OF_RESULT, Operands.COMMON, Operands.OWN


def _elementwise(names: str, operands: Operands) -> dict[Any, Row]:
    """Functions that both libraries have; `numpy:torch` where the names differ."""
    pairs = [(name.split(":") * 2)[:2] for name in names.split()]
    return {getattr(np, of_numpy): (ops.table[of_torch], operands) for of_numpy, of_torch in pairs}


POLYFILLS: dict[Any, Row] = {
    **_elementwise(
        "sin cos tan arcsin:asin arccos:acos arctan:atan sinh cosh tanh arcsinh:asinh arccosh:acosh arctanh:atanh"
        " exp exp2 expm1 log log2 log10 log1p sqrt square reciprocal deg2rad rad2deg arctan2:atan2 hypot"
        " absolute:abs negative:neg sign ceil floor rint:round trunc"
        " add subtract:sub multiply:mul power:pow fmax fmin bitwise_and bitwise_or bitwise_xor",
        OF_RESULT,
    ),
    **_elementwise(
        "equal:eq not_equal:ne less:lt less_equal:le greater:gt greater_equal:ge"
        " logical_and logical_or logical_xor logical_not isnan isinf isfinite",
        COMMON,
    ),
    np.maximum: (maximum, OF_RESULT),
    np.minimum: (minimum, OF_RESULT),
    np.divide: (divide, OF_RESULT),
    np.positive: (copy, OF_RESULT),
    **dict.fromkeys((np.round, np.around), (rounded, OF_RESULT)),
    np.sum: (total, OF_RESULT),
    np.mean: (mean, OF_RESULT),
    np.prod: (product, OF_RESULT),
    np.std: (standard_deviation, OF_RESULT),
    np.var: (variance, OF_RESULT),
    np.cumsum: (cumulative_sum, OF_RESULT),
    np.cumprod: (cumulative_product, OF_RESULT),
    np.clip: (clip, OF_RESULT),
    np.concatenate: (concatenate, OF_RESULT),
    np.stack: (stack, OF_RESULT),
    np.vstack: (vstack, OF_RESULT),
    np.hstack: (hstack, OF_RESULT),
    np.dot: (dot, OF_RESULT),
    np.matmul: (matmul, OF_RESULT),
    np.outer: (outer, OF_RESULT),
    np.einsum: (einsum, OF_RESULT),
    np.linalg.norm: (norm, OF_RESULT),
    np.where: (choose, OWN),
    **dict.fromkeys((np.max, np.amax), (greatest, OWN)),
    **dict.fromkeys((np.min, np.amin), (least, OWN)),
    np.any: (any_of, OWN),
    np.all: (all_of, OWN),
    np.argmax: (place_of_greatest, OWN),
    np.argmin: (place_of_least, OWN),
    np.sort: (sorted_along, OWN),
    np.argsort: (order_along, OWN),
    np.reshape: (reshape, OWN),
    np.transpose: (split_axis, OWN),
    np.swapaxes: (swap_axes, OWN),
    np.ravel: (ravel, OWN),
    np.squeeze: (squeeze, OWN),
    np.expand_dims: (expand_dims, OWN),
    np.broadcast_to: (broadcast_to, OWN),
    np.roll: (roll, OWN),
    np.tile: (tile, OWN),
    np.tril: (lower_triangle, OWN),
    np.triu: (upper_triangle, OWN),
    np.zeros_like: (zeros_like, OWN),
    np.ones_like: (ones_like, OWN),
    np.copy: (copy, OWN),
    **dict.fromkeys((np.array,), (copy, OWN)),
    **dict.fromkeys((np.asarray, np.ascontiguousarray, np.asanyarray), (same, OWN)),
}


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    places = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        places[0], places[1] = 1, 0
    grids = [np.reshape(x, [-1 if axis == place else 1 for axis in range(len(xi))]) for x, place in zip(xi, places)]
    if not sparse:
        shape = [1] * len(xi)
        for grid, place in zip(grids, places):
            shape[place] = grid.shape[place]
        grids = [np.broadcast_to(grid, tuple(shape)) for grid in grids]
    return tuple([np.copy(grid) for grid in grids]) if copy else tuple(grids)


def _shifted(x: Any, axes: Any, back: bool) -> Any:
    along = range(x.ndim) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
    shifts = [-(x.shape[axis] // 2) if back else x.shape[axis] // 2 for axis in along]
    return np.roll(x, tuple(shifts), tuple(along))


def fftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(x, axes, False)


def ifftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(x, axes, True)


# Functions of arrays that are written in other functions of arrays.
WRITTEN_OUT: dict[Any, Callable[..., Any]] = {
    np.meshgrid: meshgrid,
    np.fft.fftshift: fftshift,
    np.fft.ifftshift: ifftshift,
}

# Of these, tensors take no number as an operand.
OF_TENSORS_ONLY = frozenset((np.fmax, np.fmin, np.arctan2, np.hypot, np.logical_and, np.logical_or, np.logical_xor))

# Methods that are NumPy's functions of the array, and those that take a tuple as arguments, too.
METHODS = frozenset(
    [
        "sum",
        "mean",
        "prod",
        "std",
        "var",
        "cumsum",
        "cumprod",
        "clip",
        "dot",
        "max",
        "min",
        "any",
        "all",
        "argmax",
        "argmin",
        "reshape",
        "transpose",
        "swapaxes",
        "ravel",
        "squeeze",
        "copy",
        "round",
    ]
)
LISTING_METHODS = frozenset(("reshape", "transpose"))
