"""Convolution layers, plain and transposed, of one, two and three dimensions.

>>> from minitorch_compile import nn, ones
>>> nn.Conv2d(3, 8, kernel_size=3, padding=1)(ones(2, 3, 5, 5)).shape
torch.Size([2, 8, 5, 5])
>>> nn.ConvTranspose1d(4, 2, 3, stride=2)
ConvTranspose1d(4, 2, kernel_size=(3,), stride=(2,))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn import init
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, empty
from minitorch_compile.tensor.ops.windows import Ints, int_tuple

Sizes = int | tuple[int, ...]
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions have: weight (C_out, C_in / groups, *kernel), or (C_in, C_out / groups, *kernel) if
    transposed; bias (C_out,)."""

    ndim: int
    transposed = False
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        output_padding: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        _check_groups(groups, in_channels, out_channels)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = int_tuple(kernel_size, self.ndim, name, "kernel_size")
        self.stride = int_tuple(stride, self.ndim, name, "stride")
        self.padding: Any = padding if isinstance(padding, str) else int_tuple(padding, self.ndim, name, "padding")
        self.dilation = int_tuple(dilation, self.ndim, name, "dilation")
        self.transposed = type(self).transposed
        self.output_padding = int_tuple(output_padding, self.ndim, name, "output_padding")
        self.groups = groups
        self.padding_mode = padding_mode
        _check_padding(self.padding, self.stride, padding_mode)
        self._reversed_padding_repeated_twice = self._borders()
        channels = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(empty(*channels, *self.kernel_size, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_channels, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _borders(self) -> list[int]:
        """The padding as F.pad takes it, for padding modes other than zeros."""
        if self.padding == "valid":
            return [0] * 2 * self.ndim
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return [n for total in reversed(totals) for n in (total // 2, total - total // 2)]
        return [n for n in reversed(self.padding) for _ in range(2)]

    def reset_parameters(self) -> None:
        """Uniform in +-1/sqrt(fan_in), weight and bias."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        fan_in = math.prod(self.weight.shape[1:])
        if self.bias is not None and fan_in:
            init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _padded(self, input: Tensor) -> tuple[Tensor, Any]:
        """The input and the padding that is left for the convolution to do."""
        if self.padding_mode == "zeros":
            return input, self.padding
        return F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), 0

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * self.ndim:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.ndim:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self.ndim:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


def _check_groups(groups: int, in_channels: int, out_channels: int) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError(f"in_channels must be divisible by groups, got in_channels={in_channels} and groups={groups}")
    if out_channels % groups:
        raise ValueError(
            f"out_channels must be divisible by groups, got out_channels={out_channels} and groups={groups}"
        )


def _check_padding(padding: Any, stride: Ints, padding_mode: str) -> None:
    if isinstance(padding, str) and padding not in ("valid", "same"):
        raise ValueError(f"Invalid padding string '{padding}', should be one of 'valid', 'same'")
    if padding == "same" and any(s != 1 for s in stride):
        raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {', '.join(PADDING_MODES)}, but got padding_mode='{padding_mode}'"
        )


class _PlainConvNd(_ConvNd):
    """The constructor of the convolutions that aren't transposed."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            0,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )


class Conv1d(_PlainConvNd):
    """A convolution of sequences (N, in_channels, L) or (in_channels, L)."""

    ndim = 1

    def forward(self, input: Tensor) -> Tensor:
        x, padding = self._padded(input)
        return F.conv1d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv2d(_PlainConvNd):
    """A convolution of images (N, in_channels, H, W) or (in_channels, H, W)."""

    ndim = 2

    def forward(self, input: Tensor) -> Tensor:
        x, padding = self._padded(input)
        return F.conv2d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv3d(_PlainConvNd):
    """A convolution of volumes (N, in_channels, D, H, W) or (in_channels, D, H, W)."""

    ndim = 3

    def forward(self, input: Tensor) -> Tensor:
        x, padding = self._padded(input)
        return F.conv3d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


# ------------------------------------------------------------------------------------------ transposed


class _ConvTransposeNd(_ConvNd):
    """The constructor of transposed convolutions, and the choice of an output size."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> Ints:
        """The output padding that gives `output_size`. ValueError if none does."""
        if output_size is None:
            return self.output_padding
        batched = input.dim() == self.ndim + 2
        asked = list(output_size)[input.dim() - self.ndim :] if len(output_size) == input.dim() else list(output_size)
        if len(asked) != self.ndim:
            raise ValueError(
                f"ConvTranspose{self.ndim}D: for {input.dim()}D input, output_size must have {self.ndim} or"
                f" {self.ndim + (2 if batched else 1)} elements (got {len(output_size)})"
            )
        along = zip(
            input.shape[input.dim() - self.ndim :],
            self.stride,
            self.padding,
            self.kernel_size,
            self.dilation,
            strict=True,
        )
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, k, d in along]
        if any(not low <= n < low + s for n, low, s in zip(asked, least, self.stride, strict=True)):
            most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
            raise ValueError(
                f"requested an output size of {asked}, but valid sizes range from {least} to {most} (for an input of"
                f" {list(input.shape[2:])})"
            )
        return tuple(n - low for n, low in zip(asked, least, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution of sequences (N, in_channels, L) or (in_channels, L)."""

    ndim = 1

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self._output_padding(input, output_size)
        return F.conv_transpose1d(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution of images (N, in_channels, H, W) or (in_channels, H, W)."""

    ndim = 2

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self._output_padding(input, output_size)
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution of volumes (N, in_channels, D, H, W) or (in_channels, D, H, W)."""

    ndim = 3

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self._output_padding(input, output_size)
        return F.conv_transpose3d(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
