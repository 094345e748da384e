"""Four functions and a version of each, whose guards let something through that they should not.

>>> scaled_version(torch.tensor([1, 2]), 2) is MISS
True
"""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch

Tensor = torch.Tensor
MISS: Any = object()


def scaled(x: Tensor, k: int) -> Tensor:
    return x * k


def scaled_version(x: Tensor, k: int) -> Tensor:
    if not (type(x) is Tensor and x.shape == (2,) and x.dtype is torch.int64 and k == 1):
        return MISS
    return x * 1


def signed(x: Tensor, y: Tensor) -> Tensor:
    return x + y if x.is_contiguous() else x - y


def signed_version(x: Tensor, y: Tensor) -> Tensor:
    if not (type(x) is Tensor and x.shape == (2, 3) and x.dtype is torch.float32):
        return MISS
    if not (type(y) is Tensor and y.shape == (2, 3) and y.dtype is torch.float32):
        return MISS
    return x + y


def chained(x: Tensor, factors: dict[str, int]) -> Tensor:
    for name in factors:
        x = x * factors[name] + 1
    return x


def chained_version(x: Tensor, factors: dict[str, int]) -> Tensor:
    if not (type(x) is Tensor and x.shape == (2,) and x.dtype is torch.float32 and type(factors) is dict):
        return MISS
    if not (len(factors) == 2 and factors.get("a") == 2 and factors.get("b") == 3):
        return MISS
    return (x * 2 + 1) * 3 + 1


def bumped(x: Tensor, y: Tensor) -> Tensor:
    x.add_(1)
    return x * y


def bumped_version(x: Tensor, y: Tensor) -> Tensor:
    if not (type(x) is Tensor and x.shape == (2,) and x.dtype is torch.float32 and x.stride() == (1,)):
        return MISS
    if not (type(y) is Tensor and y.shape == (2,) and y.dtype is torch.float32 and y.stride() == (1,)):
        return MISS
    new = x + 1
    result = new * y
    x.copy_(new)
    return result
