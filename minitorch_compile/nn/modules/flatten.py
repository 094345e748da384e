"""Changing shape between layers.

>>> from minitorch_compile import nn, ones
>>> nn.Flatten()(ones(2, 3, 4)).shape, nn.Unflatten(1, (3, 4))(ones(2, 12)).shape
(torch.Size([2, 12]), torch.Size([2, 3, 4]))
"""

from __future__ import annotations

from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim


class Flatten(Module):
    """Dimensions `start_dim` to `end_dim` as one: by default all but the batch.

    >>> torch.nn.Flatten()(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One dimension as several."""

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        at = wrap_dim(self.dim, input.dim())
        return input.reshape(*input.shape[:at], *self.unflattened_size, *input.shape[at + 1 :])

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
