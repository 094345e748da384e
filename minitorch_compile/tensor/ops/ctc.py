"""Connectionist temporal classification (Graves et al. 2006): how likely is a sequence, over all its alignments?

An alignment says one label, or blank, at each time; repeated labels count once, blanks not at all. So it is a path
through "blank, label 1, blank, label 2, ..., blank", which at each time stays, goes one place on, or skips a blank
between two different labels. The sum over all paths is taken from the left, in logarithms, for all samples at once.

>>> import numpy as np
>>> even = np.log(np.full((2, 1, 2), 0.5))  # two times, blank and one label equally likely
>>> losses, _ = ctc_alignments.kernel(even, np.array([[1]]), np.array([2]), np.array([1]), 0)
>>> np.exp(-losses)  # "1 1", "1 blank" and "blank 1", but not "blank blank"
array([0.75])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("loss", torch=False)
def ctc_alignments(
    log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank: int
) -> tuple[Array, Array]:
    """(losses, log_alpha): the negative log-likelihood of each sample, and of each beginning of its paths.

    `log_probs` (T, N, C), `targets` (N, S), lengths (N,); `log_alpha` (T, N, 2 S + 1).
    """
    _, may_skip, emitted = _path(log_probs, targets, target_lengths, blank)
    times, samples, _ = emitted.shape
    alpha = np.full_like(emitted, -np.inf)
    if times:
        alpha[0, :, :2] = emitted[0, :, :2]
    for t in range(1, times):
        before = alpha[t - 1]
        alpha[t] = _sum_of_three(before, _later(before, 1), np.where(may_skip, _later(before, 2), -np.inf))
        alpha[t] += emitted[t]
    rows, last = np.arange(samples), np.maximum(input_lengths - 1, 0)
    if not times:
        return np.where(target_lengths == 0, 0.0, np.inf).astype(log_probs.dtype), alpha
    after_last_label = alpha[last, rows, 2 * target_lengths]
    at_last_label = alpha[last, rows, np.maximum(2 * target_lengths - 1, 0)]
    likelihood = np.where(target_lengths > 0, np.logaddexp(after_last_label, at_last_label), after_last_label)
    nothing_said = np.where(target_lengths == 0, 0.0, -np.inf)
    return -np.where(input_lengths > 0, likelihood, nothing_said).astype(log_probs.dtype), alpha


def _path(log_probs: Array, targets: Array, target_lengths: Array, blank: int) -> tuple[Array, Array, Array]:
    """(labels along each path, where a blank may be skipped to get there, log-probability at each time and place)."""
    samples, longest = targets.shape
    places = np.full((samples, 2 * longest + 1), blank, np.int64)
    places[:, 1::2] = targets
    inside = np.arange(2 * longest + 1) <= 2 * target_lengths[:, None]
    places = np.where(inside, places, blank)
    may_skip = np.zeros(places.shape, bool)
    may_skip[:, 3::2] = places[:, 3::2] != places[:, 1:-2:2]
    emitted = np.take_along_axis(log_probs, np.broadcast_to(places, (len(log_probs), *places.shape)), 2)
    return places, may_skip, np.where(inside, emitted, -np.inf).astype(log_probs.dtype)


def _later(x: Array, steps: int) -> Array:
    """What stood `steps` places before each place."""
    moved = np.full_like(x, -np.inf)
    moved[:, steps:] = x[:, : x.shape[1] - steps]
    return moved


def _sum_of_three(a: Array, b: Array, c: Array) -> Array:
    return np.logaddexp(np.logaddexp(a, b), c)


@ctc_alignments.shape_rule
def _alignments_rule(
    log_probs: TensorBase, targets: TensorBase, input_lengths: TensorBase, target_lengths: TensorBase, blank: int
) -> tuple[Any, Any]:
    times, samples, _ = log_probs.sizes
    return (
        empty_fake((samples,), None, log_probs.dtype),
        empty_fake((times, samples, 2 * targets.sizes[1] + 1), None, log_probs.dtype),
    )


@kernel_op("loss", torch=False)
def ctc_gradient(
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    losses: Array,
    log_alpha: Array,
    blank: int,
) -> Array:
    """The gradient of the losses by log_probs, less what their softmax would take off again: exp(log_probs) less the
    share of the paths that say each label at each time."""
    places, may_skip, emitted = _path(log_probs, targets, target_lengths, blank)
    beta = _log_beta(emitted, may_skip, input_lengths, target_lengths)
    shares = np.exp(log_alpha + beta - np.where(np.isinf(emitted), 0.0, emitted) + losses[:, None])
    said = np.zeros_like(log_probs)
    time, sample = np.ogrid[: len(log_probs), : len(targets)]
    np.add.at(said, (time[..., None], sample[..., None], places[None]), shares)
    result = (np.exp(log_probs) - said) * grad[:, None]
    heard = (np.arange(len(log_probs))[:, None] < input_lengths) & (grad != 0)
    return np.where(heard[..., None], result, 0.0).astype(log_probs.dtype)


def _log_beta(emitted: Array, may_skip: Array, input_lengths: Array, target_lengths: Array) -> Array:
    """The log-likelihood of each ending of the paths: from the right, as alpha is from the left."""
    times, _, width = emitted.shape
    place = np.arange(width)
    ends = (place == 2 * target_lengths[:, None]) | (place == 2 * target_lengths[:, None] - 1)
    beta = np.full_like(emitted, -np.inf)
    following = np.full_like(emitted[0], -np.inf) if times else emitted
    for t in range(times - 1, -1, -1):
        skipping = _earlier(np.where(may_skip, following, -np.inf), 2)
        onwards = _sum_of_three(following, _earlier(following, 1), skipping)
        at_end = (input_lengths - 1 == t)[:, None]
        following = beta[t] = np.where(at_end, np.where(ends, 0.0, -np.inf), onwards) + emitted[t]
    return beta


def _earlier(x: Array, steps: int) -> Array:
    """What stands `steps` places after each place."""
    moved = np.full_like(x, -np.inf)
    moved[:, : x.shape[1] - steps] = x[:, steps:]
    return moved


@ctc_gradient.shape_rule
def _gradient_rule(grad: TensorBase, log_probs: TensorBase, *rest: Any) -> TensorBase:
    return empty_fake(log_probs.sizes, None, log_probs.dtype)
