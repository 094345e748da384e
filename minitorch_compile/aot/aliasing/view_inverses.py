"""Writing into a view, said without writing: the base as it would be if its view had a new value.

For each view op there is a rule from the base, the new value of the view and the op's arguments to the new base; only
`as_strided`, which depends on how the base lies in memory, has its rule in view_steps.py.

>>> from minitorch_compile.tensor import ops, tensor
>>> x = tensor([[1, 2], [3, 4]])
>>> with_view_replaced(ops.select, x, tensor([7, 8]), (0, 1))      # x[1] = [7, 8]
tensor([[1, 2],
        [7, 8]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.device import no_default_device
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.viewing import clipped_range
from minitorch_compile.tensor.ops.view_writing import add_windows, with_diagonal

Ints = tuple[int, ...]
Inverse = Callable[..., Tensor]

_inverses: dict[Op, Inverse] = {}


def with_view_replaced(op: Op, base: Tensor, new: Tensor, arguments: Sequence[Any]) -> Tensor:
    """What `base` becomes when the value of its view `op(base, *arguments)` becomes `new`."""
    if op not in _inverses:
        raise NotImplementedError(
            f"functionalize: an in-place operation on a view made by {op!r} is not supported; write to a clone() of it"
        )
    with no_default_device():  # places in the base are numbers of ours, not tensors that the program makes
        return _inverses[op](base, new, *arguments)


def inverse_of(*of: Op) -> Callable[[Inverse], Inverse]:
    """Declares the decorated rule for these view ops."""

    def declare(rule: Inverse) -> Inverse:
        _inverses.update(dict.fromkeys(of, rule))
        return rule

    return declare


def has_inverse(op: Op) -> bool:
    return op in _inverses


@inverse_of(ops.view, ops.squeeze)
def _(base: Tensor, new: Tensor, *arguments: Any) -> Tensor:
    return ops.reshape(new, tuple(base.sizes))


@inverse_of(ops.detach)
def _(base: Tensor, new: Tensor) -> Tensor:
    return new


@inverse_of(ops.permute)
def _(base: Tensor, new: Tensor, dims: Ints) -> Tensor:
    order = [wrap_dim(d, len(dims)) for d in dims]
    return ops.permute(new, tuple(order.index(d) for d in range(len(order))))


@inverse_of(ops.transpose)
def _(base: Tensor, new: Tensor, dim0: int, dim1: int) -> Tensor:
    return ops.transpose(new, dim0, dim1)


@inverse_of(ops.t)
def _(base: Tensor, new: Tensor) -> Tensor:
    return ops.t(new)


@inverse_of(ops.unsqueeze)
def _(base: Tensor, new: Tensor, dim: int) -> Tensor:
    return ops.squeeze(new, dim)


@inverse_of(ops.expand)
def _(base: Tensor, new: Tensor, size: Ints) -> Tensor:
    """Where nothing is repeated; functionalize writes by place in memory where something may be."""
    return ops.reshape(new, tuple(base.sizes))


@inverse_of(ops.select)
def _(base: Tensor, new: Tensor, dim: int, index: int) -> Tensor:
    at = wrap_dim(dim, len(base.sizes))
    first = index + base.sizes[at] if index < 0 else index
    return _with_range_replaced(base, ops.unsqueeze(new, at), at, first, first + 1)


@inverse_of(ops.slice)
def slice_replaced(base: Tensor, new: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    """The base with other elements in a range of `dim`."""
    at = wrap_dim(dim, len(base.sizes))
    first, last = clipped_range(start, end, base.sizes[at])
    if last <= first:
        return base
    if step == 1:
        return _with_range_replaced(base, new, at, first, last)
    return ops.index_put(base, [None] * at + [ops.arange(first, last, step)], new)


def _with_range_replaced(base: Tensor, new: Tensor, dim: int, first: int, last: int) -> Tensor:
    """The base up to the range, the new value, the rest of the base."""
    parts = [ops.slice(base, dim, 0, first)] if first else []
    parts.append(new)
    if last < base.sizes[dim]:
        parts.append(ops.slice(base, dim, last, base.sizes[dim]))
    return ops.cat(parts, dim) if len(parts) > 1 else new


@inverse_of(ops.diagonal)
def _(base: Tensor, new: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    return with_diagonal(base, new, offset, dim1, dim2)


@inverse_of(ops.unfold)
def _(base: Tensor, new: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Where no windows overlap; functionalize writes by place in memory where some may."""
    return add_windows(base, new, dimension, size, step, accumulate=False)


@inverse_of(ops._real_part)
def _(base: Tensor, new: Tensor) -> Tensor:
    return ops.complex(new, ops.imag(base))


@inverse_of(ops._imaginary_part)
def _(base: Tensor, new: Tensor) -> Tensor:
    return ops.complex(ops.real(base), new)


@inverse_of(ops._conj)
def _(base: Tensor, new: Tensor) -> Tensor:
    return ops.conj_physical(new)


@inverse_of(ops._neg_view)
def _(base: Tensor, new: Tensor) -> Tensor:
    return ops.neg(new)


@inverse_of(ops.view_as_real)
def _(base: Tensor, new: Tensor) -> Tensor:
    return ops.view_as_complex(ops.contiguous(new))


@inverse_of(ops.view_as_complex)
def _(base: Tensor, new: Tensor) -> Tensor:
    return ops.view_as_real(new)
