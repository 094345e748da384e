"""The adjoint of matrices: transposed, and conjugated if they are complex.

>>> from minitorch_compile.tensor import tensor
>>> adjoint(tensor([[1, 2], [3, 4]]))
tensor([[1, 3],
        [2, 4]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.op import Tensor
from minitorch_compile.tensor.ops.view import transpose


def adjoint(A: Tensor) -> Any:
    """A^H of each matrix of a stack."""
    return transpose(A, -2, -1)
