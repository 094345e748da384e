"""Ops that look at the same storage in another way. A rule is arithmetic on sizes, strides and offset; no data moves.

>>> from minitorch_compile.tensor import arange
>>> x = arange(6).view(2, 3)
>>> x.stride(), transpose(x, 0, 1).stride(), expand(select(x, 0, 1), (2, 3)).stride()
((3, 1), (1, 3), (0, 1))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.symbolic import WHOLE, expect_index, is_unbacked, sym_max, whole
from minitorch_compile.tensor.dispatch.declare import register, view
from minitorch_compile.tensor.dispatch.op_families import ViewOp
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import expand_strides, numel
from minitorch_compile.tensor.memory.viewing import clipped_range, infer_sizes, view_strides
from minitorch_compile.tensor.tensor_base import TensorBase

PLAIN = frozenset((int,))
Ints = tuple[int, ...]
Layout = tuple[Sequence[int], Sequence[int], int]


def as_ints(name: str, size: Any) -> Ints:
    """Sizes as a tuple of Python ints; NumPy's ints and 0-d tensors are taken too. TypeError for anything else."""
    if isinstance(size, (tuple, list)) and set(map(type, size)) <= PLAIN:  # nearly always
        return tuple(size)
    try:
        return tuple(map(whole, (size,) if isinstance(size, WHOLE) else size))
    except TypeError:
        raise TypeError(f"{name}(): argument 'size' must be tuple of ints, but found {size!r}") from None


def _view_rule(input: TensorBase, size: Ints) -> Layout:
    """The same elements in the same order under other sizes; one size may be -1.

    RuntimeError if the elements don't lie in memory in a way that strides can describe: then reshape copies.
    """
    sizes = infer_sizes(as_ints("view", size), numel(input.sizes))
    strides = view_strides(tuple(input.sizes), input.strides, sizes)
    if strides is None:
        raise RuntimeError(
            f"view: view size {list(sizes)} is not compatible with input tensor's size {list(input.sizes)} and"
            f" stride {list(input.strides)}"
            " (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return sizes, strides, input.offset


# The decorator of the same name already means "declare a view op" in this file.
view_op = register(ViewOp(_view_rule, name="view", namespaces=["method"], gather_dims=True))


@view()
def as_strided(input: TensorBase, size: Ints, stride: Ints, storage_offset: int | None = None) -> Layout:
    """Any sizes and strides over the same storage. RuntimeError if they reach outside it."""
    offset = input.offset if storage_offset is None else storage_offset
    if any(n < 0 for n in size) or any(s < 0 for s in stride) or offset < 0 or len(size) != len(stride):
        raise RuntimeError(
            f"as_strided: size, stride and storage_offset must be >= 0 and of one length, got {size}, {stride},"
            f" {storage_offset}"
        )
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    held = input.storage.nbytes // input.dtype.itemsize
    if numel(size) and not input.is_fake and last >= held:
        raise RuntimeError(
            f"as_strided: size {list(size)}, stride {list(stride)} and offset {offset} reach element {last} of a"
            f" storage of {held}"
        )
    return tuple(size), tuple(stride), offset


@view(gather_dims=True)
def permute(input: TensorBase, dims: Ints) -> Layout:
    """A view with the dimensions in another order: the i-th is the one that `dims` names at i. RuntimeError unless
    `dims` names each one once.

    >>> x = torch.zeros(2, 3, 4)
    >>> x.permute(2, 0, 1).shape, torch.permute(x, (0, 2, 1)).shape
    (torch.Size([4, 2, 3]), torch.Size([2, 4, 3]))
    """
    order = [wrap_dim(d, len(input.sizes)) for d in dims] if len(dims) == len(input.sizes) else []
    if sorted(order) != list(range(len(input.sizes))):
        raise RuntimeError(f"permute: dims must name each of the {len(input.sizes)} dimensions once, got {tuple(dims)}")
    return [input.sizes[d] for d in order], [input.strides[d] for d in order], input.offset


@view()
def transpose(input: TensorBase, dim0: int, dim1: int) -> Layout:
    """A view in which the dimensions `dim0` and `dim1` have changed places. IndexError for one that isn't there.

    >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    >>> x.transpose(0, 1)
    tensor([[1, 4],
            [2, 5],
            [3, 6]])
    """
    ndim = len(input.sizes)
    a, b = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    sizes, strides = list(input.sizes), list(input.strides)
    if ndim:
        sizes[a], sizes[b] = sizes[b], sizes[a]
        strides[a], strides[b] = strides[b], strides[a]
    return sizes, strides, input.offset


@view()
def t(input: TensorBase) -> Layout:
    """A view: the transpose of a matrix; vectors and 0-d tensors stay as they are. RuntimeError from 3 dimensions on.

    >>> torch.tensor([[1, 2, 3]]).t()
    tensor([[1],
            [2],
            [3]])
    """
    if len(input.sizes) > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {len(input.sizes)}D; use transpose or mT"
        )
    return input.sizes[::-1], input.strides[::-1], input.offset


@view(torch=False, gather_dims=True)
def expand(input: TensorBase, size: Ints) -> Layout:
    """A view in which dimensions of size 1, and new ones in front, are repeated by stride 0. `size` has the new sizes;
    -1 keeps one. RuntimeError if they don't fit. Copy it before you write into it.

    >>> torch.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    size = as_ints("expand", size)
    lead = len(size) - len(input.sizes)
    if lead < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(size)}) must be at least the tensor's dimensions"
            f" ({len(input.sizes)})"
        )
    target = list(size)
    for dim, n in reversed(list(enumerate(size))):  # as PyTorch looks at them
        old = input.sizes[dim - lead] if dim >= lead else None
        if n == -1 and old is None:
            raise RuntimeError(f"expand: size -1 isn't allowed in a leading, non-existing dimension {dim}")
        if old is not None and old != 1 and n not in (-1, old):
            raise RuntimeError(
                f"expand: the expanded size ({n}) must match the existing size ({old}) at non-singleton dimension"
                f" {dim}; sizes {list(input.sizes)}"
            )
        if n == -1 and old is not None:
            target[dim] = old
    return target, _expanded_strides(input, target), input.offset


def _expanded_strides(input: TensorBase, target: list[int]) -> list[int]:
    """Stride 0 where elements are repeated. A new dimension of size 1 continues the one behind it, as in PyTorch."""
    strides = list(expand_strides(input.sizes, input.strides, target))
    if input.sizes:
        for dim in reversed(range(len(target) - len(input.sizes))):
            strides[dim] = target[dim + 1] * strides[dim + 1] if target[dim] == 1 else 0
    return strides


@view()
def unsqueeze(input: TensorBase, dim: int) -> Layout:
    """A view with a new dimension of size 1, at the place `dim`: from -ndim - 1 to ndim; else IndexError.

    >>> x = torch.tensor([1, 2])
    >>> x.unsqueeze(0), x.unsqueeze(-1).shape
    (tensor([[1, 2]]), torch.Size([2, 1]))
    """
    at = wrap_dim(dim, len(input.sizes) + 1)
    stride = input.sizes[at] * input.strides[at] if at < len(input.sizes) else 1
    return [*input.sizes[:at], 1, *input.sizes[at:]], [*input.strides[:at], stride, *input.strides[at:]], input.offset


@view()
def squeeze(input: TensorBase, dim: int | Sequence[int] | None = None) -> Layout:
    """A view without the dimensions of size 1: all of them, or those that `dim` (an int or several) names. IndexError
    for a dimension that isn't there; one of another size stays.

    >>> x = torch.zeros(1, 3, 1)
    >>> x.squeeze().shape, x.squeeze(0).shape, x.squeeze(1).shape
    (torch.Size([3]), torch.Size([3, 1]), torch.Size([1, 3, 1]))
    """
    ndim = len(input.sizes)
    named = range(ndim) if dim is None else [wrap_dim(d, ndim) for d in ((dim,) if isinstance(dim, WHOLE) else dim)]
    if len(set(named)) < len(named):
        raise RuntimeError(f"squeeze: a dim appears multiple times in the list of dims {dim}")
    keep = [d for d in range(ndim) if d not in named or input.sizes[d] != 1]
    return [input.sizes[d] for d in keep], [input.strides[d] for d in keep], input.offset


@view()
def select(input: TensorBase, dim: int, index: int) -> Layout:
    """A view of one `index` of the dimension `dim`, which is gone from the result. IndexError if out of range or 0-d.

    >>> torch.select(torch.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
    """
    if not input.sizes:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at, index = wrap_dim(dim, len(input.sizes)), whole(index)
    n = input.sizes[at]
    if not (-n <= index < n if type(index) is type(n) is int else expect_index(index, n)):
        raise IndexError(f"index {index} is out of bounds for dimension {at} with size {n}")
    offset = input.offset + (index + n if index < 0 else index) * input.strides[at]
    return [*input.sizes[:at], *input.sizes[at + 1 :]], [*input.strides[:at], *input.strides[at + 1 :]], offset


@view(torch=False, methods=False)
def slice(input: TensorBase, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Layout:
    """Every step-th index of a dimension from start up to end, clipped as Python's slices are. ValueError unless
    step > 0."""
    at = wrap_dim(dim, len(input.sizes))
    if step <= 0:
        raise ValueError(f"slice: step must be greater than zero, got {step}; use flip to reverse a dimension")
    first, last = clipped_range(start, end, input.sizes[at])
    sizes, strides = list(input.sizes), list(input.strides)
    length = -(-(last - first) // step)
    sizes[at] = sym_max(0, length) if is_unbacked(length) else max(0, length)
    offset = input.offset + (first * strides[at] if is_unbacked(length) or sizes[at] else 0)
    strides[at] *= step
    return sizes, strides, offset


@view(differentiable=False)
def detach(input: TensorBase) -> Layout:
    """A view of the same memory outside the recorded graph: gradients don't flow through.

    >>> x = torch.ones(2, requires_grad=True)
    >>> x.detach().requires_grad
    False
    """
    return input.sizes, input.strides, input.offset


@view()
def diagonal(input: TensorBase, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Layout:
    """A view of the elements whose index in `dim2` is that in `dim1` plus `offset`, as the last dimension; dim1 and
    dim2 are gone. RuntimeError if both are the same dimension.

    >>> x = torch.arange(9).view(3, 3)
    >>> x.diagonal(), x.diagonal(offset=1)
    (tensor([0, 4, 8]), tensor([1, 5]))
    """
    first, second = wrap_dim(dim1, len(input.sizes)), wrap_dim(dim2, len(input.sizes))
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = input.sizes[first], input.sizes[second]
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    steps = input.strides
    start = input.offset + (offset * steps[second] if offset >= 0 else -offset * steps[first]) * (length > 0)
    kept = [d for d in range(len(input.sizes)) if d not in (first, second)]
    sizes = [*(input.sizes[d] for d in kept), length]
    return sizes, [*(steps[d] for d in kept), steps[first] + steps[second]], start


@view(torch=False)
def unfold(input: TensorBase, dimension: int, size: int, step: int) -> Layout:
    """Windows of `size` elements of a dimension, `step` apart; the place in the window is a new last dimension."""
    at = wrap_dim(dimension, len(input.sizes))
    n, stride = (input.sizes[at], input.strides[at]) if input.sizes else (1, 1)
    if size < 0 or size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {at} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    sizes, strides = list(input.sizes), list(input.strides)
    if sizes:
        sizes[at], strides[at] = (n - size) // step + 1, step * stride
    return [*sizes, size], [*strides, stride], input.offset
