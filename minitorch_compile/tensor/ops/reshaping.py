"""The same elements under other sizes, or with their dimensions in another order: what is written in views.

>>> from minitorch_compile.tensor import arange, zeros
>>> x = arange(6)
>>> reshape(x, (2, -1)).shape, unflatten(x, 0, (3, 2)).shape, movedim(zeros(2, 3, 4), 0, -1).shape
(torch.Size([2, 3]), torch.Size([3, 2]), torch.Size([3, 4, 2]))
>>> [t.shape for t in broadcast_tensors(zeros(3, 1), zeros(4))]
[torch.Size([3, 4]), torch.Size([3, 4])]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from minitorch_compile.symbolic import WHOLE
from minitorch_compile.tensor.dispatch.declare import alias, composite
from minitorch_compile.tensor.dispatch.op import Tensor, find
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.strides import broadcast_sizes, numel, recalled
from minitorch_compile.tensor.memory.viewing import infer_sizes, view_strides
from minitorch_compile.tensor.ops.copies import contiguous
from minitorch_compile.tensor.ops.view import as_ints, expand, permute, transpose, unsqueeze, view_op
from minitorch_compile.tensor.tensor_base import TensorBase

Ints = tuple[int, ...]


@composite(methods=True, gather_dims=True)
def reshape(input: Tensor, shape: Ints) -> Any:
    """The same elements in the same order under other sizes: a view if strides allow it, else a copy. One size in
    `shape` may be -1: it follows from the others. RuntimeError if the number of elements isn't the same.

    >>> x = torch.arange(6)
    >>> x.reshape(2, 3), torch.reshape(x, (-1, 2)).shape
    (tensor([[0, 1, 2],
            [3, 4, 5]]), torch.Size([3, 2]))
    """
    sizes, fits = recalled(_target, input.sizes, input.strides, as_ints("reshape", shape))
    return view_op(input if fits else contiguous(input), sizes)


@lru_cache(maxsize=4096)
def _target(sizes: Ints, strides: Ints, shape: Ints) -> tuple[Ints, bool]:
    """The sizes that are meant by `shape`, and whether a view has them."""
    target = infer_sizes(shape, numel(sizes))
    return target, view_strides(tuple(sizes), strides, target) is not None


@composite(methods=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Dimensions `start_dim` to `end_dim`, both included, as one: a view if strides allow it. A 0-d tensor becomes
    one-dimensional. RuntimeError if they come in the wrong order.

    >>> x = torch.zeros(2, 3, 4)
    >>> x.flatten().shape, torch.flatten(x, 1).shape
    (torch.Size([24]), torch.Size([2, 12]))
    """
    ndim = len(input.sizes)
    first, last = wrap_dim(start_dim, ndim), wrap_dim(end_dim, ndim)
    if first > last:
        raise RuntimeError(f"flatten() has invalid args: start_dim {start_dim} cannot come after end_dim {end_dim}")
    if not ndim:
        return reshape(input, (1,))
    if first == last:
        return input
    return reshape(input, (*input.sizes[:first], numel(input.sizes[first : last + 1]), *input.sizes[last + 1 :]))


@composite(methods=True)
def ravel(input: Tensor) -> Any:
    """All elements in one dimension: a view if the tensor is contiguous, else a copy."""
    return view_op(contiguous(input), (-1,))


@composite(methods=True)
def unflatten(input: Tensor, dim: int, sizes: Ints) -> Any:
    """A dimension as several, whose sizes multiply to its size; one of them may be -1. The inverse of flatten."""
    at = wrap_dim(dim, len(input.sizes))
    if not len(sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        parts = infer_sizes(as_ints("unflatten", sizes), input.sizes[at])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {at} ({input.sizes[at]}) in"
            " the input tensor"
        ) from None
    return view_op(input, (*input.sizes[:at], *parts, *input.sizes[at + 1 :]))


@composite(torch=False, methods=True)
def view_as(input: Tensor, other: Tensor) -> Any:
    """A view: the same elements under the sizes of `other`.

    >>> torch.arange(4).view_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return view_op(input, other.sizes)


@composite(torch=False, methods=True)
def reshape_as(input: Tensor, other: Tensor) -> Any:
    """reshape to the sizes of `other`."""
    return reshape(input, other.sizes)


# ------------------------------------------------------------------------------------------------ order of dimensions


@composite(methods=True)
def movedim(input: Tensor, source: int | Ints, destination: int | Ints) -> Any:
    """Dimensions moved to other places, the rest in order."""
    ndim = len(input.sizes)
    given = [(d,) if isinstance(d, int) else tuple(d) for d in (source, destination)]
    if len(given[0]) != len(given[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source {source} should contain the same number of dims as"
            f" destination {destination}"
        )
    origins, targets = ([wrap_dim(d, ndim) for d in dims] for dims in given)
    for name, dims in (("source", origins), ("destination", targets)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` {dims}")
    order = [d for d in range(ndim) if d not in origins]
    for target, origin in sorted(zip(targets, origins, strict=True)):
        order.insert(target, origin)
    return permute(input, tuple(order))


moveaxis = alias("moveaxis", movedim)


@composite(methods=True)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Any:
    """transpose, under NumPy's name."""
    return transpose(input, axis0, axis1)


@composite(methods=True)
def swapdims(input: Tensor, dim0: int, dim1: int) -> Any:
    """transpose."""
    return transpose(input, dim0, dim1)


# ------------------------------------------------------------------------------------------------ broadcasting


@composite(torch=False, methods=True)
def expand_as(input: Tensor, other: Tensor) -> Any:
    """A view: expand to the sizes of `other`.

    >>> torch.tensor([1, 2]).expand_as(torch.zeros(2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, other.sizes)


@composite(torch=False, methods=True, gather_dims=True)
def sum_to_size(input: Tensor, size: Ints) -> Any:
    """The inverse of expand: summed over the dimensions that `size` lacks or has as 1. RuntimeError if it doesn't
    expand to the input's sizes."""
    wanted = as_ints("sum_to_size", size)
    lead = len(input.sizes) - len(wanted)
    if lead < 0 or broadcast_sizes(wanted, input.sizes) != tuple(input.sizes):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(input.sizes)}}}.")
    repeated = [d for d in range(len(input.sizes)) if d < lead or (wanted[d - lead] == 1 != input.sizes[d])]
    return view_op(find("sum")(input, repeated, True), wanted) if repeated else input


@composite(methods=True, gather_dims=True)
def broadcast_to(input: Tensor, size: Ints) -> Any:
    """expand, as a function."""
    return expand(input, size)


@composite()
def broadcast_tensors(*tensors: Tensor) -> Any:
    """The `tensors` expanded to their common sizes, as views. RuntimeError if they have none.

    >>> torch.broadcast_tensors(torch.tensor([[1], [2]]), torch.tensor([3, 4]))
    (tensor([[1, 1],
            [2, 2]]), tensor([[3, 4],
            [3, 4]]))
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    common = broadcast_sizes(*(x.sizes for x in given))
    return tuple(expand(x, common) for x in given)


def broadcast_shapes(*shapes: Any) -> Size:
    """The common sizes of several `shapes`, each an int or a sequence. RuntimeError if there are none.

    >>> torch.broadcast_shapes((3, 1), (4,), 1)
    torch.Size([3, 4])
    """
    return Size(broadcast_sizes(*((shape,) if isinstance(shape, WHOLE) else tuple(shape) for shape in shapes)))


def _each(tensors: tuple[Any, ...], least: Any) -> Any:
    """`least` of one tensor, or a tuple of those of several."""
    if len(tensors) == 1 and isinstance(tensors[0], TensorBase):
        return least(tensors[0])
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], Sequence) else tensors
    return tuple(least(x) for x in given)


@composite()
def atleast_1d(*tensors: Tensor) -> Any:
    """Each tensor with at least one dimension."""
    return _each(tensors, lambda x: x if x.sizes else reshape(x, (1,)))


@composite()
def atleast_2d(*tensors: Tensor) -> Any:
    """Each tensor with at least two dimensions; a vector becomes a row."""
    return _each(tensors, _as_matrix)


def _as_matrix(x: Any) -> Any:
    return reshape(x, (1, 1)) if not x.sizes else unsqueeze(x, 0) if len(x.sizes) == 1 else x


@composite()
def atleast_3d(*tensors: Tensor) -> Any:
    """Each tensor with at least three dimensions; a vector of n becomes (1, n, 1), a matrix gets a last dimension."""
    return _each(tensors, lambda x: x if len(x.sizes) > 2 else unsqueeze(_as_matrix(x), -1))
