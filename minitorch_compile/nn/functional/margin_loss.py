"""Losses that ask for a margin: what is right must score higher than what is wrong, by at least so much.

>>> from minitorch_compile import tensor
>>> margin_ranking_loss(tensor([1.0]), tensor([3.0]), tensor([1]), margin=0.5)
tensor(2.5000)
>>> multi_margin_loss(tensor([[0.1, 0.2, 0.9]]), tensor([2]))
tensor(0.1667)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.nn.functional.loss_reduction import check_reduction, reduced, reduction_word
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional


@functional()
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """A distance x where the target is 1 (alike), and max(0, margin - x) where it is -1."""
    if_alike = ops.where(target != -1, input, 0.0)
    if_not = ops.where(target != 1, ops.clamp(margin - input, min=0), 0.0)
    return reduced(if_alike + if_not, reduction_word(size_average, reduce, reduction))


@functional()
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """1 - cosine of the rows (N, D) or (D,) where the target is 1 (alike), and max(0, cosine - margin) where it is
    -1."""
    word = reduction_word(size_average, reduce, reduction)
    check_reduction(word)
    if len(target.sizes) > 1 or len(input1.sizes) != len(target.sizes) + 1 or len(input2.sizes) != len(input1.sizes):
        raise RuntimeError(
            "cosine_embedding_loss: expected inputs (N, D) with target (N,), or (D,) with target (), got"
            f" {list(input1.sizes)}, {list(input2.sizes)} and {list(target.sizes)}"
        )
    epsilon = 1e-12
    squares1, squares2 = ops.sum(input1 * input1, -1) + epsilon, ops.sum(input2 * input2, -1) + epsilon
    cosine = ops.sum(input1 * input2, -1) / ops.sqrt(squares1 * squares2)
    if_alike = ops.where(target == 1, 1 - cosine, 0.0)
    if_not = ops.where(target == -1, ops.clamp(cosine - margin, min=0), 0.0)
    return reduced(if_alike + if_not, word)


@functional()
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """max(0, -target * (input1 - input2) + margin): a target of 1 wants input1 to be the larger one."""
    word = reduction_word(size_average, reduce, reduction)
    ndims = {len(x.sizes) for x in (input1, input2, target)}
    if len(ndims) != 1:
        raise RuntimeError(
            "margin_ranking_loss: All input tensors should have same dimension but got sizes: input1:"
            f" {input1.sizes}, input2: {input2.sizes}, target: {target.sizes}"
        )
    return reduced(ops.clamp(-target * (input1 - input2) + margin, min=0), word)


# ---------------------------------------------------------------------------------------------------- triplets


@functional()
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """max(0, |anchor - positive| - |anchor - negative| + margin), with the p-norm. ValueError unless margin > 0.

    `swap`: the negative may be nearer to the positive than to the anchor; then that distance counts.
    """
    word = reduction_word(size_average, reduce, reduction)
    return _triplet(anchor, positive, negative, lambda a, b: ops.pairwise_distance(a, b, p, eps), margin, swap, word)


@functional()
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """triplet_margin_loss with any distance; pairwise_distance if none is given."""
    distance = ops.pairwise_distance if distance_function is None else distance_function
    return _triplet(anchor, positive, negative, distance, margin, swap, reduction)


def _triplet(
    anchor: Any, positive: Any, negative: Any, distance: Callable, margin: float, swap: bool, reduction: str
) -> Any:
    check_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    ndims = [len(x.sizes) for x in (anchor, positive, negative)]
    if len(set(ndims)) != 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got:"
            f" anchor {ndims[0]}D, positive {ndims[1]}D, and negative {ndims[2]}D inputs"
        )
    to_negative = distance(anchor, negative)
    if swap:
        to_negative = ops.minimum(to_negative, distance(positive, negative))
    return reduced(ops.clamp(margin + distance(anchor, positive) - to_negative, min=0), reduction)


# ---------------------------------------------------------------------------------------------------- many classes


@functional()
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The mean over the other classes of max(0, margin - x[target] + x[class])^p, times the target's weight.

    `input` (N, C) or (C,), `target` (N,) or (). ValueError unless p is 1 or 2.
    """
    word = reduction_word(size_average, reduce, reduction)
    check_reduction(word)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: only p == 1 and p == 2 supported, got {p}")
    rows, classes = _rows_of_classes("multi_margin_loss", input)
    targets = ops.reshape(target, (-1, 1))
    if targets.sizes[0] != rows.sizes[0]:
        raise RuntimeError(
            f"multi_margin_loss: inconsistent target size, expected {rows.sizes[0]} but got {list(target.sizes)}"
        )
    excess = ops.clamp(margin - ops.gather(rows, 1, targets) + rows, min=0)
    if p == 2:
        excess = excess * excess
    if weight is not None:
        excess = excess * ops.reshape(ops.gather(weight, 0, ops.reshape(target, (-1,))), (-1, 1))
    others = ops.arange(classes) != targets
    loss = ops.sum(ops.where(others, excess, 0.0), 1) / classes
    return reduced(loss if len(input.sizes) > 1 else ops.reshape(loss, ()), word)


@functional()
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The mean over classes of max(0, 1 - x[target] + x[class]), over all targets and all classes that aren't.

    A row of `target`, which has the sizes of input, lists its classes and ends at the first -1.
    """
    word = reduction_word(size_average, reduce, reduction)
    check_reduction(word)
    if tuple(target.sizes) != tuple(input.sizes):
        raise RuntimeError(
            f"multilabel_margin_loss: inconsistent target size: {list(target.sizes)} for input of size:"
            f" {list(input.sizes)}"
        )
    rows, classes = _rows_of_classes("multilabel_margin_loss", input)
    listed = ops.reshape(target, tuple(rows.sizes))
    counts = ops.cumsum((listed < 0).long(), 1) == 0
    chosen = ops.where(counts, listed, 0)
    is_target = ops.scatter_add(ops.zeros_like(listed), 1, chosen, counts.long()) > 0
    excess = ops.clamp(1 - ops.unsqueeze(ops.gather(rows, 1, chosen), 2) + ops.unsqueeze(rows, 1), min=0)
    counted = ops.logical_and(ops.unsqueeze(counts, 2), ops.unsqueeze(ops.logical_not(is_target), 1))
    loss = ops.sum(ops.where(counted, excess, 0.0), (1, 2)) / classes
    return reduced(loss if len(input.sizes) > 1 else ops.reshape(loss, ()), word)


def _rows_of_classes(name: str, input: Any) -> tuple[Any, int]:
    """The scores as (N, C), and C."""
    if len(input.sizes) > 2:
        raise RuntimeError(f"{name}: Expected non-empty vector or matrix, got sizes {list(input.sizes)}")
    rows = ops.reshape(input, (-1, input.sizes[-1] if input.sizes else 1))
    return rows, rows.sizes[1]
