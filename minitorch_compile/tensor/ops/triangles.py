"""The triangles of matrices.

>>> from minitorch_compile.tensor import ones
>>> tril(ones(2, 3)), triu(ones(2, 2), 1)
(tensor([[1., 0., 0.],
        [1., 1., 0.]]), tensor([[0., 1.],
        [0., 0.]]))
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("indexing", methods=True, inplace=True, rows=True)
def tril(input: Array, diagonal: int = 0) -> Array:
    """The lower triangle of matrices (..., n, m): elements on and below a diagonal, zeros above. `diagonal` counts from
    the main one, upwards.

    >>> torch.tril(torch.ones(3, 3))
    tensor([[1., 0., 0.],
            [1., 1., 0.],
            [1., 1., 1.]])
    """
    return np.tril(input, diagonal)


@kernel_op("indexing", methods=True, inplace=True, rows=True)
def triu(input: Array, diagonal: int = 0) -> Array:
    """The upper triangle of matrices (..., n, m): elements on and above a diagonal, zeros below. `diagonal` counts from
    the main one, upwards.

    >>> torch.triu(torch.ones(3, 3), diagonal=1)
    tensor([[0., 1., 1.],
            [0., 0., 1.],
            [0., 0., 0.]])
    """
    return np.triu(input, diagonal)


def _triangle_rule(input: TensorBase, diagonal: int = 0) -> TensorBase:
    if not isinstance(input, TensorBase):
        raise TypeError(f"tril/triu: argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if len(input.sizes) < 2:
        raise RuntimeError(f"tril/triu: input tensor must have at least 2 dimensions, got sizes {list(input.sizes)}")
    return empty_fake(input.sizes, None, input.dtype)


tril.shape_rule(_triangle_rule)
triu.shape_rule(_triangle_rule)
