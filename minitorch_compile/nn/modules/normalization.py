"""Layer normalisation.

>>> from minitorch_compile import nn, tensor
>>> nn.LayerNorm(2)(tensor([[1.0, 3.0]])).detach()
tensor([[-1.0000,  1.0000]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn import init
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, empty


class LayerNorm(Module):
    """Rows, the last dimensions of sizes `normalized_shape`, shifted to mean 0 and scaled to variance 1."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter(
            "weight", Parameter(empty(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        )
        self.register_parameter(
            "bias", Parameter(empty(self.normalized_shape, dtype=dtype)) if elementwise_affine and bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine},"
            f" bias={self.bias is not None}"
        )
