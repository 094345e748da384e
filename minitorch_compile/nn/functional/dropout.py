"""Dropout, of elements and of whole channels.

>>> from minitorch_compile import ones
>>> dropout(ones(3), training=False), dropout(ones(3), p=1.0)
(tensor([1., 1., 1.]), tensor([0., 0., 0.]))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.user_warnings import warn_user


def _check(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _dropped(op: Callable[..., Any], input: Any, p: float, training: bool, inplace: bool) -> Any:
    _check(p)
    result = op(input, p, training)
    return input.copy_(result) if inplace and result is not input else result


@functional()
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Each element is 0 with probability `p`, else divided by 1 - p, so that the expectation stays. Only in `training`;
    else the input. `inplace` overwrites the input.

    ValueError unless 0 <= p <= 1.

    >>> torch.nn.functional.dropout(torch.ones(3), p=0.5, training=False)
    tensor([1., 1., 1.])
    """
    return _dropped(ops.dropout, input, p, training, inplace)


@functional()
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """The dropout for selu: mean and variance stay what they are (Klambauer et al. 2017)."""
    return _dropped(ops.alpha_dropout, input, p, training, inplace)


@functional()
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """alpha_dropout of whole channels: input (N, C, ...)."""
    return _dropped(ops.feature_alpha_dropout, input, p, training, inplace)


@functional()
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """dropout of whole channels: input (N, C, L) or (C, L). RuntimeError for other inputs."""
    _check(p)
    ndim = len(input.sizes)
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Use dropout to drop single elements."
        )
    return _of_channels(input, 3, p, training, inplace)


@functional()
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """dropout of whole channels: input (N, C, H, W); three dimensions count as (N, C, L), with a warning."""
    _check(p)
    ndim = len(input.sizes)
    if ndim not in (3, 4):
        warn_user(
            f"dropout2d: Received a {ndim}-D input to dropout2d, which is deprecated. Use dropout to drop single"
            " elements."
        )
    if ndim == 3:
        warn_user(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired"
            " - input is interpreted as shape (N, C, L). Please use dropout1d for it."
        )
    return _dropped(ops.feature_dropout, input, p, training, inplace)


@functional()
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """dropout of whole channels: input (N, C, D, H, W) or (C, D, H, W)."""
    _check(p)
    ndim = len(input.sizes)
    if ndim not in (4, 5):
        warn_user(
            f"dropout3d: Received a {ndim}-D input to dropout3d, which is deprecated. Use dropout to drop single"
            " elements."
        )
    return _of_channels(input, 5, p, training, inplace)


def _of_channels(input: Any, batched: int, p: float, training: bool, inplace: bool) -> Any:
    """feature_dropout; an input that hasn't the `batched` number of dimensions is one sample."""
    if len(input.sizes) == batched:
        return _dropped(ops.feature_dropout, input, p, training, inplace)
    sample = ops.unsqueeze(input, 0)
    dropped = _dropped(ops.feature_dropout, sample, p, training, inplace)
    return input if dropped is sample or inplace else ops.squeeze(dropped, 0)
