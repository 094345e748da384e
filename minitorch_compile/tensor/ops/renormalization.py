"""Keeping the norms of sub-tensors below a bound.

>>> from minitorch_compile.tensor import tensor
>>> renorm(tensor([[3.0, 4.0], [0.5, 0.0]]), 2, 0, 1.0)
tensor([[0.6000, 0.8000],
        [0.5000, 0.0000]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.ops.norms import linalg_vector_norm
from minitorch_compile.tensor.ops.pointwise import div, where


@composite(methods=True, inplace=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Any:
    """Each sub-tensor along `dim` whose p-norm exceeds `maxnorm` is scaled down to it.

    RuntimeError for fewer than two dimensions.
    """
    if len(input.sizes) < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {len(input.sizes)} dimensions")
    others = [d for d in range(len(input.sizes)) if d != wrap_dim(dim, len(input.sizes))]
    lengths = linalg_vector_norm(input, p, others, True)
    return (input * where(lengths > maxnorm, div(maxnorm, lengths + 1e-7), 1.0)).contiguous()
