"""Pooling layers.

>>> from minitorch_compile import nn, ones
>>> nn.MaxPool2d(2)(ones(1, 3, 4, 6)).shape, nn.AdaptiveAvgPool2d(1)(ones(1, 3, 4, 6)).shape
(torch.Size([1, 3, 2, 3]), torch.Size([1, 3, 1, 1]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops.windows import int_tuple

Sizes = int | tuple[int, ...]


# ------------------------------------------------------------------------------------------ maxima


class _MaxPoolNd(Module):
    """What maximum pooling layers have."""

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

    def _arguments(self) -> tuple[Any, ...]:
        return self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding},"
            f" dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The maximum of each window of (N, C, L); with its place if `return_indices`."""

    def forward(self, input: Tensor) -> Any:
        return F.max_pool1d(input, *self._arguments())


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of (N, C, H, W) or (C, H, W); with its place if `return_indices`.

    `kernel_size`, `stride` (the kernel's unless given), `padding` (of -inf), `dilation`: a number, or one each for
    height and width. `ceil_mode`: a last window that reaches over the border counts, too.

    >>> torch.nn.MaxPool2d(2)(torch.arange(16.0).view(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    def forward(self, input: Tensor) -> Any:
        return F.max_pool2d(input, *self._arguments())


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of (N, C, D, H, W); with its place if `return_indices`."""

    def forward(self, input: Tensor) -> Any:
        return F.max_pool3d(input, *self._arguments())


class _MaxUnpoolNd(Module):
    """What the layers that lead back from maxima have."""

    ndim: int

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        name = type(self).__name__
        self.kernel_size = int_tuple(kernel_size, self.ndim, name, "kernel_size")
        self.stride = int_tuple(kernel_size if stride is None else stride, self.ndim, name, "stride")
        self.padding = int_tuple(padding, self.ndim, name, "padding")

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts the values that MaxPool1d found back at their places, between zeros."""

    ndim = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts the values that MaxPool2d found back at their places, between zeros."""

    ndim = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts the values that MaxPool3d found back at their places, between zeros."""

    ndim = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


# ------------------------------------------------------------------------------------------ means


class AvgPool1d(Module):
    """The mean of each window of (N, C, L)."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = int_tuple(kernel_size, 1, "AvgPool1d", "kernel_size")
        self.stride = int_tuple(kernel_size if stride is None else stride, 1, "AvgPool1d", "stride")
        self.padding = int_tuple(padding, 1, "AvgPool1d", "padding")
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPoolNd(Module):
    """What average pooling layers of two and three dimensions have."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def _arguments(self) -> tuple[Any, ...]:
        window = (self.kernel_size, self.stride, self.padding)
        return *window, self.ceil_mode, self.count_include_pad, self.divisor_override

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of (N, C, H, W) or (C, H, W).

    `kernel_size`, `stride` (the kernel's unless given), `padding` (of zeros): a number, or one each for height and
    width. `ceil_mode`: a last window that reaches over the border counts, too. `count_include_pad`: padding counts in
    the mean. `divisor_override`: what the sum is divided by instead of the window's size.

    >>> torch.nn.AvgPool2d(2)(torch.arange(16.0).view(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(input, *self._arguments())


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of (N, C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(input, *self._arguments())


class _LPPoolNd(Module):
    """What power-mean pooling layers have."""

    def __init__(
        self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride},"
            f" ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """(the sum of x^p over each window of (N, C, L))^(1/p)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """(the sum of x^p over each window of (N, C, H, W))^(1/p)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """(the sum of x^p over each window of (N, C, D, H, W))^(1/p)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


# ------------------------------------------------------------------------------------------ adaptive


class _AdaptivePoolNd(Module):
    """What layers that pool to a given size have."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePoolNd):
    """The means of `output_size` equal parts of (N, C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptivePoolNd):
    """The means of `output_size` equal parts of (N, C, H, W) or (C, H, W): a number, or one each for height and width;
    None keeps a dimension as it is.

    >>> torch.nn.AdaptiveAvgPool2d(1)(torch.arange(4.0).view(1, 2, 2))
    tensor([[[1.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptivePoolNd):
    """The means of `output_size` equal parts of (N, C, D, H, W); None keeps a dimension as it is."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(_AdaptivePoolNd):
    """Maxima may be asked for with their places."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The maxima of `output_size` equal parts of (N, C, L)."""

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The maxima of `output_size` equal parts of (N, C, H, W); None keeps a dimension as it is."""

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The maxima of `output_size` equal parts of (N, C, D, H, W); None keeps a dimension as it is."""

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)
