"""Ops that look at the same storage in another way. A rule is arithmetic on sizes, strides and offset; no data moves.

>>> from minitorch_compile.tensor import arange
>>> x = arange(6).view(2, 3)
>>> x.stride(), transpose(x, 0, 1).stride(), expand(select(x, 0, 1), (2, 3)).stride()
((3, 1), (1, 3), (0, 1))
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.declare import composite, register, view
from minitorch_compile.tensor.op import Tensor
from minitorch_compile.tensor.op_families import ViewOp
from minitorch_compile.tensor.ops.copies import contiguous, contiguous_copy
from minitorch_compile.tensor.strides import expand_strides, infer_sizes, numel, view_strides, wrap_dim
from minitorch_compile.tensor.tensor_base import TensorBase

Ints = tuple[int, ...]
Layout = tuple[Sequence[int], Sequence[int], int]


def _view_rule(input: TensorBase, size: Ints) -> Layout:
    """The same elements in the same order under other sizes; one size may be -1.

    RuntimeError if the elements don't lie in memory in a way that strides can describe: then reshape copies.
    """
    sizes = infer_sizes(tuple(size), numel(input.sizes))
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
    if numel(size) and input.storage.buffer is not None and last >= len(input.storage):
        raise RuntimeError(
            f"as_strided: size {list(size)}, stride {list(stride)} and offset {offset} reach element {last} of a"
            f" storage of {len(input.storage)}"
        )
    return tuple(size), tuple(stride), offset


@view(gather_dims=True)
def permute(input: TensorBase, dims: Ints) -> Layout:
    """The dimensions in another order. RuntimeError unless `dims` names each one once."""
    order = [wrap_dim(d, len(input.sizes)) for d in dims]
    if sorted(order) != list(range(len(input.sizes))):
        raise RuntimeError(f"permute: dims must name each of the {len(input.sizes)} dimensions once, got {tuple(dims)}")
    return [input.sizes[d] for d in order], [input.strides[d] for d in order], input.offset


@view()
def transpose(input: TensorBase, dim0: int, dim1: int) -> Layout:
    """Two dimensions change places."""
    ndim = len(input.sizes)
    a, b = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    sizes, strides = list(input.sizes), list(input.strides)
    if ndim:
        sizes[a], sizes[b] = sizes[b], sizes[a]
        strides[a], strides[b] = strides[b], strides[a]
    return sizes, strides, input.offset


@view()
def t(input: TensorBase) -> Layout:
    """The transpose of a matrix; vectors and 0-d tensors stay as they are. RuntimeError from 3 dimensions on."""
    if len(input.sizes) > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {len(input.sizes)}D; use transpose or mT"
        )
    return input.sizes[::-1], input.strides[::-1], input.offset


@view(torch=False, gather_dims=True)
def expand(input: TensorBase, size: Ints) -> Layout:
    """Size-1 dimensions, and new ones in front, repeated by stride 0; -1 keeps a size. RuntimeError if sizes don't
    fit."""
    lead = len(size) - len(input.sizes)
    if lead < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(size)}) must be at least the tensor's dimensions"
            f" ({len(input.sizes)})"
        )
    target: list[int] = []
    for dim, n in enumerate(size):
        old = input.sizes[dim - lead] if dim >= lead else None
        if n == -1 and old is None:
            raise RuntimeError(f"expand: size -1 isn't allowed in a leading, non-existing dimension {dim}")
        if old is not None and n not in (-1, old) and old != 1:
            raise RuntimeError(
                f"expand: the expanded size ({n}) must match the existing size ({old}) at non-singleton dimension"
                f" {dim}; sizes {list(input.sizes)}"
            )
        target.append(old if n == -1 and old is not None else n)
    return target, expand_strides(input.sizes, input.strides, target), input.offset


@view()
def unsqueeze(input: TensorBase, dim: int) -> Layout:
    """A new dimension of size 1."""
    at = wrap_dim(dim, len(input.sizes) + 1)
    stride = input.sizes[at] * input.strides[at] if at < len(input.sizes) else 1
    return [*input.sizes[:at], 1, *input.sizes[at:]], [*input.strides[:at], stride, *input.strides[at:]], input.offset


@view()
def squeeze(input: TensorBase, dim: int | Sequence[int] | None = None) -> Layout:
    """Without its dimensions of size 1: all, or those that `dim` names."""
    ndim = len(input.sizes)
    named = range(ndim) if dim is None else [wrap_dim(d, ndim) for d in ((dim,) if isinstance(dim, int) else dim)]
    keep = [d for d in range(ndim) if d not in named or input.sizes[d] != 1]
    return [input.sizes[d] for d in keep], [input.strides[d] for d in keep], input.offset


@view()
def select(input: TensorBase, dim: int, index: int) -> Layout:
    """One index of a dimension, which is gone from the result. IndexError if out of range or 0-d."""
    if not input.sizes:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = wrap_dim(dim, len(input.sizes))
    n = input.sizes[at]
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for dimension {at} with size {n}")
    offset = input.offset + (index % n) * input.strides[at]
    return [*input.sizes[:at], *input.sizes[at + 1 :]], [*input.strides[:at], *input.strides[at + 1 :]], offset


@view(torch=False, methods=False)
def slice(input: TensorBase, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Layout:
    """Every step-th index of a dimension from start up to end, clipped as Python's slices are. ValueError unless
    step > 0."""
    at = wrap_dim(dim, len(input.sizes))
    if step <= 0:
        raise ValueError(f"slice: step must be greater than zero, got {step}; use flip to reverse a dimension")
    first, last, _ = builtins.slice(start, end).indices(input.sizes[at])
    sizes, strides = list(input.sizes), list(input.strides)
    sizes[at] = max(0, -(-(last - first) // step))
    offset = input.offset + (first * strides[at] if sizes[at] else 0)
    strides[at] *= step
    return sizes, strides, offset


@view(differentiable=False)
def detach(input: TensorBase) -> Layout:
    """The same tensor outside the recorded graph: gradients don't flow through."""
    return input.sizes, input.strides, input.offset


# ------------------------------------------------------------------------------------------- written in the views above


@composite(methods=True, gather_dims=True)
def reshape(input: Tensor, shape: Ints) -> Any:
    """The same elements in the same order under other sizes: a view if strides allow it, else a copy."""
    sizes = infer_sizes(tuple(shape), numel(input.sizes))
    fits = view_strides(tuple(input.sizes), input.strides, sizes) is not None
    return view_op(input if fits else contiguous(input), sizes)


@composite(methods=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Dimensions start_dim to end_dim as one. A 0-d tensor becomes one-dimensional."""
    ndim = len(input.sizes)
    first, last = wrap_dim(start_dim, ndim), wrap_dim(end_dim, ndim)
    if first > last:
        raise RuntimeError(f"flatten() has invalid args: start_dim {start_dim} cannot come after end_dim {end_dim}")
    if not ndim:
        return reshape(input, (1,))
    return reshape(input, (*input.sizes[:first], numel(input.sizes[first : last + 1]), *input.sizes[last + 1 :]))


@composite(methods=True)
def narrow(input: Tensor, dim: int, start: int, length: int) -> Any:
    """`length` indices of a dimension from `start` on."""
    return slice(input, dim, start, start + length)


@composite(methods=True)
def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> Any:
    """Consecutive parts of a dimension: of one size (the last may be smaller), or of the given sizes. A tuple of
    views."""
    n = tensor.sizes[wrap_dim(dim, len(tensor.sizes))]
    if isinstance(split_size_or_sections, int):
        if split_size_or_sections <= 0:
            raise RuntimeError(f"split expects split_size_or_sections > 0, got {split_size_or_sections}")
        whole = split_size_or_sections
        sections = [min(whole, n - start) for start in range(0, max(n, 1), whole)]
    else:
        sections = list(split_size_or_sections)
        if sum(sections) != n:
            raise RuntimeError(f"split: split_sizes must sum to {n} (the size of dimension {dim}), got {sections}")
    starts = [sum(sections[:i]) for i in range(len(sections))]
    return tuple(slice(tensor, dim, a, a + length) for a, length in zip(starts, sections, strict=True))


@composite(methods=True)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` consecutive parts of equal size (the last may be smaller). A tuple of views."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input.sizes[wrap_dim(dim, len(input.sizes))]
    return split(input, max(1, -(-n // chunks)), dim)


@composite(methods=True)
def unbind(input: Tensor, dim: int = 0) -> Any:
    """One view for each index of a dimension."""
    return tuple(select(input, dim, i) for i in range(input.sizes[wrap_dim(dim, len(input.sizes))]))


@composite(torch=False, methods=True)
def view_as(input: Tensor, other: Tensor) -> Any:
    """view with the sizes of `other`."""
    return view_op(input, other.sizes)


@composite(torch=False, methods=True)
def expand_as(input: Tensor, other: Tensor) -> Any:
    """expand to the sizes of `other`."""
    return expand(input, other.sizes)


@composite(torch=False, methods=True, gather_dims=True)
def repeat(input: Tensor, repeats: Ints) -> Any:
    """The tensor tiled: `repeats` copies along each dimension, new ones in front. A copy, not a view."""
    lead = len(repeats) - len(input.sizes)
    if lead < 0:
        raise RuntimeError(
            f"repeat: number of dimensions of repeat dims {len(repeats)} can not be smaller than the tensor's"
            f" {len(input.sizes)}"
        )
    sizes = (1,) * lead + tuple(input.sizes)
    interleaved = view_op(contiguous(input), tuple(n for size in sizes for n in (1, size)))
    tiled = expand(interleaved, tuple(n for count, size in zip(repeats, sizes, strict=True) for n in (count, size)))
    return view_op(contiguous_copy(tiled), tuple(count * size for count, size in zip(repeats, sizes, strict=True)))


@composite(methods=True)
def movedim(input: Tensor, source: int, destination: int) -> Any:
    """One dimension moved to another place, the rest in order."""
    ndim = len(input.sizes)
    order = [d for d in range(ndim) if d != wrap_dim(source, ndim)]
    order.insert(wrap_dim(destination, ndim), wrap_dim(source, ndim))
    return permute(input, tuple(order))
