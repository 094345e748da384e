"""Distances as modules.

>>> from minitorch_compile import nn, tensor
>>> nn.CosineSimilarity()(tensor([[3.0, 4.0]]), tensor([[0.0, 2.0]]))
tensor([0.8000])
"""

from __future__ import annotations

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor


class CosineSimilarity(Module):
    """The cosine of the angle between two inputs along `dim`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of the difference of two inputs along the last dimension."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
