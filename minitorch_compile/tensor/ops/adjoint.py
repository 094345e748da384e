"""The adjoint of matrices: transposed, and conjugated if they are complex.

>>> from minitorch_compile.tensor import tensor
>>> adjoint(tensor([[1, 2], [3, 4]])), adjoint(tensor([[1, 2j]]))
(tensor([[1, 3],
        [2, 4]]), tensor([[1.-0.j],
        [0.-2.j]]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.ops.complex_numbers import conj
from minitorch_compile.tensor.ops.view import transpose


@composite(methods=True)
def adjoint(input: Tensor) -> Any:
    """The conjugate transpose of each matrix of a stack."""
    return conj(transpose(input, -2, -1))
