"""Keeping gradients from becoming too large.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0, 1.0]))
>>> (w * tensor([30.0, 40.0])).sum().backward()
>>> clip_grad_norm_([w], max_norm=5.0), w.grad
(tensor(50.), tensor([3.0000, 4.0000]))
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.control import is_compiling
from minitorch_compile.tensor import Tensor, float32, no_grad, ops, tensor
from minitorch_compile.tensor.dispatch.plain_arrays import unseen_arrays
from minitorch_compile.user_warnings import warn_user

Parameters = Tensor | Iterable[Tensor]
FLOAT32 = np.dtype(np.float32)
BLOCK = 1 << 15  # numbers whose squares are added up in float32


def _gradients(parameters: Parameters) -> list[Any]:
    all_of_them = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in all_of_them if p.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Parameters, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """The norm of all elements of the tensors, as if they were one vector. 0 for no tensors.

    `foreach` has no effect: there is one way to compute it.
    """
    several = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    total = _length(several) if norm_type == 2 else None
    if total is None:
        total = _total_of_norms(several, float(norm_type))
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be"
            " clipped. To disable this error and scale the gradients by the non-finite norm anyway, set"
            " `error_if_nonfinite=False`"
        )
    return total


def _total_of_norms(tensors: Sequence[Tensor], norm_type: float) -> Any:
    norms = [ops.linalg_vector_norm(x, norm_type) for x in tensors]
    return ops.linalg_vector_norm(ops.stack(norms), norm_type) if norms else tensor(0.0)


def _length(tensors: Sequence[Tensor]) -> Any:
    """The 2-norm by BLAS, in blocks that are added up in float64; None for what isn't float32 and dense in main
    memory, and for what overflows."""
    arrays = None if is_compiling() else unseen_arrays(tensors)
    if not arrays or not all(x.dtype is FLOAT32 and x.flags.forc for x in arrays):
        return None
    with np.errstate(all="ignore"):
        total = math.sqrt(sum(_sum_of_squares(x.ravel(order="K")) for x in arrays))
    return tensor(total, dtype=float32) if math.isfinite(total) else None


def _sum_of_squares(x: np.ndarray) -> float:
    return sum(float(np.dot(part, part)) for part in (x[i : i + BLOCK] for i in range(0, x.size, BLOCK)))


@no_grad()
def clip_grads_with_norm_(
    parameters: Parameters, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales all gradients, in place, by what makes a total norm of `total_norm` at most `max_norm`."""
    # Always multiplied, by 1 if nothing is to clip: no decision that depends on data, so the step can be compiled.
    factor = ops.clamp(max_norm / (total_norm + 1e-6), max=1.0)
    grads = _gradients(parameters)
    arrays = None if is_compiling() else unseen_arrays([factor, *grads])
    if arrays is None or not all(x.dtype is arrays[0].dtype and x.flags.forc for x in arrays):
        for g in grads:
            g.mul_(factor)
        return
    with np.errstate(all="ignore"):
        for g, array in zip(grads, arrays[1:], strict=True):
            np.multiply(array, arrays[0], out=array)
            g.storage.version += 1


@no_grad()
def clip_grad_norm_(
    parameters: Parameters,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scales the gradients of `parameters`, in place, so that their total norm is at most `max_norm`. Returns the norm
    before.

    `norm_type`: the order of the norm. `error_if_nonfinite`: RuntimeError if it is inf or NaN. `foreach` changes how it
    is computed in PyTorch, not what.

    >>> w = torch.nn.Parameter(torch.zeros(2))
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> torch.nn.utils.clip_grad_norm_([w], max_norm=1.0), w.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    of = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(of), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(of, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Parameters,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Deprecated: the old name of clip_grad_norm_."""
    warn_user(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters: Parameters, clip_value: float, foreach: bool | None = None) -> None:
    """Limits every element of the gradients, in place, to +-clip_value."""
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)
