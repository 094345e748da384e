"""Leaving elements out: they get the value that makes no difference to an operation.

>>> from minitorch_compile import tensor
>>> left_out("amax", tensor([1.0, 5.0]), tensor([True, False]))
tensor([1., -inf])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd import Function
from minitorch_compile.masked.masked_tensor import as_masked_tensor, is_masked_tensor
from minitorch_compile.tensor import Tensor, bool_, ops
from minitorch_compile.tensor.memory.memory_format import strided
from minitorch_compile.tensor.numerics.dtype import dtype as DType
from minitorch_compile.tensor.numerics.dtype import uint8
from minitorch_compile.tensor.numerics.numeric_limits import iinfo

Dim = int | tuple[int, ...] | list[int] | None
INFINITY = float("inf")


def smallest(kind: DType) -> Any:
    """The value that no maximum notices. NotImplementedError if the dtype has no order."""
    if kind.is_floating_point:
        return -INFINITY
    if kind.is_complex or not (kind.is_signed or kind is uint8):
        raise NotImplementedError(
            f"identity of amax on {kind} input: the dtype has no smallest value; convert the input, as by .float()"
        )
    return iinfo(kind).min


def largest(kind: DType) -> Any:
    """The value that no minimum notices. NotImplementedError if the dtype has no order."""
    if kind.is_floating_point:
        return INFINITY
    if kind.is_complex or not (kind.is_signed or kind is uint8):
        raise NotImplementedError(
            f"identity of amin on {kind} input: the dtype has no largest value; convert the input, as by .float()"
        )
    return iinfo(kind).max


def _of_a_norm(kind: DType, ord: Any = 2.0) -> Any:
    if ord == -INFINITY and not kind.is_floating_point:
        raise AssertionError(f"input must be floating point, got {kind}")
    return INFINITY if ord == -INFINITY else 0


NEUTRAL: dict[str, Any] = {
    **dict.fromkeys(("sum", "cumsum"), lambda kind: 0),
    **dict.fromkeys(("prod", "cumprod"), lambda kind: 1),
    **dict.fromkeys(("amax", "argmax", "logaddexp"), smallest),
    **dict.fromkeys(("amin", "argmin"), largest),
    "logsumexp": lambda kind: -INFINITY if kind.is_complex else smallest(kind),
    "median": lambda kind: float("nan"),
    "norm": _of_a_norm,
}


class _LeaveOut(Function):
    """The data of a MaskedTensor; the gradient knows which elements count."""

    @staticmethod
    def forward(ctx: Any, data: Any, mask: Any, value: Any) -> Any:
        ctx.save_for_backward(mask)
        return ops.where(mask, data, value)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (mask,) = ctx.saved_tensors
        return as_masked_tensor(grad.get_data() if is_masked_tensor(grad) else grad, mask), None, None


def left_out(op: str, input: Any, mask: Any, *args: Any) -> Any:
    """The input with the neutral value of the operation where the mask is False, or where a MaskedTensor has none."""
    if input.layout is not strided:
        raise ValueError(f"masked {op} expects strided tensor (got {input.layout} tensor); give it to_dense()")
    if not is_masked_tensor(input) and mask is None:
        return input
    counted = input.get_mask() if is_masked_tensor(input) else mask_for(input, mask)
    value = ops.scalar_tensor(NEUTRAL[op](input.dtype, *args), dtype=input.dtype)
    if is_masked_tensor(input):
        return _LeaveOut.apply(input.get_data(), counted, value)
    return ops.where(counted, input, value)


def mask_for(input: Tensor, mask: Any) -> Any:
    """The mask with the sizes of the input. IndexError for one that has more dimensions."""
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    same = tuple(mask.shape) == tuple(input.shape)
    return (mask if same else mask.expand(input.shape)).to(bool_)


def canonical(dim: Dim, ndim: int) -> tuple[int, ...]:
    """The dimensions as sorted numbers from 0; all, if none is named. RuntimeError for one that is named twice."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    ndim, found = max(ndim, 1), list[int]()
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -ndim <= d < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
        found.append(d % ndim)
    return tuple(sorted(found))
