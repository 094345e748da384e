"""Losses for classes, chosen by number or given as probabilities.

>>> from minitorch_compile import tensor
>>> scores, classes = tensor([[2.0, 0.0], [0.0, 2.0]]), tensor([0, 1])
>>> cross_entropy(scores, classes), nll_loss(scores, classes)
(tensor(0.1269), tensor(-2.))
>>> binary_cross_entropy_with_logits(tensor([2.0, -2.0]), tensor([1.0, 0.0]))
tensor(0.1269)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.functional.loss_reduction import check_reduction, reduced, reduction_word
from minitorch_compile.symbolic import expect_equal
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.numerics.dtype import FLOATING, int64, uint8

# ---------------------------------------------------------------------------------------------------- one of many


@functional()
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood: -input[i][target[i]] for log-probabilities (N, C, ...) or (C,) and classes (N, ...).

    `weight` scales each class; targets equal to `ignore_index` count nothing. The mean is over the weights that count.
    `reduction`: "mean", "sum" or "none". IndexError for a class that isn't there.

    >>> torch.nn.functional.nll_loss(torch.tensor([[-1.0, -2.0], [-3.0, -4.0]]), torch.tensor([0, 1]))
    tensor(2.5000)
    """
    reduction = reduction_word(size_average, reduce, reduction)
    check_reduction(reduction)
    _check_classes(input, target, weight, ignore_index)
    dim = class_dim(input)
    target = target.long().contiguous()  # a loss for each target is contiguous, however the targets lie
    if dim == 0:
        target = ops.reshape(target, ())
    if weight is None and _surely_without(ignore_index, target):
        return reduced(-_chosen(input, dim, target), reduction)
    ignored = ops.eq(target, ignore_index)
    safe = ops.where(ignored, 0, target)
    loss = -_chosen(input, dim, safe)
    weights = _weights(safe, ignored, weight)
    if weight is not None:
        loss = loss * weights
    return _reduced_by_weight(ops.where(ignored, 0.0, loss), weights, reduction)


def _chosen(input: Any, dim: int, target: Any) -> Any:
    """input[i][target[i]]."""
    return ops.squeeze(ops.gather(input, dim, ops.unsqueeze(target, dim)), dim)


def _surely_without(ignore_index: int, target: Any) -> bool:
    """Whether no target is to be ignored, as far as can be told: the data may not be there yet, or not be in main
    memory, and waiting for a device costs more than it saves."""
    if target.is_fake or target.storage.block is not None:
        return False
    return not (target.array == ignore_index).any()


def class_dim(input: Any) -> int:
    """Where the classes are: the second dimension, or the only one."""
    return 1 if len(input.sizes) > 1 else 0


def _weights(target: Any, ignored: Any, weight: Any) -> Any:
    """What each target counts: its class weight, or 1 (True); 0 where ignored."""
    if weight is None:
        return ops.logical_not(ignored)
    chosen = ops.gather(weight, 0, ops.reshape(target, (-1,)))
    return ops.where(ignored, 0.0, ops.view(chosen, tuple(target.sizes)))


def _reduced_by_weight(loss: Any, weights: Any, reduction: str) -> Any:
    return ops.sum(loss) / ops.sum(weights) if reduction == "mean" else reduced(loss, reduction)


def _check_classes(input: Any, target: Any, weight: Any, ignore_index: int) -> None:
    if target.dtype not in (int64, uint8):
        raise RuntimeError(f"nll_loss: expected scalar type Long for target but found {target.dtype}; call .long()")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"nll_loss: expected log-probabilities, got input of {input.dtype}; call .float()")
    if not input.sizes:
        raise ValueError("nll_loss: expected 1 or more dimensions for input (got 0)")
    _check_target_sizes(input, target)
    classes = input.sizes[class_dim(input)]
    if weight is not None and tuple(weight.sizes) != (classes,):
        raise RuntimeError(
            "nll_loss: weight tensor should be defined either for all classes or no classes: expected sizes"
            f" [{classes}], got {list(weight.sizes)}"
        )
    # While it is traced, nothing is wrong yet; on a device, the kernel that chooses by it looks at each.
    if not (target.is_fake or stacks.modes or target.storage.block is not None) and 0 not in target.sizes:
        _check_range(target.array, classes, ignore_index)


def _check_target_sizes(input: Any, target: Any) -> None:
    if len(input.sizes) > 1 and target.sizes and not expect_equal(input.sizes[0], target.sizes[0]):
        raise ValueError(
            f"Expected input batch_size ({input.sizes[0]}) to match target batch_size ({target.sizes[0]})."
        )
    expected = (*input.sizes[:1], *input.sizes[2:]) if len(input.sizes) > 1 else ()
    if tuple(target.sizes) == tuple(expected) or (len(input.sizes) == 1 and tuple(target.sizes) == (1,)):
        return
    message = f"expected target of sizes {list(expected)} for input of sizes {list(input.sizes)}"
    raise RuntimeError(f"cross_entropy/nll_loss: {message}, got {list(target.sizes)}")


def _check_range(target: Any, classes: int, ignore_index: int) -> None:
    lowest, highest = target.min(), target.max()
    if lowest >= 0 and highest < classes:
        return
    outside = target[((target < 0) | (target >= classes)) & (target != ignore_index)]
    if outside.size:
        raise IndexError(f"nll_loss: Target {outside[0]} is out of bounds for {classes} classes")


@functional()
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """-log softmax(input)[target]: input holds scores (N, C, ...) or (C,), `target` classes (N, ...) or probabilities.

    `weight` scales each class; targets equal to `ignore_index` count nothing. `label_smoothing` is the share of each
    target that is spread evenly over all classes. RuntimeError unless it is within [0, 1]. `reduction`: "mean", "sum"
    or "none".

    >>> torch.nn.functional.cross_entropy(torch.tensor([[0.0, 0.0], [100.0, 0.0]]), torch.tensor([1, 0]))
    tensor(0.3466)
    """
    word = reduction_word(size_average, reduce, reduction)
    check_reduction(word)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    log_probabilities = ops.log_softmax(input, class_dim(input))
    if len(target.sizes) == len(input.sizes) and tuple(target.sizes) == tuple(input.sizes):
        if ignore_index >= 0:
            raise RuntimeError("cross_entropy: ignore_index is not supported for floating point target")
        return _of_probabilities(log_probabilities, target, weight, word, label_smoothing)
    loss = nll_loss(log_probabilities, target, weight, ignore_index=ignore_index, reduction=word)
    if label_smoothing == 0.0:
        return loss
    uniform = _of_all_classes(log_probabilities, target, weight, ignore_index, word)
    return loss * (1 - label_smoothing) + uniform * (label_smoothing / input.sizes[class_dim(input)])


def _of_probabilities(log_probabilities: Any, target: Any, weight: Any, reduction: str, label_smoothing: float) -> Any:
    """The loss for targets that are distributions over the classes."""
    if target.dtype.category < FLOATING:
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {target.dtype}")
    dim = class_dim(log_probabilities)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / log_probabilities.sizes[dim]
    return reduced(-ops.sum(_scaled(log_probabilities, weight) * target, dim), reduction)


def _of_all_classes(log_probabilities: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """The loss as if every class were the target."""
    ignored = ops.eq(target, ignore_index)
    total = -ops.sum(_scaled(log_probabilities, weight), class_dim(log_probabilities))
    weights = _weights(ops.where(ignored, 0, target), ignored, weight)
    return _reduced_by_weight(ops.where(ignored, 0.0, total), weights, reduction)


def _scaled(log_probabilities: Any, weight: Any) -> Any:
    """The log-probabilities, each class times its weight."""
    if weight is None:
        return log_probabilities
    ndim, dim = len(log_probabilities.sizes), class_dim(log_probabilities)
    if tuple(weight.sizes) != (log_probabilities.sizes[dim],):
        raise RuntimeError(
            "cross_entropy: weight tensor should be defined either for all classes or no classes: expected sizes"
            f" [{log_probabilities.sizes[dim]}], got {list(weight.sizes)}"
        )
    return log_probabilities * ops.reshape(weight, tuple(-1 if d == dim else 1 for d in range(ndim)))


# ---------------------------------------------------------------------------------------------------- yes or no


@functional()
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """-(y log x + (1 - y) log(1 - x)) for probabilities x and targets y; the logarithms end at -100.

    ValueError for other sizes of target, RuntimeError for another dtype, or for x outside [0, 1].
    """
    word = reduction_word(size_average, reduce, reduction)
    check_reduction(word)
    if tuple(target.sizes) != tuple(input.sizes):
        raise ValueError(
            f"Using a target size ({target.sizes}) that is different to the input size ({input.sizes}) is deprecated."
            " Please ensure they have the same size."
        )
    if target.dtype is not input.dtype:
        raise RuntimeError(f"binary_cross_entropy: Found dtype {target.dtype} but expected {input.dtype}")
    loss = ops.binary_cross_entropy(input, target)
    return reduced(loss if weight is None else loss * weight, word)


@functional()
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Any:
    """binary_cross_entropy of sigmoid(input), without leaving the range of floats; `pos_weight` scales what the
    targets of 1 count. ValueError for other sizes of target."""
    word = reduction_word(size_average, reduce, reduction)
    check_reduction(word)
    if tuple(target.sizes) != tuple(input.sizes):
        raise ValueError(f"Target size ({target.sizes}) must be the same as input size ({input.sizes})")
    log_sigmoid = ops.log_sigmoid(input)
    if pos_weight is not None:
        log_sigmoid = ((pos_weight - 1) * target + 1) * log_sigmoid
    loss = (1 - target) * input - log_sigmoid
    return reduced(loss if weight is None else loss * weight, word)


@functional()
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """binary_cross_entropy_with_logits, averaged over the classes, the last dimension."""
    word = reduction_word(size_average, reduce, reduction)
    loss = -(target * ops.log_sigmoid(input) + (1 - target) * ops.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(ops.sum(loss, -1) / input.sizes[-1], word)


@functional()
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """log(1 + exp(-input * target)) for targets of 1 and -1."""
    return reduced(-ops.log_sigmoid(target * input), reduction_word(size_average, reduce, reduction))
