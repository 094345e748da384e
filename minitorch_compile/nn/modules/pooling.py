"""Pooling layers.

>>> from minitorch_compile import nn, ones
>>> nn.MaxPool2d(2)(ones(1, 3, 4, 6)).shape, nn.AdaptiveAvgPool2d(1)(ones(1, 3, 4, 6)).shape
(torch.Size([1, 3, 2, 3]), torch.Size([1, 3, 1, 1]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor

Sizes = int | tuple[int, int]


class MaxPool2d(Module):
    """The maximum of each window."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        return F.max_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding},"
            f" dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class AdaptiveAvgPool2d(Module):
    """The average over equal parts of the image, as many as `output_size` says."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"
