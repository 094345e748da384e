"""Four decompositions that look right, as exercise 12.1 shows them, and the operations that they are meant to be.

>>> import minitorch_compile as torch
>>> rounded(torch.tensor([0.4, 1.6])), right_rounded(torch.tensor([0.4, 1.6]))
(tensor([0., 2.]), tensor([0., 2.]))
"""

from __future__ import annotations

import minitorch_compile as torch
from minitorch_compile.tensor import Tensor


def sigmoid(x: Tensor) -> Tensor:
    """torch.sigmoid(x)"""
    return x.exp() / (1 + x.exp())


def rounded(x: Tensor) -> Tensor:
    """torch.round(x)"""
    return (x + 0.5).floor()


def larger(x: Tensor, y: Tensor) -> Tensor:
    """torch.maximum(x, y)"""
    return torch.where(x > y, x, y)


def hypotenuse(x: Tensor, y: Tensor) -> Tensor:
    """torch.hypot(x, y)"""
    return (x * x + y * y).sqrt()


def right_sigmoid(x: Tensor) -> Tensor:
    return torch.sigmoid(x)


def right_rounded(x: Tensor) -> Tensor:
    return torch.round(x)


def right_larger(x: Tensor, y: Tensor) -> Tensor:
    return torch.maximum(x, y)


def right_hypotenuse(x: Tensor, y: Tensor) -> Tensor:
    return torch.hypot(x, y)
