"""Reading and writing elements chosen by several index tensors together: what x[i, j] means.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1, 2, 3], [4, 5, 6]])
>>> index(x, (None, tensor([0, 2]))), index_put(x, (tensor([0, 1]), tensor([0, 2])), tensor(9))
(tensor([[1, 3],
        [4, 6]]), tensor([[9, 2, 3],
        [4, 5, 9]]))
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.memory.elementwise_strides import elementwise_strides
from minitorch_compile.tensor.memory.memory_format import preserved_strides
from minitorch_compile.tensor.memory.strides import broadcast_sizes, contiguous_strides, expand_strides
from minitorch_compile.tensor.memory.viewing import view_strides
from minitorch_compile.tensor.numerics.dtype import FLOATING, int32, int64
from minitorch_compile.tensor.ops.accumulation import add_at
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


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


def _place_of_indices(shapes: Sequence[Sequence[int] | None]) -> int:
    """Before which of the kept dimensions the index dimensions stand: where the first index stood if all are adjacent,
    else in front."""
    used = [dim for dim, shape in enumerate(shapes) if shape is not None]
    return used[0] if used == list(range(used[0], used[-1] + 1)) else 0


def index_sizes(sizes: Sequence[int], shapes: Sequence[Sequence[int] | None]) -> Ints:
    """The sizes of input[indices], from the sizes of the input and of the indices."""
    given = [shape for shape in shapes if shape is not None]
    try:
        common = broadcast_sizes(*given)
    except RuntimeError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes"
            f" {', '.join(str(list(shape)) for shape in given)}"
        ) from None
    rest = [n for dim, n in enumerate(sizes) if dim >= len(shapes) or shapes[dim] is None]
    lead = _place_of_indices(shapes)
    return (*rest[:lead], *common, *rest[lead:])


def _index_strides(input: TensorBase, indices: Sequence[TensorBase | None], sizes: Ints) -> Ints:
    """The strides of input[indices]: those of a pointwise op on the kept dimensions of the input and on the indices."""
    if 0 not in sizes and all(x is None or x.strides == contiguous_strides(x.sizes) for x in (input, *indices)):
        return contiguous_strides(sizes)  # the frequent case, where no operand asks for another order
    lead = _place_of_indices([None if i is None else i.sizes for i in indices])
    kept = [s for dim, s in enumerate(input.strides) if dim >= len(indices) or indices[dim] is None]
    common = sizes[lead : len(sizes) - len(kept) + lead]
    operands = [(sizes, (*kept[:lead], *[0] * len(common), *kept[lead:]))]
    for i in indices:
        if i is not None:
            own = expand_strides(i.sizes, i.strides, common)
            shape = (*[1] * lead, *common, *[1] * (len(kept) - lead))
            operands.append((shape, view_strides(common, own, shape) or contiguous_strides(shape)))
    return elementwise_strides(sizes, operands)


@index.shape_rule
def _index_rule(input: TensorBase, indices: Sequence[TensorBase | None]) -> TensorBase:
    _check_indices("index", input, indices)
    sizes = index_sizes(input.sizes, [None if i is None else i.sizes for i in indices])
    return empty_fake(sizes, _index_strides(input, indices, sizes), input.dtype)


def _check_indices(name: str, input: TensorBase, indices: Sequence[TensorBase | None]) -> None:
    if len(indices) > len(input.sizes):
        raise IndexError(f"too many indices for tensor of dimension {len(input.sizes)}: got {len(indices)}")
    if all(i is None for i in indices):
        raise RuntimeError(f"{name}: expected at least one index tensor, got only None")
    for i in indices:
        if i is not None and (i.dtype.category >= FLOATING or i.dtype not in (int64, int32)):
            raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {i.dtype}")


@kernel_op("indexing", methods=True, inplace=True, torch=False)
def index_put(input: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """`input` with input[indices] = values, or += if `accumulate`; values broadcast."""
    result = input.copy(order="K")
    key = _index_key(input, indices)
    if accumulate:
        add_at(result, tuple(indices), values)
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
    return empty_fake(input.sizes, preserved_strides(tuple(input.sizes), input.strides), input.dtype)


@kernel_op("indexing", torch=False)
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
    if input.dtype not in (int64, int32):
        raise RuntimeError(
            f"embedding: Expected tensor for argument 'input' to have dtype Long or Int; but got {input.dtype} instead"
        )
    if len(weight.sizes) != 2:
        raise RuntimeError(f"embedding: 'weight' must be 2-D, got sizes {list(weight.sizes)}")
    rows = weight.sizes[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(f"embedding: padding_idx must be within the {rows} rows of the table, got {padding_idx}")
    return empty_fake((*input.sizes, weight.sizes[1]), None, weight.dtype)
