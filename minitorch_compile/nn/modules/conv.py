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
    transposed; bias (C_out,). Sizes come as tuples, one number for each dimension."""

    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints | str,
        dilation: Ints,
        transposed: bool,
        output_padding: Ints,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_groups(groups, in_channels, out_channels)
        _check_padding(padding, stride, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding: Any = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._borders()
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(empty(*channels, *kernel_size, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_channels, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _borders(self) -> list[int]:
        """The padding as F.pad takes it, for padding modes other than zeros."""
        if self.padding == "valid":
            return [0] * 2 * len(self.kernel_size)
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

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.stride):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.stride):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.stride):
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
    """The convolutions that aren't transposed."""

    ndim: int
    convolution: Any

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
        name, ndim = type(self).__name__, self.ndim
        super().__init__(
            in_channels,
            out_channels,
            int_tuple(kernel_size, ndim, name, "kernel_size"),
            int_tuple(stride, ndim, name, "stride"),
            padding if isinstance(padding, str) else int_tuple(padding, ndim, name, "padding"),
            int_tuple(dilation, ndim, name, "dilation"),
            False,
            (0,) * ndim,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The layer with another weight and bias: what subclasses that change the weight call."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), 0
        return self.convolution(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_PlainConvNd):
    """A convolution of sequences (N, in_channels, L) or (in_channels, L).

    `in_channels`, `out_channels`: how many rows go in and come out. `kernel_size`, `stride`, `dilation`: how long the
    kernel is, by how much it moves, how far apart its taps are. `padding`: how much is added on each side, or "same" or
    "valid"; `padding_mode` is what, as in Conv2d. `groups` divides the channels into as many convolutions side by side.
    `bias`: whether one is added.

    >>> torch.nn.Conv1d(3, 8, kernel_size=3, padding=1)(torch.zeros(2, 3, 10)).shape
    torch.Size([2, 8, 10])
    """

    ndim, convolution = 1, F.conv1d


class Conv2d(_PlainConvNd):
    """A convolution of images (N, in_channels, H, W) or (in_channels, H, W).

    `in_channels`, `out_channels`: how many planes go in and come out. `kernel_size`, `stride`, `dilation`: a number, or
    one each for height and width: how large the kernel is, by how much it moves, how far apart its taps are. `padding`:
    how much is added on each side, or "same" or "valid"; `padding_mode` is what: "zeros", "reflect", "replicate" or
    "circular". `groups` divides the channels into as many convolutions side by side. `bias`: whether one is added. The
    output has height (H + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1, rounded down.

    >>> layer = torch.nn.Conv2d(3, 8, kernel_size=3, padding=1)
    >>> layer(torch.zeros(2, 3, 5, 5)).shape, layer.weight.shape
    (torch.Size([2, 8, 5, 5]), torch.Size([8, 3, 3, 3]))
    """

    ndim, convolution = 2, F.conv2d


class Conv3d(_PlainConvNd):
    """A convolution of volumes (N, in_channels, D, H, W) or (in_channels, D, H, W).

    `in_channels`, `out_channels`: how many go in and come out. `kernel_size`, `stride`, `dilation`: a number, or one
    each for depth, height and width. `padding`: how much is added on each side, or "same" or "valid"; `padding_mode` is
    what, as in Conv2d. `groups` divides the channels into as many convolutions side by side. `bias`: whether one is
    added.

    >>> torch.nn.Conv3d(1, 2, kernel_size=3)(torch.zeros(1, 1, 5, 5, 5)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    ndim, convolution = 3, F.conv3d


# ------------------------------------------------------------------------------------------ transposed


class _ConvTransposeNd(_ConvNd):
    """What transposed convolutions have, among it the choice of an output size."""

    ndim: int
    convolution: Any

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
        name, ndim = type(self).__name__, self.ndim
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {name}')
        super().__init__(
            in_channels,
            out_channels,
            int_tuple(kernel_size, ndim, name, "kernel_size"),
            int_tuple(stride, ndim, name, "stride"),
            int_tuple(padding, ndim, name, "padding"),
            int_tuple(dilation, ndim, name, "dilation"),
            True,
            int_tuple(output_padding, ndim, name, "output_padding"),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding_for(self, input: Tensor, output_size: Sequence[int]) -> Ints:
        """The output padding that gives `output_size`. ValueError if none does."""
        lead = input.dim() - self.ndim
        asked = list(output_size)[lead:] if len(output_size) == input.dim() else list(output_size)
        if len(asked) != self.ndim:
            raise ValueError(
                f"{type(self).__name__}: for {input.dim()}D input, output_size must have {self.ndim} or {input.dim()}"
                f" elements (got {len(output_size)})"
            )
        along = zip(input.shape[lead:], self.stride, self.padding, self.kernel_size, self.dilation, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, k, d in along]
        if any(not low <= n < low + s for n, low, s in zip(asked, least, self.stride, strict=True)):
            most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
            raise ValueError(
                f"requested an output size of {asked}, but valid sizes range from {least} to {most} (for an input of"
                f" {list(input.shape[lead:])})"
            )
        return tuple(n - low for n, low in zip(asked, least, strict=True))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self.output_padding if output_size is None else self._output_padding_for(input, output_size)
        return self.convolution(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution of sequences (N, in_channels, L) or (in_channels, L)."""

    ndim, convolution = 1, F.conv_transpose1d


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution of images (N, in_channels, H, W) or (in_channels, H, W)."""

    ndim, convolution = 2, F.conv_transpose2d


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution of volumes (N, in_channels, D, H, W) or (in_channels, D, H, W)."""

    ndim, convolution = 3, F.conv_transpose3d
