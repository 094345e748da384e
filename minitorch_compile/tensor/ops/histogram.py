"""Counting elements by value, and finding the bin that a value falls into.

>>> from minitorch_compile.tensor import tensor
>>> bincount(tensor([1, 1, 3])), histc(tensor([0.5, 1.0, 2.5]), bins=3, min=0, max=3)
(tensor([0, 2, 0, 1]), tensor([1., 1., 1.]))
>>> bucketize(tensor([1.5, 3.0]), tensor([1.0, 2.0, 3.0])), searchsorted(tensor([1, 2, 2, 5]), 2, right=True)
(tensor([1, 2]), tensor(3))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.numerics.dtype import BOOL, FLOATING, int32, int64
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.construct import tensor
from minitorch_compile.tensor.tensor_base import FakeDataError, TensorBase, empty_fake

# ------------------------------------------------------------------------------------------ counting


@kernel_op("sorting", methods=True)
def bincount(input: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    """How often each of 0, 1, ..., max(input) occurs, or the sum of its weights; at least `minlength` of them."""
    if input.size and input.min() < 0:
        raise RuntimeError(f"bincount only supports 1-d non-negative integral inputs, got {input.min()}")
    counts = np.bincount(input, weights, minlength)
    return counts.astype(np.float32) if input.size and weights is not None and weights.dtype == np.float32 else counts


bincount.shape_depends_on_data = True


@bincount.shape_rule
def _bincount_rule(input: TensorBase, weights: TensorBase | None = None, minlength: int = 0) -> Any:
    if input.dtype.category in (BOOL, FLOATING):
        raise NotImplementedError(f"bincount: implemented for integer tensors, got {input.dtype}; call .long() first")
    if len(input.sizes) != 1:
        raise RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs, got {input.dtype} of sizes {list(input.sizes)}"
        )
    if weights is not None:
        complex_support.refuse_complex("bincount", weights.dtype)
    if weights is not None and weights.sizes != input.sizes:
        raise RuntimeError(
            f"bincount: weights should be 1-d and have the same length as input, got {list(weights.sizes)} for"
            f" {list(input.sizes)}"
        )
    if minlength < 0:
        raise RuntimeError(f"bincount: minlength should be >= 0, got {minlength}")
    if input.is_fake:
        raise FakeDataError(
            "bincount: the size of the result depends on the data, which a fake tensor doesn't have;"
            " torch.zeros(n).index_add(0, input, ones) keeps the size"
        )
    return None


@kernel_op("sorting", methods=True)
def histc(input: Array, bins: int = 100, min: Scalar = 0, max: Scalar = 0) -> Array:
    """How many elements fall into each of `bins` equal intervals of [min, max]; others, and NaN, are not counted.

    If min equals max, the extremes of the input are used. RuntimeError for integers.
    """
    low, high = _range(input, min, max)
    inside = input[(input >= low) & (input <= high)].astype(np.float64)
    places = np.minimum(((inside - low) / (high - low) * bins).astype(np.int64), bins - 1)
    return np.bincount(places, minlength=bins).astype(input.dtype)


def _range(input: Array, low: Scalar, high: Scalar) -> tuple[float, float]:
    """The interval that is divided: never empty."""
    if low == high and input.size:
        low, high = input.min(), input.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"histc: range of [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    return float(low), float(high)


@histc.shape_rule
def _histc_rule(input: TensorBase, bins: int = 100, min: Scalar = 0, max: Scalar = 0) -> TensorBase:
    complex_support.refuse_complex("histc", input.dtype)
    if input.dtype.category < FLOATING:
        raise NotImplementedError(f"histc: implemented for floating-point tensors, got {input.dtype}; call .float()")
    if bins <= 0:
        raise RuntimeError(f"histc(): bins must be > 0, but got {bins}")
    return empty_fake([bins], None, input.dtype)


@composite(methods=True)
def histogram(
    input: Tensor,
    bins: int | Tensor = 100,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """(hist, bin_edges): how many elements, or what weight, each bin has. `bins` is a number or the edges.

    `density` divides by the total and the widths. RuntimeError for integers.
    """
    if input.dtype.category < FLOATING:
        raise NotImplementedError(f"histogram: implemented for floating-point tensors, got {input.dtype}")
    if input.storage.block is not None:
        raise NotImplementedError(
            "Could not run 'aten::histogram' with arguments from the 'CUDA' backend: PyTorch has it for the CPU alone;"
            " call .cpu(), or torch.histc"
        )
    edges: Any = bins.array if isinstance(bins, TensorBase) else bins
    weights = None if weight is None else weight.array.reshape(-1)
    counts, found = np.histogram(input.array.reshape(-1), edges, range, density, weights)
    return return_types.histogram(tensor(counts, dtype=input.dtype), tensor(found, dtype=input.dtype))


# ------------------------------------------------------------------------------------------ finding bins


@kernel_op("sorting", torch=False)
def searchsorted_places(sorted_sequence: Array, input: Array, right: bool, sorter: Array | None = None) -> Array:
    """Where each value would be inserted into its sorted row so that the row stays sorted; after equals if `right`."""
    if sorter is not None:
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    side: Any = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return np.searchsorted(sorted_sequence, input, side)
    rows = sorted_sequence.reshape(-1, sorted_sequence.shape[-1])
    values = input.reshape(len(rows), -1)
    found = [np.searchsorted(row, value, side) for row, value in zip(rows, values, strict=True)]
    return np.array(found, np.int64).reshape(input.shape)


@searchsorted_places.shape_rule
def _searchsorted_rule(
    sorted_sequence: TensorBase, input: TensorBase, right: bool, sorter: TensorBase | None = None
) -> TensorBase:
    if not sorted_sequence.sizes:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, got a 0-d tensor")
    if len(sorted_sequence.sizes) > 1 and sorted_sequence.sizes[:-1] != input.sizes[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries"
            f" tensor and input value tensor must match, got {list(sorted_sequence.sizes)} and {list(input.sizes)}"
        )
    if sorter is not None and (sorter.sizes != sorted_sequence.sizes or sorter.dtype is not int64):
        raise RuntimeError(
            "torch.searchsorted(): sorter must be an int64 tensor of the boundaries' sizes"
            f" {list(sorted_sequence.sizes)}"
        )
    return empty_fake(input.sizes, None, int64)


@composite()
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | Scalar,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Any:
    """Where each value would be inserted into its sorted row so that the row stays sorted.

    Before equal elements, or after them with right=True or side="right". `sorter` sorts rows that aren't.
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError("torch.searchsorted(): side and right can't be opposites, got side of left while right")
    values = input if isinstance(input, TensorBase) else tensor(input)
    places = searchsorted_places(sorted_sequence, values, right or side == "right", sorter)
    return places.to(int32) if out_int32 else places


@composite()
def bucketize(input: Tensor | Scalar, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Any:
    """The bin that each value falls into: bin i lies between boundaries i - 1 and i, and has the upper one unless
    `right`."""
    if len(boundaries.sizes) != 1:
        raise RuntimeError(f"bucketize(): boundaries tensor must be 1 dimension, but got dim({len(boundaries.sizes)})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
