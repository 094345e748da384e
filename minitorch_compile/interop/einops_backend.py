"""What einops calls on our tensors. This module is imported when einops is (einops_import.py).

>>> from einops import rearrange, reduce
>>> from minitorch_compile import arange
>>> rearrange(arange(6), "(a b) -> b a", a=2)
tensor([[0, 3],
        [1, 4],
        [2, 5]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from einops._backends import AbstractBackend

from minitorch_compile.tensor import Tensor, from_numpy, ops
from minitorch_compile.tensor.ops import einsum


class MinitorchBackend(AbstractBackend):
    """The operations of einops, in ours."""

    framework_name = "minitorch_compile"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: np.ndarray) -> Tensor:
        return from_numpy(x)

    def to_numpy(self, x: Tensor) -> np.ndarray:
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Tensor:
        return ops.arange(start, stop)

    def reduce(self, x: Tensor, operation: str, axes: tuple[int, ...]) -> Tensor:
        """The reduction over several dimensions; any, all and prod take them one by one."""
        if operation in ("min", "max"):
            return getattr(x, f"a{operation}")(dim=tuple(axes))
        if operation in ("sum", "mean"):
            return getattr(x, operation)(dim=tuple(axes))
        if operation not in ("any", "all", "prod"):
            raise NotImplementedError(f"einops: unknown reduction {operation!r}; pass a callable")
        for axis in sorted(axes, reverse=True):
            x = getattr(x, operation)(dim=axis)
        return x

    def transpose(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        return x.permute(tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
        return ops.stack(tensors)

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        return x.unsqueeze(new_position)

    def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:
        """New dimensions of given lengths, by expanding."""
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x, sizes[position] = self.add_axis(x, position), length
        return x.expand(sizes)

    def tile(self, x: Tensor, repeats: tuple[int, ...]) -> Tensor:
        return x.repeat(tuple(repeats))

    def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
        return ops.cat(tensors, dim=axis)

    def is_float_type(self, x: Tensor) -> bool:
        return bool(x.dtype.is_floating_point)

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        return einsum(pattern, *x)

    def layers(self) -> Any:
        from minitorch_compile.interop import einops_layers

        return einops_layers
