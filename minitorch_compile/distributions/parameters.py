"""Parameters of distributions: numbers become tensors, tensors broadcast; probabilities and log-odds.

>>> broadcast_all(0.0, 1)
(tensor(0.), tensor(1.))
>>> from minitorch_compile.tensor import tensor
>>> logits_to_probs(tensor([0.0, 0.0])), logits_to_probs(tensor(0.0), is_binary=True)
(tensor([0.5000, 0.5000]), tensor(0.5000))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions.lazy_property import lazy_property  # noqa: F401 - PyTorch has all these in one place
from minitorch_compile.distributions.triangular_vectors import (  # noqa: F401
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)
from minitorch_compile.tensor import Tensor, get_default_dtype, ops, tensor
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.numeric_limits import finfo


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Tensors of one shape; numbers take dtype and device of the first tensor, or defaults. ValueError for others."""
    for value in values:
        if not isinstance(value, (Tensor, int, float)):
            raise ValueError(f"distributions: parameters must be numbers or Tensors, got {type(value).__name__}")
    element, where = next(((v.dtype, v.device) for v in values if isinstance(v, Tensor)), (get_default_dtype(), None))
    tensors = [v if isinstance(v, Tensor) else tensor(v, dtype=element, device=where) for v in values]
    sizes = broadcast_sizes(*(x.shape for x in tensors))
    return tuple(x if x.shape == sizes else x.expand(sizes) for x in tensors)


def clamp_probs(probs: Tensor) -> Any:
    """Probabilities away from 0 and 1, where their logarithms would be infinite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Any:
    """log p, or log(p / (1 - p)) for the probability of one of two outcomes."""
    p = clamp_probs(probs)
    return p.log() - (-p).log1p() if is_binary else p.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Any:
    """The softmax, or the sigmoid for one of two outcomes."""
    return ops.sigmoid(logits) if is_binary else ops.softmax(logits, -1)


def exactly_one(probs: Any, logits: Any) -> None:
    """ValueError unless one of both is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Samples of N(0, 1), by the name under which other libraries import it."""
    return ops.randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dimensions, by the name under which other libraries import it."""
    return value if dim == 0 else value.reshape(value.shape[:-dim] + (-1,)).sum(-1)
