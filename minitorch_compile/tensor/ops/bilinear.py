"""The bilinear form of two inputs.

>>> from minitorch_compile.tensor import ones
>>> bilinear(ones(1, 2), ones(1, 3), ones(4, 2, 3))
tensor([[6., 6., 6., 6.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.ops.contraction import matmul
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import permute, unsqueeze


@composite(functional=True)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """out[k] = input1^T weight[k] input2 + bias[k], over the last dimensions. RuntimeError for sizes that don't fit."""
    if tuple(input1.sizes[:-1]) != tuple(input2.sizes[:-1]):
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {list(input1.sizes)} and {list(input2.sizes)}"
        )
    outputs, width1, width2 = weight.sizes
    if input1.sizes[-1] != width1 or input2.sizes[-1] != width2:
        raise RuntimeError(
            f"bilinear(): the last sizes of the inputs must be those of weight, {width1} and {width2}; got"
            f" {input1.sizes[-1]} and {input2.sizes[-1]}"
        )
    batch = tuple(input1.sizes[:-1])
    by_first = matmul(input1, reshape(permute(weight, (1, 0, 2)), (width1, outputs * width2)))
    rows = reshape(by_first, (*batch, outputs, width2))
    out = reshape(matmul(rows, unsqueeze(input2, -1)), (*batch, outputs))
    return out if bias is None else out + bias
