"""What a view shows, as a tensor of its own: each view has a twin `name_copy`, which programs without views use.

>>> from minitorch_compile.tensor import ops, tensor
>>> x = tensor([[1, 2], [3, 4]])
>>> y = ops.transpose_copy(x, 0, 1)
>>> x[0, 0] = 9
>>> y
tensor([[1, 3],
        [2, 4]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.memory_format import contiguous_format
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.ops.complex_numbers import view_as_complex, view_as_real
from minitorch_compile.tensor.ops.copies import clone


def _own(*views: Any) -> tuple[Any, ...]:
    """Each in memory of its own, in row-major order."""
    return tuple(clone(view, contiguous_format) for view in views)


@composite()
def alias_copy(input: Tensor) -> Any:
    """A copy of the tensor."""
    return _own(input)[0]


@composite()
def detach_copy(input: Tensor) -> Any:
    """A copy that is not part of the history."""
    return _own(input.detach())[0]


@composite()
def as_strided_copy(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Any:
    """A copy of what `as_strided` shows."""
    return _own(input.as_strided(size, stride, storage_offset))[0]


@composite()
def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A copy of a diagonal."""
    return _own(input.diagonal(offset, dim1, dim2))[0]


@composite()
def expand_copy(input: Tensor, size: Sequence[int], *, implicit: bool = False) -> Any:
    """A copy of what `expand` shows, each repetition in memory of its own."""
    return _own(input.expand(size))[0]


@composite()
def permute_copy(input: Tensor, dims: Sequence[int]) -> Any:
    """A copy with its dimensions in another order."""
    return _own(input.permute(dims))[0]


@composite()
def select_copy(input: Tensor, dim: int, index: int) -> Any:
    """A copy of one slice of a dimension."""
    return _own(input.select(dim, index))[0]


@composite()
def slice_copy(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    """A copy of a range of a dimension."""
    where = [slice(None)] * input.ndim
    where[dim] = slice(start, end, step)
    return _own(input[tuple(where)])[0]


@composite()
def split_copy(input: Tensor, split_size: int, dim: int = 0) -> Any:
    """Copies of consecutive parts of `split_size`."""
    return _own(*input.split(split_size, dim))


@composite()
def squeeze_copy(input: Tensor, dim: int | Sequence[int] | None = None) -> Any:
    """A copy without dimensions of size 1."""
    return _own(input.squeeze() if dim is None else input.squeeze(dim))[0]


@composite()
def t_copy(input: Tensor) -> Any:
    """A copy of the transpose of a matrix."""
    return _own(input.t())[0]


@composite()
def transpose_copy(input: Tensor, dim0: int, dim1: int) -> Any:
    """A copy with two dimensions in each other's place."""
    return _own(input.transpose(dim0, dim1))[0]


@composite()
def unbind_copy(input: Tensor, dim: int = 0) -> Any:
    """Copies of all slices of a dimension."""
    return _own(*input.unbind(dim))


@composite()
def unfold_copy(input: Tensor, dimension: int, size: int, step: int) -> Any:
    """A copy of windows of a dimension."""
    return _own(input.unfold(dimension, size, step))[0]


@composite()
def unsqueeze_copy(input: Tensor, dim: int) -> Any:
    """A copy with one more dimension."""
    return _own(input.unsqueeze(dim))[0]


@composite()
def view_copy(input: Tensor, size: Any) -> Any:
    """A copy in other sizes, also where no view could have them; or of the same bytes as another dtype."""
    return _own(input.view(size) if isinstance(size, dtype) else input.reshape(size))[0]


@composite()
def view_as_complex_copy(input: Tensor) -> Any:
    """Complex numbers of pairs."""
    return _own(view_as_complex(input))[0]


@composite()
def view_as_real_copy(input: Tensor) -> Any:
    """Pairs of complex numbers."""
    return _own(view_as_real(input))[0]
