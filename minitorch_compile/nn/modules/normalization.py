"""Normalisation by rows, groups and neighbouring channels, as modules.

>>> from minitorch_compile import nn, tensor
>>> nn.LayerNorm(2)(tensor([[1.0, 3.0]])).detach(), nn.GroupNorm(2, 4)
(tensor([[-1.0000,  1.0000]]), GroupNorm(2, 4, eps=1e-05, affine=True, bias=True))
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn import init
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, empty, ops


def _row_shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (int(normalized_shape),) if isinstance(normalized_shape, numbers.Integral) else tuple(normalized_shape)  # type: ignore[arg-type]


class LayerNorm(Module):
    """Rows, the last dimensions of sizes `normalized_shape`, shifted to mean 0 and scaled to variance 1.

    `eps` is added to the variance. `elementwise_affine`: a weight of the same sizes, and with `bias` a bias, follow.

    >>> layer = torch.nn.LayerNorm(2)
    >>> layer(torch.tensor([[1.0, 3.0], [0.0, 10.0]])).detach()
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

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
        self.normalized_shape = _row_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        weight = Parameter(empty(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.register_parameter(
            "bias", Parameter(empty(shape, device=device, dtype=dtype)) if elementwise_affine and bias else None
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


class RMSNorm(Module):
    """Rows, the last dimensions of sizes `normalized_shape`, divided by their root mean square."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _row_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        weight = Parameter(empty(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """The channels of each sample in `num_groups` groups, each normalised as a whole to mean 0 and variance 1.
    ValueError if they don't divide `num_channels`.

    `eps` is added to the variance. `affine`: a weight, and with `bias` a bias, for each channel follow.

    >>> torch.nn.GroupNorm(2, 6)(torch.randn(3, 6, 4, 4)).shape
    torch.Size([3, 6, 4, 4])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels must be divisible by num_groups, got num_channels={num_channels} and"
                f" num_groups={num_groups}"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.register_parameter(
            "weight", Parameter(empty(num_channels, device=device, dtype=dtype)) if affine else None
        )
        self.register_parameter(
            "bias", Parameter(empty(num_channels, device=device, dtype=dtype)) if affine and bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine},"
            f" bias={self.bias is not None}"
        )


class CrossMapLRN2d(Module):
    """As LocalResponseNorm, on (N, C, H, W), as PyTorch computes it: windows of an even `size` are one channel smaller,
    and the first channel stays in all windows behind it."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        around = (self.size - 1) // 2
        squares = input**2
        sums = F.pad(squares, [0, 0, 0, 0, around, around]).unfold(1, 2 * around + 1, 1).sum(-1)
        behind = ops.arange(input.shape[1]).view(-1, 1, 1) > around
        sums = sums + ops.where(behind, squares[:, :1], 0)
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(Module):
    """Each channel divided by a power of the mean square of the `size` channels around it."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
