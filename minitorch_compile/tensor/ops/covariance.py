"""How variables vary together.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
>>> cov(x), corrcoef(x)
(tensor([[1., 2.],
        [2., 4.]]), tensor([[1., 1.],
        [1., 1.]]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, get_default_dtype
from minitorch_compile.tensor.ops.contraction import matmul
from minitorch_compile.tensor.ops.pointwise import clamp, sqrt
from minitorch_compile.tensor.ops.reduction import mean, sum
from minitorch_compile.tensor.ops.view import slice


@composite(methods=True)
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Any:
    """The covariance matrix of the rows, which are variables; columns are observations.

    `fweights` says how often each observation was made, `aweights` how much it counts. The variance of one variable is
    a 0-d tensor. RuntimeError for more than two dimensions.
    """
    if len(input.sizes) > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got {len(input.sizes)}")
    if input.dtype is bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input if input.dtype.category >= FLOATING else input.to(get_default_dtype())
    rows = x.reshape(1, -1) if len(x.sizes) < 2 else x
    weights = _product(fweights, aweights)
    if weights is None:
        total: Any = rows.sizes[1]
        centred = rows - mean(rows, 1, True)
        weighted = centred
        norm = total - correction
    else:
        total = sum(weights)
        centred = rows - sum(rows * weights, 1, True) / total
        weighted = centred * weights
        share = total if aweights is None else sum(weights * aweights)
        norm = total - correction * (1 if aweights is None else share / total)
    norm = clamp(norm, min=0) if weights is not None else max(norm, 0)
    result = matmul(weighted, (centred.conj() if x.dtype.is_complex else centred).t()) / norm
    return result.squeeze() if len(input.sizes) < 2 else result


def _product(first: Any, second: Any) -> Any:
    return first if second is None else second if first is None else first * second


@composite(methods=True)
def corrcoef(input: Tensor) -> Any:
    """The correlation of the rows: their covariance divided by both standard deviations, within [-1, 1]."""
    c = cov(input)
    if not c.sizes:
        return c / c
    deviations = sqrt(slice(c.reshape(-1), 0, 0, None, c.sizes[0] + 1))  # the diagonal
    return clamp(c / deviations.unsqueeze(0) / deviations.unsqueeze(1), -1, 1)
