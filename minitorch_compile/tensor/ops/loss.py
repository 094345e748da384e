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
from minitorch_compile.tensor.ops.creation import to
from minitorch_compile.tensor.ops.indexing import gather
from minitorch_compile.tensor.ops.pointwise import eq, mul, neg, where
from minitorch_compile.tensor.ops.reduction import log_softmax, mean, sum
from minitorch_compile.tensor.ops.view import squeeze, unsqueeze

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
    dim = 1 if len(input.sizes) > 1 else 0
    counted = eq(target, ignore_index)
    safe = where(counted, 0, target)
    loss = neg(squeeze(gather(input, dim, unsqueeze(safe, dim)), dim))
    weights = _class_weights(input, safe, weight, counted)
    loss = mul(loss, weights)
    if reduction == "mean":
        return sum(loss) / sum(weights)
    return reduced(loss, reduction)


def _class_weights(input: Any, target: Any, weight: Any, ignored: Any) -> Any:
    """What each target counts: its class weight, or 1; 0 where ignored."""
    if weight is None:
        return to(eq(ignored, False), input.dtype)
    chosen = gather(weight, 0, target.reshape(-1)).reshape(target.sizes)
    return where(ignored, 0.0, chosen)


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
    """-log softmax(input)[target]: input holds scores (N, C, ...), target classes (N, ...) or probabilities like
    input."""
    dim = 1 if len(input.sizes) > 1 else 0
    log_probabilities = log_softmax(input, dim)
    if target.dtype.category >= FLOATING:
        loss = neg(sum(mul(log_probabilities, target), dim))
        return reduced(loss, reduction)
    loss = nll_loss(log_probabilities, target, weight, ignore_index, reduction)
    if label_smoothing == 0.0:
        return loss
    if weight is not None or reduction != "mean":
        raise RuntimeError(
            "cross_entropy: label_smoothing is supported with reduction='mean' and no weight; mix the targets as"
            " probabilities instead"
        )
    counted = to(eq(eq(target, ignore_index), False), input.dtype)
    uniform = neg(sum(mul(mean(log_probabilities, dim), counted)) / sum(counted))
    return loss * (1 - label_smoothing) + uniform * label_smoothing


@composite(torch=False, functional=True)
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    """The squared difference."""
    difference = input - target
    return reduced(mul(difference, difference), reduction)
