"""Functions that PyTorch has for its own sake, or had before, and that programs call all the same.

>>> from minitorch_compile.tensor import ones
>>> _shape_as_tensor(ones(2, 3))
tensor([2, 3])
>>> solve(ones(2, 1), ones(2, 2))
Traceback (most recent call last):
RuntimeError: This function was deprecated since version 1.9 and is now removed: torch.linalg.solve(A, B) solves A X = B
"""

from __future__ import annotations

from typing import Any, NoReturn

from minitorch_compile.tensor.numerics.dtype import dtype, int64
from minitorch_compile.tensor.ops.construct import tensor
from minitorch_compile.tensor.ops.reduction import sum


def _shape_as_tensor(input: Any) -> Any:
    """The sizes, as a tensor."""
    return tensor([int(size) for size in input.sizes], dtype=int64)


def _softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: dtype) -> Any:
    """The gradient of softmax over a dimension, from its output and that one's gradient."""
    return (output * (grad_output - sum(grad_output * output, dim, True))).to(input_dtype)


def solve(input: Any, A: Any, *, out: Any = None) -> NoReturn:
    """RuntimeError: PyTorch has taken it away."""
    raise RuntimeError(
        "This function was deprecated since version 1.9 and is now removed: torch.linalg.solve(A, B) solves A X = B"
    )
