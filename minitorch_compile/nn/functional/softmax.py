"""Softmax and its kin.

>>> from minitorch_compile import tensor
>>> x = tensor([[1.0, 3.0]])
>>> softmax(x, dim=1), softmin(x, dim=1)
(tensor([[0.1192, 0.8808]]), tensor([[0.8808, 0.1192]]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.numerics.dtype import dtype as DType
from minitorch_compile.tensor.random.generator import draws_as_pytorch
from minitorch_compile.user_warnings import warn_user


def _dim(name: str, input: Any, dim: int | None) -> int:
    """`dim`, or the one that PyTorch chooses, with a warning, when none is given: 0 for 0, 1 and 3 dimensions, else
    1."""
    if dim is not None:
        return dim
    warn_user(f"{name}: give dim=; choosing it by the number of dimensions is deprecated")
    return 0 if len(input.sizes) in (0, 1, 3) else 1


@functional()
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Any:
    """exp(x) / sum(exp(x)) along `dim`: positive numbers that add up to 1. `dtype` is what the input is converted to
    first. `_stacklevel` is PyTorch's, and unused.

    >>> torch.nn.functional.softmax(torch.tensor([[1.0, 1.0], [0.0, 100.0]]), dim=1)
    tensor([[5.0000e-01, 5.0000e-01],
            [3.7835e-44, 1.0000e+00]])
    """
    return ops.softmax(input, _dim("softmax", input, dim), dtype)


@functional()
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Any:
    """softmax of -x along `dim`."""
    return ops.softmax(-input, _dim("softmin", input, dim), dtype)


@functional()
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Any:
    """log(softmax(x)) along `dim`, without leaving the range of floats. `dtype` is what the input is converted to
    first. `_stacklevel` is PyTorch's, and unused.

    >>> torch.nn.functional.log_softmax(torch.tensor([[0.0, 0.0], [0.0, 1000.0]]), dim=1)
    tensor([[-6.9315e-01, -6.9315e-01],
            [-1.0000e+03,  0.0000e+00]])
    """
    return ops.log_softmax(input, _dim("log_softmax", input, dim), dtype)


@functional()
def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A random, differentiable choice along `dim`: softmax((logits + Gumbel noise) / tau) (Jang et al. 2017).

    `hard`: one-hot forwards, and the gradient of the soft choice backwards. `eps` is PyTorch's, and unused.
    """
    if draws_as_pytorch():
        gumbels = -ops.empty_like(logits).exponential_().log()
    else:
        above_zero = ops.clamp(ops.rand_like(logits), min=2.0**-24)
        gumbels = -ops.log(-ops.log1p(-above_zero))
    soft = ops.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    chosen = ops.argmax(soft, dim, True)
    one_hot = ops.zeros_like(soft).scatter_add_(dim, chosen, ops.ones_like(soft))
    return one_hot - soft.detach() + soft
