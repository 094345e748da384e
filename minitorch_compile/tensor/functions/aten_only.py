"""Ops that only torch.ops.aten names: what PyTorch's own functions are made of, and what a program's
`__torch_dispatch__` may be asked about there. Tables of handlers name them; they do what they say when they are called.

>>> from minitorch_compile.tensor import ones
>>> import minitorch_compile as torch
>>> torch.ops.aten.alias.default(ones(2)), torch.ops.aten._local_scalar_dense(ones(1))
(tensor([1., 1.]), 1.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from minitorch_compile.tensor.dispatch.aten_names import FUNCTIONS


def alias(input: Any) -> Any:
    """A view of all of it."""
    return input.view(input.shape)


def _unsafe_view(input: Any, size: Sequence[int]) -> Any:
    """A view in other sizes."""
    return input.view(size)


def detach_(input: Any) -> Any:
    """The tensor, without its history."""
    return input.detach_()


def _pin_memory(input: Any, device: Any = None) -> Any:
    """The tensor, in memory that a GPU reads."""
    return input.pin_memory()


def _is_all_true(input: Any) -> Any:
    """Whether all elements are true."""
    return input.all()


def _local_scalar_dense(input: Any) -> Any:
    """The number in a tensor of one element."""
    return input.item()


def _sparse_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * (mat1 @ mat2), of which mat1 is sparse."""
    return input * beta + (mat1 @ mat2) * alpha


def _sparse_mm_reduce_impl(input: Any, other: Any, reduce: str) -> NoReturn:
    """NotImplementedError: a product whose sums are maxima."""
    raise NotImplementedError("aten._sparse_mm_reduce_impl: not implemented; use scatter_reduce on the entries")


FUNCTIONS.update(
    {
        f.__name__: f
        for f in (
            alias,
            _unsafe_view,
            detach_,
            _pin_memory,
            _is_all_true,
            _local_scalar_dense,
            _sparse_addmm,
            _sparse_mm_reduce_impl,
        )
    }
)
