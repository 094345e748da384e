"""Parts of a tensor as tensors of their own, in one op.

The parts that `split` gives are views: each may be written into, so each has its own place in the recorded graph, and a
gradient the size of the whole tensor. A recurrent network cuts its input into hundreds of steps; here their gradients
are put together in one go.

>>> from minitorch_compile.tensor import tensor
>>> split_with_sizes_copy(tensor([1, 2, 3]), [1, 2])
(tensor([1]), tensor([2, 3]))
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("joining", torch=False)
def split_with_sizes_copy(input: Array, split_sizes: Sequence[int], dim: int = 0) -> tuple[Array, ...]:
    """Consecutive parts of a dimension, of the given sizes, as copies. RuntimeError unless the sizes add up."""
    before = (slice(None),) * (dim % input.ndim)
    ends = accumulate(split_sizes)
    return tuple(
        np.array(input[(*before, slice(end - size, end))], order="C")
        for end, size in zip(ends, split_sizes, strict=True)
    )


@split_with_sizes_copy.shape_rule
def _rule(input: TensorBase, split_sizes: Sequence[int], dim: int) -> tuple[TensorBase, ...]:
    at = wrap_dim(dim, len(input.sizes))
    if not split_sizes or sum(split_sizes) != input.sizes[at] or min(split_sizes) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {input.sizes[at]} (input tensor's size at"
            f" dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    before, after = input.sizes[:at], input.sizes[at + 1 :]
    return tuple(empty_fake((*before, size, *after), None, input.dtype) for size in split_sizes)
