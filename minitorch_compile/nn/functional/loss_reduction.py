"""What every loss does at its end: keep the loss of each element, average it, or add it up.

>>> from minitorch_compile import tensor
>>> reduced(tensor([1.0, 3.0]), "mean"), reduction_word(None, False, "mean")
(tensor(2.), 'none')
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor import ops
from minitorch_compile.user_warnings import warn_user

REDUCTIONS = ("none", "mean", "sum")


def reduction_word(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that PyTorch's two older parameters mean together; `reduction` itself if neither is given."""
    if size_average is None and reduce is None:
        return reduction
    word = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn_user(f"size_average and reduce are deprecated, please use reduction='{word}' instead.")
    return word


def reduced(loss: Any, reduction: str) -> Any:
    """The loss of each element as it is, averaged or added up. ValueError for another word."""
    check_reduction(reduction)
    return loss if reduction == "none" else ops.mean(loss) if reduction == "mean" else ops.sum(loss)


def check_reduction(reduction: str) -> None:
    """ValueError unless it is "none", "mean" or "sum"."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction; choose one of {', '.join(REDUCTIONS)}")


def weighted_mean(loss: Any, weight: Any, reduction: str) -> Any:
    """The loss times `weight`, which must have its sizes; the mean is divided by the sum of the weights."""
    if tuple(weight.sizes) != tuple(loss.sizes):
        raise ValueError(f"Weights and input must have the same size, got {list(weight.sizes)} and {list(loss.sizes)}")
    weighted = loss * weight
    return ops.sum(weighted) / ops.sum(weight) if reduction == "mean" else reduced(weighted, reduction)
