"""Reading and writing along one dimension, at places that an index tensor of the same number of dimensions names.

>>> from minitorch_compile.tensor import tensor, zeros
>>> x = tensor([[1, 2, 3], [4, 5, 6]])
>>> gather(x, 1, tensor([[2], [0]]))
tensor([[3],
        [4]])
>>> scatter(zeros(3), 0, tensor([0, 2]), tensor([7.0, 8.0])), scatter(zeros(3), 0, tensor([1]), 5)
(tensor([7., 0., 8.]), tensor([0., 5., 0.]))
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from minitorch_compile.symbolic import expect_at_most
from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.dtype import FLOATING, int32, int64
from minitorch_compile.tensor.ops.accumulation import add_elements, add_rows
from minitorch_compile.tensor.ops.creation import full
from minitorch_compile.tensor.ops.creation_like import ones_like
from minitorch_compile.tensor.ops.pointwise import div, floor_divide, maximum, remainder
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import expand
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@kernel_op("indexing", methods=True)
def gather(input: Array, dim: int, index: Array, sparse_grad: bool = False) -> Array:
    """out[i][j] = input[i][index[i][j]] for `dim` = 1, and likewise for others. The result has the sizes of `index`, of
    int64, which has as many dimensions as the input. `sparse_grad`: whether the gradient is a sparse tensor.
    RuntimeError for an index that isn't there.

    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    if index.size == 0:
        return np.empty(index.shape, input.dtype)
    rows, places = (input, index) if input.ndim and index.ndim else np.atleast_1d(input, index)
    return rows[_along(rows, dim, places)].reshape(index.shape)


def _along(input: Array, dim: int, index: Array) -> tuple[Array, ...]:
    """Index arrays that name, for each element of `index`, the element of `input` it stands for."""
    at = wrap_dim(dim, input.ndim)
    n = input.shape[at]
    if index.size and (index.min() < 0 or index.max() >= n):
        raise RuntimeError(
            f"index out of bounds for dimension {at} with size {n}: the index tensor holds values in [{index.min()},"
            f" {index.max()}]"
        )
    last = index.ndim - 1
    return tuple(  # np.ogrid would do, and take longer than a small gather itself
        index if d == at else np.arange(size).reshape(-1, *(1,) * (last - d)) for d, size in enumerate(index.shape)
    )


@gather.shape_rule
def _gather_rule(input: TensorBase, dim: int, index: TensorBase, sparse_grad: bool = False) -> TensorBase:
    _check_along("gather", input, dim, index)
    return empty_fake(index.sizes, None, input.dtype)


def _check_along(name: str, input: TensorBase, dim: int, index: TensorBase) -> None:
    at = wrap_dim(dim, len(input.sizes))
    if not isinstance(index, TensorBase) or index.dtype not in (int64, int32):
        raise RuntimeError(
            f"{name}(): Expected dtype int64 for index, got {getattr(index, 'dtype', type(index).__name__)}"
        )
    if 0 in index.sizes:
        return
    if max(len(index.sizes), 1) != max(len(input.sizes), 1):
        raise RuntimeError(
            f"{name}: Index tensor must have the same number of dimensions as input tensor: {list(index.sizes)},"
            f" {list(input.sizes)}"
        )
    if any(i > n for d, (i, n) in enumerate(zip(index.sizes, input.sizes, strict=False)) if d != at):
        raise RuntimeError(
            f"{name}: Size does not match: index {list(index.sizes)} is larger than input {list(input.sizes)} apart"
            f" from dimension {at}"
        )


def _check_source(name: str, input: TensorBase, dim: int, index: TensorBase, src: TensorBase) -> TensorBase:
    """The rule of all that write: src as large as index, in the dtype of input."""
    _check_along(name, input, dim, index)
    if not isinstance(src, TensorBase):
        raise TypeError(f"{name}(): argument 'src' must be Tensor, not {type(src).__name__}")
    if src.dtype is not input.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype, got {input.dtype} and {src.dtype}")
    if 0 not in index.sizes and not all(map(expect_at_most, index.sizes or (1,), src.sizes or (1,))):
        raise RuntimeError(
            f"{name}: src must have at least the sizes of index {list(index.sizes)}, got {list(src.sizes)}"
        )
    return empty_fake(input.sizes, None, input.dtype)


def _covered(src: Array, index: Array) -> Array:
    """The part of `src` that the index speaks of."""
    return src[tuple(builtins.slice(0, n) for n in index.shape)]


@kernel_op("indexing", methods=True, inplace=True)
def scatter_add(input: Array, dim: int, index: Array, src: Array) -> Array:
    """`input` with src[i][j] added at input[i][index[i][j]] for `dim` = 1; several may land on one element. `index`:
    int64, with as many dimensions as the input; `src` is at least as large. RuntimeError for an index that isn't there.

    >>> torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([3., 0., 3.])
    """
    result = input.copy(order="C")
    if index.size == 0:
        return result
    if input.ndim == 0:
        _along(result.reshape(1), 0, np.atleast_1d(index))
        return result + src.sum(dtype=src.dtype)
    index, src = np.atleast_1d(index, src)
    places, values = _along(result, dim, index), _covered(src, index)
    at = wrap_dim(dim, input.ndim)
    if at == 0 and input.ndim > 1 and not any(index.strides[1:]) and index.shape[1:] == input.shape[1:]:
        add_rows(result, index.reshape(index.shape[0], -1)[:, 0], values)  # whole rows, as graph networks do
    else:
        add_elements(result, places, values)
    return result


@scatter_add.shape_rule
def _scatter_add_rule(input: TensorBase, dim: int, index: TensorBase, src: TensorBase) -> TensorBase:
    return _check_source("scatter_add", input, dim, index, src)


@kernel_op("indexing", torch=False)
def scatter_src(input: Array, dim: int, index: Array, src: Array) -> Array:
    """`input` with src[i][j] stored at input[i][index[i][j]] for dim = 1; of several for one element any may win."""
    result = input.copy(order="C")
    if index.size == 0:
        return result
    if input.ndim == 0:
        _along(result.reshape(1), 0, np.atleast_1d(index))
        return src.reshape(-1)[0].copy()
    index, src = np.atleast_1d(index, src)
    result[_along(result, dim, index)] = _covered(src, index)
    return result


@scatter_src.shape_rule
def _scatter_src_rule(input: TensorBase, dim: int, index: TensorBase, src: TensorBase) -> TensorBase:
    return _check_source("scatter", input, dim, index, src)


@kernel_op("indexing", torch=False)
def scatter_combine(input: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool) -> Array:
    """scatter_reduce for reduce = "prod", "amax", "amin"."""
    combine: Any = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[reduce]
    result = input.copy(order="C")
    if index.size == 0:
        return result
    index, src = np.atleast_1d(index, src)
    flat = result.reshape(1) if input.ndim == 0 else result
    places = _along(flat, dim, index)
    if not include_self:
        flat[places] = neutral_element(reduce, input.dtype)
    one_by_one = np.ravel_multi_index(places, flat.shape).reshape(-1)  # NumPy is quick only at flat places
    combine.at(flat.reshape(-1), one_by_one, _covered(src, index).reshape(-1))
    return result


def neutral_element(reduce: str, element: np.dtype) -> Any:
    """The number that changes nothing when it is multiplied, or when the largest or smallest is taken."""
    if reduce == "prod":
        return 1
    if element.kind == "b":
        return reduce == "amin"
    if element.kind in "iu":
        limits = np.iinfo(element)
        return limits.min if reduce == "amax" else limits.max
    return -np.inf if reduce == "amax" else np.inf


@scatter_combine.shape_rule
def _scatter_combine_rule(
    input: TensorBase, dim: int, index: TensorBase, src: TensorBase, reduce: str, include_self: bool
) -> TensorBase:
    if reduce in ("amax", "amin"):
        complex_support.refuse_complex("scatter_reduce", input.dtype)
    return _check_source("scatter_reduce", input, dim, index, src)


# ----------------------------------------------------------------------------------------- written in the ops above


@composite(methods=True, inplace=True)
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | Scalar | None = None,
    reduce: str | None = None,
    *,
    value: Scalar | None = None,
) -> Any:
    """`input` with src[i][j], or one value, stored at input[i][index[i][j]] for `dim` = 1, and likewise for others.

    `index`: int64, with as many dimensions as the input. `src`: a tensor at least as large as index; or, in its place
    or by name, `value`, a number. `reduce`="add" or "multiply" combines with what is there. RuntimeError for an index
    that isn't there.

    >>> torch.zeros(2, 3).scatter(1, torch.tensor([[2], [0]]), 1.0)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    source = value if src is None else src
    if source is None:
        raise TypeError("scatter() missing 1 required argument: 'src' or 'value'")
    if not isinstance(source, TensorBase):
        source = expand(full((), source, input.dtype), tuple(index.sizes))
    if reduce is None:
        return scatter_src(input, dim, index, source)
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"scatter: reduce argument must be either add or multiply, got {reduce!r}")
    if reduce == "add":
        return scatter_add(input, dim, index, source)
    return scatter_combine(input, dim, index, source, "prod", True)


@composite(methods=True, inplace=True)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    """`input` combined with each src[i][j] at input[i][index[i][j]] for dim = 1, and likewise for others.

    `reduce`: "sum", "prod", "mean", "amax" or "amin". Without include_self, what was there before doesn't count.
    """
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in REDUCTIONS:
        raise RuntimeError(f"reduce argument must be one of {', '.join(REDUCTIONS)}, got {reduce!r}")
    if reduce not in ("sum", "mean"):
        return scatter_combine(input, dim, index, src, reduce, include_self)
    start = input if include_self else scatter(input, dim, index, 0)
    total = scatter_add(start, dim, index, src)
    if reduce == "sum":
        return total
    before = ones_like(input) if include_self else scatter(ones_like(input), dim, index, 0)
    count = maximum(scatter_add(before, dim, index, ones_like(src)), ones_like(input))
    return floor_divide(total, count) if input.dtype.category < FLOATING else div(total, count)


@composite(methods=True)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Any:
    """gather, in which the other dimensions of input and indices broadcast. Without `dim`, both are flattened."""
    if indices.dtype is not int64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype}")
    if dim is None:
        return gather(reshape(input, (-1,)), 0, reshape(indices, (-1,)))
    if len(input.sizes) != len(indices.sizes):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got"
            f" {len(input.sizes)} dimensions for input, and {len(indices.sizes)} dimensions for indices"
        )
    at = wrap_dim(dim, len(input.sizes))
    rest = broadcast_sizes(*(tuple(1 if d == at else n for d, n in enumerate(x.sizes)) for x in (input, indices)))
    whole = [tuple(x.sizes[at] if d == at else n for d, n in enumerate(rest)) for x in (input, indices)]
    return gather(expand(input, whole[0]), at, expand(remainder(indices, input.sizes[at]), whole[1]))
