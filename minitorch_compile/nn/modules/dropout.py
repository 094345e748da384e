"""Dropout.

>>> from minitorch_compile import nn, ones
>>> nn.Dropout(0.5).eval()(ones(3))
tensor([1., 1., 1.])
"""

from __future__ import annotations

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor


class Dropout(Module):
    """In training, each element is 0 with probability p, else divided by 1 - p."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        dropped = F.dropout(input, self.p, self.training)
        return input.copy_(dropped) if self.inplace and dropped is not input else dropped

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
