"""Losses for numbers: how far a prediction is from its target, and the likelihoods that lead to such distances.

>>> from minitorch_compile import tensor
>>> x, y = tensor([1.0, 5.0]), tensor([2.0, 2.0])
>>> mse_loss(x, y), l1_loss(x, y), smooth_l1_loss(x, y, reduction="none")
(tensor(5.), tensor(2.), tensor([0.5000, 2.5000]))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.nn.functional.loss_reduction import check_reduction, reduced, reduction_word, weighted_mean
from minitorch_compile.symbolic import expect_equal_sizes
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.ops.checked_values import checked
from minitorch_compile.user_warnings import warn_user


def _warn_of_broadcasting(input: Any, target: Any) -> None:
    if not expect_equal_sizes(input.sizes, target.sizes):
        warn_user(
            f"Using a target size ({target.sizes}) that is different to the input size ({input.sizes}). This will"
            " likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )


@functional()
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Any:
    """The squared difference."""
    _warn_of_broadcasting(input, target)
    difference = input - target
    return _reduce(difference * difference, weight, reduction_word(size_average, reduce, reduction))


@functional()
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Any:
    """The absolute difference."""
    _warn_of_broadcasting(input, target)
    return _reduce(ops.abs(input - target), weight, reduction_word(size_average, reduce, reduction))


def _reduce(loss: Any, weight: Any, reduction: str) -> Any:
    return reduced(loss, reduction) if weight is None else weighted_mean(loss, weight, reduction)


@functional()
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """The absolute difference less beta / 2, rounded off to a parabola within beta of 0. RuntimeError for beta < 0."""
    _warn_of_broadcasting(input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    difference = input - target
    distance = ops.abs(difference)
    if beta == 0:
        loss = distance
    else:
        loss = ops.where(distance < beta, difference * difference * (0.5 / beta), distance - 0.5 * beta)
    return reduced(loss, reduction_word(size_average, reduce, reduction))


@functional()
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Any:
    """delta times smooth_l1_loss with beta = delta (Huber 1964). RuntimeError unless delta > 0."""
    _warn_of_broadcasting(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    difference = input - target
    distance = ops.abs(difference)
    loss: Any = ops.where(distance <= delta, 0.5 * difference * difference, delta * (distance - 0.5 * delta))
    return _reduce(loss, weight, reduction)


# ---------------------------------------------------------------------------------------------------- likelihoods


@functional()
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """The Kullback-Leibler divergence, target * (log target - input), where input holds log-probabilities.

    `log_target`: target holds logarithms, too. reduction="batchmean" divides the sum by the number of rows: it is the
    divergence as defined.
    """
    word = reduction_word(size_average, reduce, reduction)
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        loss = _times_its_log(target) - target * input
    if word == "batchmean":
        return ops.sum(loss) / input.sizes[0] if input.sizes else ops.sum(loss)
    return reduced(loss, word)


def _times_its_log(x: Any) -> Any:
    """x log x, which is 0 at 0."""
    return x * ops.log(ops.where(x == 0, 1.0, x))


@functional()
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood of counts: `input` is the logarithm of the rate, or the rate if not `log_input`.

    `full` adds Stirling's approximation of log(target!) where target > 1.
    """
    word = reduction_word(size_average, reduce, reduction)
    check_reduction(word)
    loss = ops.exp(input) - target * input if log_input else input - target * ops.log(input + eps)
    if full:
        stirling = target * ops.log(target) - target + 0.5 * ops.log(2 * math.pi * target)
        loss = loss + ops.where(target <= 1, 0.0, stirling)
    return reduced(loss, word)


@functional()
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood of `target` under normal distributions of mean `input` and variance `var`.

    `var` is a number, or has the sizes of input, perhaps without the last dimension or with size 1 there; below `eps`
    it counts as `eps`. `full` adds log(2 pi) / 2. ValueError for negative variances or other sizes.
    """
    var = _at_least(_variance(input, var), eps)
    check_reduction(reduction)
    loss = 0.5 * (ops.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _variance(input: Any, var: Any) -> Any:
    """`var` as a tensor that broadcasts with input."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return ops.full_like(input, var)
    if not var.is_fake and bool(ops.any(var < 0)):
        raise ValueError("var has negative entry/entries")
    if tuple(var.sizes) == tuple(input.sizes):
        return var
    if tuple(var.sizes) == tuple(input.sizes[:-1]):
        return ops.unsqueeze(var, -1)
    if len(var.sizes) == len(input.sizes):
        differing = [n for n, m in zip(var.sizes, input.sizes, strict=True) if n != m]
        if differing == [1]:
            return var
    raise ValueError(f"var is of incorrect size: {list(var.sizes)} for input of sizes {list(input.sizes)}")


def _at_least(var: Any, eps: float) -> Any:
    """The value is clamped; the gradient passes as if it weren't."""
    value = var.detach()
    return var + (ops.clamp(checked(value, value >= 0), min=eps) - value)
