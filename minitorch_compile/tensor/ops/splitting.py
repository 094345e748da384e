"""Parts of a dimension, as views.

>>> from minitorch_compile.tensor import arange
>>> split(arange(5), 2), tensor_split(arange(5), 2), chunk(arange(5), 2)[1]
((tensor([0, 1]), tensor([2, 3]), tensor([4])), (tensor([0, 1, 2]), tensor([3, 4])), tensor([3, 4]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.symbolic import WHOLE, expect_at_most, expect_equal, whole
from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.numerics.dtype import BOOL, INTEGER
from minitorch_compile.tensor.ops.copies import contiguous_copy
from minitorch_compile.tensor.ops.view import select, slice
from minitorch_compile.tensor.tensor_base import TensorBase


@composite(methods=True)
def narrow(input: Tensor, dim: int, start: int | Any, length: int) -> Any:
    """`length` indices of a dimension from `start` on. RuntimeError or IndexError unless they are all there."""
    if isinstance(start, TensorBase) and (start.sizes or start.dtype.category not in (BOOL, INTEGER)):
        raise RuntimeError(f"narrow(): start must be an 0-dim integral Tensor, got {start.dtype}, {list(start.sizes)}")
    if not input.sizes:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    start, length = whole(start), whole(length)
    n = input.sizes[wrap_dim(dim, len(input.sizes))]
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {length}")
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [-{n}, {n}], but got {start})")
    first = start + n if start < 0 else start
    if first + length > n:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({n}).")
    return slice(input, dim, first, first + length)


def _size_along(name: str, x: Any, dim: int) -> int:
    if not isinstance(x, TensorBase):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}")
    if not x.sizes:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    return x.sizes[wrap_dim(dim, len(x.sizes))]


def _parts(x: Any, sections: Sequence[int], dim: int) -> tuple[Any, ...]:
    parts, start = [], 0
    for length in sections:
        parts.append(slice(x, dim, start, start + length))
        start += length
    return tuple(parts)


@composite(methods=True)
def split(
    tensor: Tensor,
    split_size_or_sections: int | Sequence[int] | None = None,
    dim: int = 0,
    *,
    split_size: int | Sequence[int] | None = None,
) -> Any:
    """Consecutive parts of the dimension `dim` of `tensor`: of one size (the last may be smaller), or of the given
    sizes, as `split_size_or_sections` is an int or a list. A tuple of views. RuntimeError for sizes that don't add up.

    >>> torch.split(torch.arange(5), 2), torch.arange(5).split([1, 4])
    ((tensor([0, 1]), tensor([2, 3]), tensor([4])), (tensor([0]), tensor([1, 2, 3, 4])))
    """
    wanted = split_size if split_size_or_sections is None else split_size_or_sections
    if wanted is None:
        raise TypeError("split() missing 1 required positional argument: 'split_size'")
    if not isinstance(wanted, WHOLE):
        return split_with_sizes(tensor, wanted, dim)
    n = _size_along("split", tensor, dim)
    if wanted < 0 or (wanted == 0 and n):
        raise RuntimeError(f"split expects split_size > 0, or 0 for a dimension of size 0, got {wanted}")
    count = int(-(-n // wanted)) if n else 1
    return _parts(tensor, [*[wanted] * (count - 1), n - (count - 1) * wanted], dim)


@composite(methods=True)
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """Consecutive parts of a dimension, of the given sizes. RuntimeError unless they add up."""
    n = _size_along("split_with_sizes", input, dim)
    sections = [whole(length) for length in split_sizes]
    if not expect_equal(sum(sections), n) or not all(expect_at_most(0, length) for length in sections):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to be non-negative and to sum exactly to {n} (input tensor's size at"
            f" dimension {dim}), but got split_sizes={sections}"
        )
    return _parts(input, sections, dim)


@composite(methods=True)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` consecutive parts of equal size (the last may be smaller) of the dimension `dim`. A tuple of
    views. RuntimeError unless chunks > 0.

    >>> torch.chunk(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    n = _size_along("chunk", input, dim)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if n == 0:
        return _parts(input, [0] * chunks, dim)
    return split(input, -(-n // chunks), dim)


@composite(methods=True)
def unbind(input: Tensor, dim: int = 0) -> Any:
    """One view for each index of the dimension `dim`, as a tuple; the views lack that dimension.

    >>> torch.unbind(torch.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
    """
    if not input.sizes:
        raise IndexError("unbind: Dimension specified as 0 but tensor has no dimensions")
    return tuple(select(input, dim, i) for i in range(input.sizes[wrap_dim(dim, len(input.sizes))]))


@composite(methods=True)
def tensor_split(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | Any = None,
    dim: int = 0,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
    tensor_indices_or_sections: Tensor | None = None,
) -> Any:
    """Parts of a dimension: so many of nearly equal size, or cut before the given indices."""
    n = _size_along("tensor_split", input, dim)
    given = _given("tensor_split", indices_or_sections, indices, sections, tensor_indices_or_sections)
    if isinstance(given, TensorBase):
        given = given.tolist()  # type: ignore[attr-defined]
    if isinstance(given, int):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        return _parts(input, [n // given + (i < n % given) for i in range(given)], dim)
    edges = [0, *given, n]
    return tuple(slice(input, dim, start, end) for start, end in zip(edges, edges[1:]))


def _given(name: str, *spellings: Any) -> Any:
    """The argument, of which each overload of PyTorch's has another name. TypeError if there isn't just one."""
    given = [value for value in spellings if value is not None]
    if len(given) != 1:
        raise TypeError(
            f"{name}(): expected one of 'indices_or_sections', 'indices' and 'sections', but got {len(given)}"
        )
    return given[0]


def _split_along(name: str, input: Any, given: Any, dim: int, least: int) -> Any:
    if len(input.sizes) < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with"
            f" {len(input.sizes)} dimensions!"
        )
    if isinstance(given, int) and (given <= 0 or input.sizes[dim] % given):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension"
            f" {input.sizes[dim]} is not divisible by the split_size {given}!"
        )
    return tensor_split(input, given, dim)


@composite(methods=True)
def hsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> Any:
    """tensor_split into columns; a vector is split along its only dimension. Equal parts must divide evenly."""
    return _split_along(
        "hsplit", input, _given("hsplit", indices_or_sections, indices, sections), 1 if len(input.sizes) > 1 else 0, 1
    )


@composite(methods=True)
def vsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> Any:
    """tensor_split into rows. Equal parts must divide evenly."""
    return _split_along("vsplit", input, _given("vsplit", indices_or_sections, indices, sections), 0, 2)


@composite(methods=True)
def dsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> Any:
    """tensor_split along the third dimension. Equal parts must divide evenly."""
    return _split_along("dsplit", input, _given("dsplit", indices_or_sections, indices, sections), 2, 3)


@composite(methods=True)
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> Any:
    """split. In PyTorch the parts may be written into; here those of split may be, too."""
    return split(input, split_size, dim)


@composite(methods=True)
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """split_with_sizes. In PyTorch the parts may be written into; here those of split_with_sizes may be, too."""
    return split_with_sizes(input, split_sizes, dim)


@composite(methods=True)
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """chunk. In PyTorch the parts may be written into; here those of chunk may be, too."""
    return chunk(input, chunks, dim)


@composite(methods=True)
def narrow_copy(input: Tensor, dim: int, start: int | Any, length: int) -> Any:
    """narrow, as a copy."""
    return contiguous_copy(narrow(input, dim, start, length))
