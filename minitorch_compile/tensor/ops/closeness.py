"""Comparing tensors: with a tolerance, or by their distance.

>>> from minitorch_compile.tensor import tensor
>>> allclose(tensor([1.0, 2.0]), tensor([1.0, 2.0 + 1e-6])), equal(tensor([1]), tensor([1, 1]))
(True, False)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.numerics.dtype import FLOATING, get_default_dtype
from minitorch_compile.tensor.ops.norms import linalg_vector_norm
from minitorch_compile.tensor.ops.pointwise import abs, eq, isnan, le, logical_and, logical_or, lt
from minitorch_compile.tensor.ops.reduction import all
from minitorch_compile.tensor.tensor_base import TensorBase


@composite(methods=True)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Where |input - other| <= atol + rtol * |other|. Infinities are close to themselves; NaN only if `equal_nan`.

    RuntimeError for different dtypes, and for negative tolerances.
    """
    _check_tensor("isclose", other)
    if input.dtype is not other.dtype:
        raise RuntimeError(f"isclose: {input.dtype} did not match {other.dtype}; convert one of them with .to(dtype)")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    same = eq(input, other)
    if input.dtype.category < FLOATING:
        input, other = input.to(get_default_dtype()), other.to(get_default_dtype())
    elif equal_nan:
        same = logical_or(same, logical_and(isnan(input), isnan(other)))
    difference = abs(input - other)
    finite = lt(difference, float("inf"))  # an infinite tolerance would be no tolerance
    return logical_or(same, logical_and(finite, le(difference, atol + abs(rtol * other))))


def _check_tensor(name: str, other: Any) -> None:
    if not isinstance(other, TensorBase):
        raise TypeError(f"{name}(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")


@composite(methods=True)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether |input - other| <= `atol` + `rtol` * |other| holds everywhere, as a Python bool. NaN equals NaN only if
    `equal_nan`.

    >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-6])), torch.allclose(torch.ones(1), torch.zeros(1))
    (True, False)
    """
    return bool(all(isclose(input, other, rtol, atol, equal_nan)))


@composite(methods=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether `input` and `other` have the same sizes and elements, as a Python bool. NaN equals nothing.

    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2])), torch.equal(torch.ones(1), torch.ones(2))
    (True, False)
    """
    _check_tensor("equal", other)
    return input.sizes == other.sizes and bool(all(eq(input, other)))


@composite(methods=True)
def dist(input: Tensor, other: Tensor, p: float = 2) -> Any:
    """The p-norm of input - other."""
    return linalg_vector_norm(input - other, p)
