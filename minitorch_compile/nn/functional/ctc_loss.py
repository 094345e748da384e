"""The loss of connectionist temporal classification: see `tensor/ops/ctc.py` for what it sums over.

>>> from minitorch_compile import tensor
>>> even = tensor([[0.5, 0.5], [0.5, 0.5]]).log()  # two times, blank and one label equally likely
>>> ctc_loss(even, tensor([1]), tensor(2), tensor(1)).exp()
tensor(1.3333)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.functional.loss_reduction import check_reduction, reduced
from minitorch_compile.tensor import Tensor, as_tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.numerics.dtype import FLOATING, float32, float64, int64


@functional()
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """-log of the probability of `targets`, summed over all alignments, for log_probs (T, N, C) or (T, C).

    `targets`: (N, S), or all one after another in one dimension. The lengths say how much of each sample counts. The
    mean is of losses divided by target lengths. `zero_infinity`: a loss is 0 where no alignment fits. RuntimeError for
    lengths or sizes that don't fit together.
    """
    check_reduction(reduction)
    batched = len(log_probs.sizes) == 3
    if not batched:
        log_probs = ops.unsqueeze(log_probs, 1)
    input_lengths, target_lengths = _lengths("input", input_lengths), _lengths("target", target_lengths)
    _check(log_probs, input_lengths, target_lengths, blank)
    targets = _rows(targets.long(), target_lengths, batched)
    losses, _ = ops.ctc_alignments(log_probs, targets, input_lengths, target_lengths, blank)
    if zero_infinity:
        losses = ops.where(losses == float("inf"), 0.0, losses)
    if reduction == "mean":
        return ops.mean(losses / ops.clamp(target_lengths, min=1))
    return reduced(losses if batched else ops.squeeze(losses, 0), reduction)


def _lengths(name: str, lengths: Any) -> Any:
    """The lengths as an int64 vector."""
    lengths = as_tensor(lengths)
    if lengths.dtype.category >= FLOATING:
        raise RuntimeError(f"{name}_lengths must be integral, got {lengths.dtype}")
    return ops.reshape(lengths, (-1,)).to(int64)


def _check(log_probs: Any, input_lengths: Any, target_lengths: Any, blank: int) -> None:
    times, samples, classes = log_probs.sizes
    if log_probs.dtype not in (float32, float64):
        raise RuntimeError(f"ctc_loss: implemented for float32 and float64, got {log_probs.dtype}")
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range, 0 to {classes - 1}, got {blank}")
    for name, lengths in (("input", input_lengths), ("target", target_lengths)):
        if lengths.sizes[0] != samples:
            raise RuntimeError(f"{name}_lengths must be of size batch_size, {samples}, got {lengths.sizes[0]}")
        if not lengths.is_fake and samples and lengths.array.min() < 0:
            raise RuntimeError(f"Expected {name}_lengths to be non-negative, but got {lengths.array.min()}")
    if not input_lengths.is_fake and samples and input_lengths.array.max() > times:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {times}, but got value {input_lengths.array.max()}"
        )


def _rows(targets: Any, lengths: Any, batched: bool) -> Any:
    """The targets as (N, S)."""
    if len(targets.sizes) == 1 and batched:
        return _padded(targets, lengths)
    rows = targets if len(targets.sizes) == 2 else ops.unsqueeze(targets, 0)
    if not lengths.is_fake and lengths.sizes[0] and lengths.array.max() > rows.sizes[1]:
        raise RuntimeError(
            f"Expected tensor to have size at least {lengths.array.max()} at dimension 1, but got size"
            f" {rows.sizes[1]} for argument 'targets'"
        )
    return rows


def _padded(targets: Any, lengths: Any) -> Any:
    """Targets that stand one after another, as rows of the longest length."""
    total = int(ops.sum(lengths).item())
    if total != targets.sizes[0]:
        raise RuntimeError(
            f"Expected tensor to have size {total} at dimension 0, but got size {targets.sizes[0]} for argument"
            " 'targets'"
        )
    longest = int(ops.amax(lengths).item()) if lengths.sizes[0] else 0
    begins = ops.cumsum(lengths, 0) - lengths
    places = ops.unsqueeze(begins, 1) + ops.arange(longest)
    return ops.index(targets, [ops.clamp(places, max=max(total - 1, 0))]) if total else ops.zeros_like(places)
