"""Functions that PyTorch has for its own sake, or had before, and that programs call all the same.

>>> from minitorch_compile.tensor import ones
>>> _shape_as_tensor(ones(2, 3))
tensor([2, 3])
>>> solve(ones(2, 1), ones(2, 2))
Traceback (most recent call last):
RuntimeError: This function was deprecated since version 1.9 and is now removed: torch.linalg.solve(A, B) solves A X = B
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from minitorch_compile.tensor.numerics.dtype import (
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from minitorch_compile.tensor.ops.construct import tensor
from minitorch_compile.tensor.ops.copies import to
from minitorch_compile.tensor.ops.reduction import sum
from minitorch_compile.tensor.tensor_base import TensorBase


def _shape_as_tensor(input: Any) -> Any:
    """The sizes, as a tensor."""
    return tensor([int(size) for size in input.sizes], dtype=int64)


def _softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: dtype) -> Any:
    """The gradient of softmax over a dimension, from its output and that one's gradient."""
    return (output * (grad_output - sum(grad_output * output, dim, True))).to(input_dtype)


def _cast_to(name: str, wanted: dtype) -> Callable[..., Any]:
    def cast(input: Any, non_blocking: bool = False) -> Any:
        """The tensor in the dtype that the function is named after; itself if it has that."""
        if not isinstance(input, TensorBase):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        return to(input, wanted, non_blocking=non_blocking)

    cast.__name__ = cast.__qualname__ = name
    return cast


_cast_Byte = _cast_to("_cast_Byte", uint8)
_cast_Char = _cast_to("_cast_Char", int8)
_cast_Double = _cast_to("_cast_Double", float64)
_cast_Float = _cast_to("_cast_Float", float32)
_cast_Half = _cast_to("_cast_Half", float16)
_cast_Int = _cast_to("_cast_Int", int32)
_cast_Long = _cast_to("_cast_Long", int64)
_cast_Short = _cast_to("_cast_Short", int16)


def solve(input: Any, A: Any, *, out: Any = None) -> NoReturn:
    """RuntimeError: PyTorch has taken it away."""
    raise RuntimeError(
        "This function was deprecated since version 1.9 and is now removed: torch.linalg.solve(A, B) solves A X = B"
    )
