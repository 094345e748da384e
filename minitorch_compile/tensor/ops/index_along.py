"""Whole slices of a dimension, chosen by a one-dimensional index: index_select, index_add, index_copy, index_fill; and
elements by their place in the flattened tensor: take, put.

>>> from minitorch_compile.tensor import ones, tensor, zeros
>>> index_add(zeros(3), 0, tensor([2, 0, 2]), tensor([1.0, 2.0, 3.0])), index_fill(ones(3), 0, tensor([1]), 7)
(tensor([2., 0., 4.]), tensor([1., 7., 1.]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.symbolic import expect_equal_sizes
from minitorch_compile.tensor.dispatch.argument_devices import MixedDevicesError
from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.dispatch.number_arguments import coefficient
from minitorch_compile.tensor.dispatch.op import Scalar, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import is_contiguous, numel
from minitorch_compile.tensor.numerics.dtype import int32, int64
from minitorch_compile.tensor.ops.copies import contiguous, copy, to
from minitorch_compile.tensor.ops.creation import full
from minitorch_compile.tensor.ops.gathering import scatter_reduce
from minitorch_compile.tensor.ops.indexing import index as index_op
from minitorch_compile.tensor.ops.indexing import index_put
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.pointwise import mul, where
from minitorch_compile.tensor.ops.reduction import amax, amin
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import expand
from minitorch_compile.tensor.tensor_base import TensorBase

READ_AT_ONCE = 1 << 14  # so many numbers of a device are read as quickly as two are found there


def _places(
    name: str, input: TensorBase, dim: int, index: TensorBase, outside: type[Exception] | None = IndexError
) -> list[Any]:
    """The index as `index` and `index_put` take it. Checks what PyTorch checks.

    `outside` is the error for an index that is negative or too large; without it negative ones count from the end.
    """
    at = wrap_dim(dim, len(input.sizes))
    if not isinstance(index, TensorBase):
        raise TypeError(f"{name}(): argument 'index' must be Tensor, not {type(index).__name__}")
    if len(index.sizes) > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, but got sizes {list(index.sizes)}")
    _check_device(name, input, index)
    if index.dtype not in (int64, int32):
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index, got {index.dtype}")
    if outside is not None:
        index = _from_the_front(name, index, input.sizes[at] if input.sizes else 1, at, outside)
    return [None] * at + [index if index.sizes else reshape(index, (1,))]


def _check_device(name: str, input: TensorBase, index: TensorBase) -> None:
    """MixedDevicesError for an index that isn't where the input is: only x[index] takes one from main memory."""
    on_device = index.storage.block is not None or input.storage.block is not None
    if on_device and index.device != input.device and not (input.is_fake or index.is_fake):
        raise MixedDevicesError(
            "Expected all tensors to be on the same device, but found at least two devices,"
            f" {input.device} and {index.device}! ({name}: move the index, as index.to('{input.device}'))"
        )


def extremes(x: Any) -> tuple[int, int]:
    """The least and the largest element; of many on a device, found there."""
    if x.storage.block is None or numel(x.sizes) <= READ_AT_ONCE:
        array = x.array
        return array.min(), array.max()
    least, most = cat([reshape(extreme(reshape(x, (-1,)), (0,)), (1,)) for extreme in (amin, amax)], 0).tolist()
    return least, most


def _from_the_front(name: str, index: Any, size: int, dim: int, outside: type[Exception]) -> Any:
    """The index, none of which is negative.

    Where the numbers are not known yet, negative ones become so small that they are refused when they are used.
    """
    if index.is_fake or index.is_example or stacks.modes:
        return where(index < 0, index - size, index)
    least, most = extremes(index) if numel(index.sizes) else (0, -1)
    if least < 0 or most >= size:
        wrong = least if least < 0 else most
        raise outside(f"{name}(): index {wrong} is out of bounds for dimension {dim} with size {size}")
    return index


def _at_least_vector(x: TensorBase) -> Any:
    return x if x.sizes else reshape(x, (1,))


@composite(methods=True)
def index_select(input: Tensor, dim: int, index: Tensor) -> Any:
    """The slices (along `dim`) that `index`, a one-dimensional tensor of integers, names; a copy. IndexError for one
    that isn't there.

    >>> torch.index_select(torch.tensor([[1, 2], [3, 4], [5, 6]]), 0, torch.tensor([2, 0]))
    tensor([[5, 6],
            [1, 2]])
    """
    # PyTorch's shorter way along the columns of a matrix has another class for it
    columns = wrap_dim(dim, len(input.sizes)) == 1 and is_contiguous(input.sizes, input.strides)
    places = _places("index_select", input, dim, index, RuntimeError if columns else IndexError)
    chosen = index_op(_at_least_vector(input), places)
    return chosen if input.sizes else reshape(chosen, ())


def _source(name: str, input: TensorBase, dim: int, index: TensorBase, source: TensorBase) -> Any:
    """The source, after the checks that PyTorch makes: as many slices as index names, else of input's sizes."""
    if not isinstance(source, TensorBase):
        raise TypeError(f"{name}(): argument 'source' must be Tensor, not {type(source).__name__}")
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): self and source expected to have the same dtype, but got (self) {input.dtype} and (source)"
            f" {source.dtype}"
        )
    at = wrap_dim(dim, len(input.sizes))
    wanted = [numel(index.sizes) if d == at else n for d, n in enumerate(input.sizes)]
    if input.sizes and source.sizes and not expect_equal_sizes(source.sizes, wanted):
        error = IndexError if name == "index_copy" else RuntimeError
        raise error(f"{name}(): source must have sizes {wanted}, as index and self ask, but got {list(source.sizes)}")
    return source


@composite(methods=True, inplace=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Scalar = 1) -> Any:
    """`input` with alpha * source[i] added to its slice index[i] along `dim`; several may land on one slice."""
    values = _source("index_add", input, dim, index, source)
    if coefficient("index_add", "alpha", alpha, input.dtype.is_complex) != 1:
        values = to(mul(values, alpha), input.dtype)
    places = _places("index_add", input, dim, index, RuntimeError if len(input.sizes) > 1 else IndexError)
    return reshape(contiguous(index_put(_at_least_vector(input), places, values, True)), tuple(input.sizes))


@composite(methods=True, inplace=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Any:
    """`input` with source[i] stored as its slice index[i] along `dim`."""
    values = _source("index_copy", input, dim, index, source)
    if isinstance(index, TensorBase) and index.dtype is not int64:
        raise RuntimeError(f"index_copy(): Expected a long tensor for index, but got {index.dtype}")
    places = _places("index_copy", input, dim, index)
    return reshape(contiguous(index_put(_at_least_vector(input), places, values)), tuple(input.sizes))


@composite(methods=True, inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | Scalar) -> Any:
    """`input` with one value in the slices along `dim` that the index names."""
    if isinstance(value, TensorBase) and value.sizes:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {len(value.sizes)}"
            " dimension(s)."
        )
    if isinstance(index, TensorBase) and index.dtype is not int64:
        raise IndexError(f"index_fill(): Expected dtype int64 for index, got {index.dtype}")
    places = _places("index_fill", input, dim, index, outside=None)
    number = to(value, input.dtype) if isinstance(value, TensorBase) else full((), value, input.dtype)
    return reshape(index_put(_at_least_vector(input), places, number), tuple(input.sizes))


@composite(methods=True, inplace=True)
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    """`input` with source[i] combined into its slice index[i] along `dim`, by "prod", "mean", "amax" or "amin"."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): expected reduce to be one of prod, mean, amax or amin, got {reduce!r}")
    values = _source("index_reduce", input, dim, index, source)
    at = wrap_dim(dim, len(input.sizes))
    index = _places("index_reduce", input, dim, index)[-1]
    column = reshape(index, tuple(-1 if d == at else 1 for d in range(len(input.sizes))))
    return scatter_reduce(input, dim, expand(column, tuple(values.sizes)), values, reduce, include_self=include_self)


# ------------------------------------------------------------------------------------------ in the flattened tensor


def _flat_index(name: str, input: TensorBase, index: TensorBase) -> None:
    if not isinstance(index, TensorBase):
        raise TypeError(f"{name}(): argument 'index' must be Tensor, not {type(index).__name__}")
    if index.dtype is not int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {index.dtype}")
    _check_device(name, input, index)


@composite(methods=True)
def take(input: Tensor, index: Tensor) -> Any:
    """The elements at those places of the flattened input, in the sizes of `index`."""
    _flat_index("take", input, index)
    return contiguous(index_op(reshape(input, (-1,)), [index]))


@composite(methods=True, inplace=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    """`input` with the elements of source stored at those places of the flattened input, or added to them."""
    _flat_index("put_", input, index)
    if numel(index.sizes) != numel(source.sizes):
        raise RuntimeError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() ="
            f" {numel(source.sizes)}, index.numel() = {numel(index.sizes)}"
        )
    if source.dtype is not input.dtype:
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, {input.dtype} != {source.dtype}")
    flat = index_put(reshape(input, (-1,)), [reshape(index, (-1,))], reshape(source, (-1,)), accumulate)
    return copy(input, reshape(flat, tuple(input.sizes)))  # in the memory layout of the input
