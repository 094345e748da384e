"""Reading and writing elements chosen by other tensors.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1, 2, 3], [4, 5, 6]])
>>> gather(x, 1, tensor([[2], [0]])), index(x, (None, tensor([0, 2]))), x[:, 1:], x[x > 4]
(tensor([[3],
        [4]]), tensor([[1, 3],
        [4, 6]]), tensor([[2, 3],
        [5, 6]]), tensor([5, 6]))
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.declare import composite, kernel_op
from minitorch_compile.tensor.dtype import FLOATING, bool_
from minitorch_compile.tensor.op import Array, Scalar, Tensor
from minitorch_compile.tensor.op_families import check_storable
from minitorch_compile.tensor.ops.pointwise import where
from minitorch_compile.tensor.ops.view import select, slice, unsqueeze
from minitorch_compile.tensor.strides import broadcast_sizes, wrap_dim
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

# -------------------------------------------------------------------------------------------------- along one dimension


@kernel_op("indexing", methods=True)
def gather(input: Array, dim: int, index: Array) -> Array:
    """out[i][j] = input[i][index[i][j]] for dim = 1, and likewise for others. The result has the sizes of `index`."""
    if input.ndim == 0:
        return np.broadcast_to(input, index.shape).copy()
    return input[_along(input, dim, index)]


def _along(input: Array, dim: int, index: Array) -> tuple[Array, ...]:
    """Index arrays that name, for each element of `index`, the element of `input` it stands for."""
    at = wrap_dim(dim, input.ndim)
    n = input.shape[at]
    if index.size and (index.min() < 0 or index.max() >= n):
        raise RuntimeError(
            f"index out of bounds for dimension {at} with size {n}: the index tensor holds values in [{index.min()},"
            f" {index.max()}]"
        )
    grid = list(np.ogrid[tuple(builtins.slice(0, size) for size in index.shape)])
    grid[at] = index
    return tuple(grid)


@gather.shape_rule
def _gather_rule(input: TensorBase, dim: int, index: TensorBase) -> TensorBase:
    _check_along("gather", input, dim, index)
    return empty_fake(index.sizes, None, input.dtype)


def _check_along(name: str, input: TensorBase, dim: int, index: TensorBase) -> None:
    at = wrap_dim(dim, len(input.sizes))
    if not isinstance(index, TensorBase) or index.dtype.category >= FLOATING or index.dtype is bool_:
        raise RuntimeError(
            f"{name}(): Expected dtype int64 for index, got {getattr(index, 'dtype', type(index).__name__)}"
        )
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


@kernel_op("indexing", methods=True, inplace=True)
def scatter_add(input: Array, dim: int, index: Array, src: Array) -> Array:
    """`input` with src[i][j] added at input[i][index[i][j]] for dim = 1; several may land on one element."""
    result = input.copy()
    if input.ndim == 0:
        return result + src.sum(dtype=src.dtype)
    np.add.at(result, _along(input, dim, index), src[tuple(builtins.slice(0, n) for n in index.shape)])
    return result


@scatter_add.shape_rule
def _scatter_add_rule(input: TensorBase, dim: int, index: TensorBase, src: TensorBase) -> TensorBase:
    _check_along("scatter_add", input, dim, index)
    if any(i > n for i, n in zip(index.sizes, src.sizes, strict=False)) or src.dtype is not input.dtype:
        raise RuntimeError(
            f"scatter_add: src must have input's dtype {input.dtype} and at least the sizes of index"
            f" {list(index.sizes)}, got {src.dtype} and {list(src.sizes)}"
        )
    return empty_fake(input.sizes, None, input.dtype)


# --------------------------------------------------------------------------------------------------- by several tensors


@kernel_op("indexing", torch=False)
def index(input: Array, indices: Sequence[Array | None]) -> Array:
    """input[indices], where None stands for a whole dimension. Index tensors broadcast together (NumPy's advanced
    indexing)."""
    return np.ascontiguousarray(input[_index_key(input, indices)]).reshape(
        index_sizes(input.shape, [None if i is None else i.shape for i in indices])
    )


def _index_key(input: Array, indices: Sequence[Array | None]) -> tuple[Any, ...]:
    for dim, i in enumerate(indices):
        if i is not None and i.size and (i.max() >= input.shape[dim] or i.min() < -input.shape[dim]):
            raise IndexError(
                f"index {i.max() if i.max() >= input.shape[dim] else i.min()} is out of bounds for dimension {dim}"
                f" with size {input.shape[dim]}"
            )
    return tuple(builtins.slice(None) if i is None else i for i in indices)


def index_sizes(sizes: Sequence[int], shapes: Sequence[Sequence[int] | None]) -> tuple[int, ...]:
    """The sizes of input[indices]: the index dimensions stand where the first index stood if all are adjacent,
    else in front."""
    used = [dim for dim, shape in enumerate(shapes) if shape is not None]
    common = broadcast_sizes(*(shape for shape in shapes if shape is not None))
    rest = [n for dim, n in enumerate(sizes) if dim >= len(shapes) or shapes[dim] is None]
    adjacent = used == list(range(used[0], used[-1] + 1))
    lead = used[0] if adjacent else 0
    return (*rest[:lead], *common, *rest[lead:])


@index.shape_rule
def _index_rule(input: TensorBase, indices: Sequence[TensorBase | None]) -> TensorBase:
    _check_indices("index", input, indices)
    return empty_fake(index_sizes(input.sizes, [None if i is None else i.sizes for i in indices]), None, input.dtype)


def _check_indices(name: str, input: TensorBase, indices: Sequence[TensorBase | None]) -> None:
    if len(indices) > len(input.sizes):
        raise IndexError(f"too many indices for tensor of dimension {len(input.sizes)}: got {len(indices)}")
    if all(i is None for i in indices):
        raise RuntimeError(f"{name}: expected at least one index tensor, got only None")
    for i in indices:
        if i is not None and (i.dtype.category >= FLOATING or i.dtype is bool_):
            raise IndexError(f"{name}: tensors used as indices must be long, int or short here, got {i.dtype}")


@kernel_op("indexing", methods=True, inplace=True)
def index_put(input: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """`input` with input[indices] = values, or += if `accumulate`; values broadcast."""
    result = input.copy()
    key = _index_key(input, indices)
    if accumulate:
        np.add.at(result, key, values)
    else:
        result[key] = values
    return result


@index_put.shape_rule
def _index_put_rule(
    input: TensorBase, indices: Sequence[TensorBase | None], values: TensorBase, accumulate: bool = False
) -> TensorBase:
    _check_indices("index_put", input, indices)
    target = index_sizes(input.sizes, [None if i is None else i.sizes for i in indices])
    if broadcast_sizes(target, values.sizes) != target:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.sizes)} cannot be broadcast to indexing result of"
            f" shape {list(target)}"
        )
    if values.dtype is not input.dtype:
        raise RuntimeError(
            f"index_put: source and destination dtypes must match, got {input.dtype} for the destination and"
            f" {values.dtype} for the source"
        )
    return empty_fake(input.sizes, None, input.dtype)


@kernel_op("indexing", functional=True, torch=False)
def embedding(input: Array, weight: Array, padding_idx: int | None = None) -> Array:
    """weight[input]: a row of `weight` for each integer. IndexError for one that is out of range.

    The row `padding_idx` of the table gets no gradient.
    """
    if input.size and (input.min() < 0 or input.max() >= weight.shape[0]):
        raise IndexError(
            f"embedding: index out of range in self: {input.min()} to {input.max()} in a table of {weight.shape[0]}"
            " rows"
        )
    return weight[input]


@embedding.shape_rule
def _embedding_rule(input: TensorBase, weight: TensorBase, padding_idx: int | None = None) -> TensorBase:
    if input.dtype.category >= FLOATING or input.dtype is bool_:
        raise RuntimeError(
            f"embedding: Expected tensor for argument 'input' to have dtype Long or Int; but got {input.dtype} instead"
        )
    if len(weight.sizes) != 2:
        raise RuntimeError(f"embedding: 'weight' must be 2-D, got sizes {list(weight.sizes)}")
    rows = weight.sizes[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(f"embedding: padding_idx must be within the {rows} rows of the table, got {padding_idx}")
    return empty_fake((*input.sizes, weight.sizes[1]), None, weight.dtype)


@kernel_op("indexing", torch=False)
def nonzero(input: Array) -> Array:
    """The indices of the elements that are not 0, one row each. Its size depends on the data: it can't be traced."""
    return np.stack(np.nonzero(np.atleast_1d(input)), axis=1).reshape(-1, input.ndim)


nonzero.shape_depends_on_data = True


@nonzero.shape_rule
def _nonzero_rule(input: TensorBase) -> TensorBase:
    from minitorch_compile.tensor.tensor_base import FakeDataError

    if input.is_fake:
        raise FakeDataError(
            "nonzero: the size of the result depends on the data, which a fake tensor doesn't have;"
            " torch.where(mask, x, 0) keeps the sizes"
        )
    return input


# ------------------------------------------------------------------------------------------------ x[...] and x[...] = v


@composite(torch=False)
def getitem(input: Tensor, key: Any) -> Any:
    """input[key]: ints, slices, None and ... are views; lists, integer tensors and bool masks copy."""
    viewed, indices = _basic(input, key)
    return index(viewed, indices) if any(i is not None for i in indices) else viewed


def _basic(x: Any, key: Any) -> tuple[Any, list[Any]]:
    """The view that the basic part of the key asks for, and the index tensors to apply to its dimensions."""
    items = _expand_ellipsis(x, key if isinstance(key, tuple) else (key,))
    indices: list[Any] = []
    dim = 0
    for item in items:
        if item is None:
            x = unsqueeze(x, dim)
        elif isinstance(item, builtins.slice):
            if item != builtins.slice(None):
                x = slice(x, dim, item.start, item.stop, 1 if item.step is None else item.step)
        elif isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_)):
            x = select(x, dim, int(item))
            continue
        else:
            expanded = _index_tensors(x, dim, item)
            indices += [None] * (dim - len(indices)) + expanded
            dim += len(expanded)
            continue
        dim += 1
    return x, indices


def _dims_used(item: Any) -> int:
    if item is None:
        return 0
    return max(len(item.sizes), 1) if isinstance(item, TensorBase) and item.dtype is bool_ else 1


def _expand_ellipsis(x: TensorBase, items: tuple[Any, ...]) -> list[Any]:
    """The key with `...` written out as whole slices."""
    where_dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(where_dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(_dims_used(item) for item in items if item is not Ellipsis)
    if used > len(x.sizes):
        raise IndexError(f"too many indices for tensor of dimension {len(x.sizes)}: got {used}")
    if not where_dots:
        return list(items)
    at = where_dots[0]
    return [*items[:at], *[builtins.slice(None)] * (len(x.sizes) - used), *items[at + 1 :]]


def _index_tensors(x: TensorBase, dim: int, item: Any) -> list[Any]:
    """An index item as integer tensors: a bool mask becomes the places where it holds."""
    from minitorch_compile.tensor.construct import tensor

    index_tensor = item if isinstance(item, TensorBase) else tensor(item)
    if index_tensor.dtype is not bool_:
        return [index_tensor]
    if index_tensor.sizes != x.sizes[dim : dim + len(index_tensor.sizes)]:
        raise IndexError(
            f"The shape of the mask {list(index_tensor.sizes)} at index {dim} does not match the shape of the"
            f" indexed tensor {list(x.sizes)}"
        )
    return [select(nonzero(index_tensor), 1, d) for d in range(len(index_tensor.sizes))]


@composite(torch=False)
def setitem(input: Tensor, key: Any, value: Any) -> None:
    """input[key] = value, in place. A number or a tensor that expands to the chosen elements."""
    from minitorch_compile.tensor.construct import tensor
    from minitorch_compile.tensor.ops.copies import to

    viewed, indices = _basic(input, key)
    source = to(value, input.dtype) if isinstance(value, TensorBase) else tensor(value, dtype=input.dtype)
    if any(i is not None for i in indices):
        check_storable("index_put_", viewed, empty_fake(viewed.sizes, None, input.dtype))
        viewed.index_put_(indices, source)
    else:
        viewed.copy_(source)


@composite(methods=True)
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Scalar) -> Any:
    """`value` where the bool `mask` holds, else the input; the mask broadcasts to the input."""
    if mask.dtype is not bool_:
        raise RuntimeError(f"masked_fill: only supports boolean masks, but got mask with dtype {mask.dtype}")
    return where(mask, value, input)


@composite(methods=True)
def index_select(input: Tensor, dim: int, index: Tensor) -> Any:
    """The rows (along `dim`) that the one-dimensional `index` names."""
    at = wrap_dim(dim, len(input.sizes))
    return _index_op(input, [None] * at + [index])


_index_op = index


@kernel_op("indexing", methods=True)
def tril(input: Array, diagonal: int = 0) -> Array:
    """The lower triangle of matrices: elements on and below the diagonal, zeros above."""
    return np.tril(input, diagonal)


@kernel_op("indexing", methods=True)
def triu(input: Array, diagonal: int = 0) -> Array:
    """The upper triangle of matrices: elements on and above the diagonal, zeros below."""
    return np.triu(input, diagonal)


def _triangle_rule(input: TensorBase, diagonal: int = 0) -> TensorBase:
    if len(input.sizes) < 2:
        raise RuntimeError(f"tril/triu: input tensor must have at least 2 dimensions, got sizes {list(input.sizes)}")
    return empty_fake(input.sizes, None, input.dtype)


tril.shape_rule(_triangle_rule)
triu.shape_rule(_triangle_rule)
