"""Softmax and its kin as modules.

>>> from minitorch_compile import nn, tensor
>>> nn.Softmax(dim=1)(tensor([[1.0, 3.0]])), nn.LogSoftmax(dim=-1)
(tensor([[0.1192, 0.8808]]), LogSoftmax(dim=-1))
"""

from __future__ import annotations

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor


class Softmax(Module):
    """exp(x) / sum(exp(x)) along `dim`: positive numbers that add up to 1.

    >>> torch.nn.Softmax(dim=1)(torch.tensor([[1.0, 1.0], [0.0, 100.0]]))
    tensor([[5.0000e-01, 5.0000e-01],
            [3.7835e-44, 1.0000e+00]])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(Module):
    """softmax of -x along `dim`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """log(softmax(x)) along `dim`."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax2d(Module):
    """softmax over the channels of images, (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)
