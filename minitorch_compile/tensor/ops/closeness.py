"""Comparing tensors: with a tolerance, or by their distance.

>>> from minitorch_compile.tensor import tensor
>>> allclose(tensor([1.0, 2.0]), tensor([1.0, 2.0 + 1e-6])), equal(tensor([1]), tensor([1, 1]))
(True, False)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.declare import composite
from minitorch_compile.tensor.dtype import FLOATING
from minitorch_compile.tensor.op import Tensor
from minitorch_compile.tensor.ops.norms import linalg_vector_norm
from minitorch_compile.tensor.ops.pointwise import abs, eq, isnan, le, logical_and, logical_or, lt
from minitorch_compile.tensor.ops.reduction import all


@composite(methods=True)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Where |input - other| <= atol + rtol * |other|. Infinities are close to themselves; NaN only if `equal_nan`."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"isclose: {input.dtype} did not match {other.dtype}; convert one of them with .to(dtype)")
    same = eq(input, other)
    if equal_nan and input.dtype.category >= FLOATING:
        same = logical_or(same, logical_and(isnan(input), isnan(other)))
    if input.dtype.category < FLOATING:
        return logical_or(same, le(abs(input - other), atol + rtol * abs(other)))
    finite = lt(abs(other), float("inf"))  # an infinite tolerance would be no tolerance
    return logical_or(same, logical_and(finite, le(abs(input - other), atol + rtol * abs(other))))


@composite(methods=True)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether isclose holds everywhere, as a Python bool."""
    return bool(all(isclose(input, other, rtol, atol, equal_nan)))


@composite(methods=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes and elements, as a Python bool."""
    return input.sizes == other.sizes and bool(all(eq(input, other)))


@composite(methods=True)
def dist(input: Tensor, other: Tensor, p: float = 2) -> Any:
    """The p-norm of input - other."""
    return linalg_vector_norm(input - other, p)
