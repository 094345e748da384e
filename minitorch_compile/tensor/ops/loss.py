"""Losses.

>>> from minitorch_compile.tensor import tensor
>>> cross_entropy(tensor([[2.0, 0.0], [0.0, 2.0]]), tensor([0, 1]))
tensor(0.1269)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.declare import composite
from minitorch_compile.tensor.dtype import FLOATING
from minitorch_compile.tensor.op import Tensor
from minitorch_compile.tensor.ops.indexing import gather
from minitorch_compile.tensor.ops.pointwise import eq, logical_not, mul, neg, where
from minitorch_compile.tensor.ops.reduction import log_softmax, mean, sum
from minitorch_compile.tensor.ops.view import reshape, squeeze, unsqueeze, view_op

REDUCTIONS = ("none", "mean", "sum")


def reduced(loss: Any, reduction: str) -> Any:
    """The loss of each element as it is, averaged or added up. ValueError for another word."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction; choose one of {', '.join(REDUCTIONS)}")
    return loss if reduction == "none" else mean(loss) if reduction == "mean" else sum(loss)


@composite(torch=False, functional=True)
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    """The negative log-likelihood: -input[i][target[i]] for log-probabilities (N, C, ...) and classes (N, ...).

    `weight` scales each class; targets equal to `ignore_index` count nothing. The mean is over the weights that count.
    """
    _check_classes(input, target)
    dim = class_dim(input)
    ignored = eq(target, ignore_index)
    safe = where(ignored, 0, target)
    loss = neg(squeeze(gather(input, dim, unsqueeze(safe, dim)), dim))
    weights = _weights(safe, ignored, weight)
    if weight is not None:
        loss = mul(loss, weights)
    return _reduced_by_weight(where(ignored, 0.0, loss), weights, reduction)


def class_dim(input: Any) -> int:
    """Where the classes are: the second dimension, or the only one."""
    return 1 if len(input.sizes) > 1 else 0


def _weights(target: Any, ignored: Any, weight: Any) -> Any:
    """What each target counts: its class weight, or 1 (True); 0 where ignored."""
    if weight is None:
        return logical_not(ignored)
    return where(ignored, 0.0, view_op(gather(weight, 0, reshape(target, (-1,))), target.sizes))


def _reduced_by_weight(loss: Any, weights: Any, reduction: str) -> Any:
    return sum(loss) / sum(weights) if reduction == "mean" else reduced(loss, reduction)


def _check_classes(input: Any, target: Any) -> None:
    if target.dtype.category >= FLOATING:
        raise RuntimeError(f"nll_loss: expected scalar type Long for target but found {target.dtype}")
    expected = (*input.sizes[:1], *input.sizes[2:]) if len(input.sizes) > 1 else ()
    if tuple(target.sizes) != tuple(expected):
        raise ValueError(
            f"cross_entropy/nll_loss: expected target of sizes {list(expected)} for input of sizes"
            f" {list(input.sizes)}, got {list(target.sizes)}"
        )


@composite(torch=False, functional=True)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """-log softmax(input)[target]: input holds scores (N, C, ...), target classes (N, ...) or probabilities.

    `label_smoothing` is the share of each target that is spread evenly over all classes.
    """
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    log_probabilities = log_softmax(input, class_dim(input))
    if target.dtype.category >= FLOATING:
        return _of_probabilities(log_probabilities, target, weight, reduction, label_smoothing)
    loss = nll_loss(log_probabilities, target, weight, ignore_index, reduction)
    if label_smoothing == 0.0:
        return loss
    uniform = _of_all_classes(log_probabilities, target, weight, ignore_index, reduction)
    return loss * (1 - label_smoothing) + uniform * (label_smoothing / input.sizes[class_dim(input)])


def _of_probabilities(log_probabilities: Any, target: Any, weight: Any, reduction: str, label_smoothing: float) -> Any:
    """The loss for targets that are distributions over the classes."""
    if tuple(target.sizes) != tuple(log_probabilities.sizes):
        raise RuntimeError(
            f"cross_entropy: probabilities must have the sizes of input, {list(log_probabilities.sizes)}, got"
            f" {list(target.sizes)}"
        )
    dim = class_dim(log_probabilities)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / log_probabilities.sizes[dim]
    return reduced(neg(sum(mul(_scaled(log_probabilities, weight), target), dim)), reduction)


def _of_all_classes(log_probabilities: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """The loss as if every class were the target."""
    ignored = eq(target, ignore_index)
    loss = where(ignored, 0.0, neg(sum(_scaled(log_probabilities, weight), class_dim(log_probabilities))))
    return _reduced_by_weight(loss, _weights(where(ignored, 0, target), ignored, weight), reduction)


def _scaled(log_probabilities: Any, weight: Any) -> Any:
    """The log-probabilities, each class times its weight."""
    if weight is None:
        return log_probabilities
    ndim, dim = len(log_probabilities.sizes), class_dim(log_probabilities)
    return mul(log_probabilities, reshape(weight, tuple(-1 if d == dim else 1 for d in range(ndim))))


@composite(torch=False, functional=True)
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    """The squared difference."""
    difference = input - target
    return reduced(mul(difference, difference), reduction)
