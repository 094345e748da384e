"""Layers that put borders around their input; negative numbers take elements away.

>>> from minitorch_compile import arange, nn
>>> x = arange(3.0).view(1, 3)
>>> nn.ZeroPad1d(1)(x), nn.ReflectionPad1d((1, 2))(x)
(tensor([[0., 0., 1., 2., 0.]]), tensor([[1., 0., 1., 2., 1., 0.]]))
>>> nn.ConstantPad2d(2, 3.5)
ConstantPad2d(padding=(2, 2, 2, 2), value=3.5)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops.windows import int_tuple


class _PadNd(Module):
    """`padding`: one number for all sides, or one for each: before and after the last dimension, then the one before
    it, and so on."""

    ndim: int
    mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = int_tuple(padding, 2 * self.ndim, type(self).__name__, "padding")

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


# ------------------------------------------------------------------------------------------ of one value


class _ConstantPadNd(_PadNd):
    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """A border of `value` around the last dimension."""

    ndim = 1


class ConstantPad2d(_ConstantPadNd):
    """A border of `value` around the last two dimensions."""

    ndim = 2


class ConstantPad3d(_ConstantPadNd):
    """A border of `value` around the last three dimensions."""

    ndim = 3


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPadNd):
    """A border of zeros around the last dimension."""

    ndim = 1


class ZeroPad2d(_ZeroPadNd):
    """A border of zeros around the last two dimensions."""

    ndim = 2


class ZeroPad3d(_ZeroPadNd):
    """A border of zeros around the last three dimensions."""

    ndim = 3


# ------------------------------------------------------------------------------------------ made of the input


class ReflectionPad1d(_PadNd):
    """The last dimension mirrored at its outermost elements."""

    ndim, mode = 1, "reflect"


class ReflectionPad2d(_PadNd):
    """The last two dimensions mirrored at their outermost elements."""

    ndim, mode = 2, "reflect"


class ReflectionPad3d(_PadNd):
    """The last three dimensions mirrored at their outermost elements."""

    ndim, mode = 3, "reflect"


class ReplicationPad1d(_PadNd):
    """The outermost elements of the last dimension repeated."""

    ndim, mode = 1, "replicate"


class ReplicationPad2d(_PadNd):
    """The outermost elements of the last two dimensions repeated."""

    ndim, mode = 2, "replicate"


class ReplicationPad3d(_PadNd):
    """The outermost elements of the last three dimensions repeated."""

    ndim, mode = 3, "replicate"


class CircularPad1d(_PadNd):
    """The last dimension continued from its other end."""

    ndim, mode = 1, "circular"


class CircularPad2d(_PadNd):
    """The last two dimensions continued from their other ends."""

    ndim, mode = 2, "circular"


class CircularPad3d(_PadNd):
    """The last three dimensions continued from their other ends."""

    ndim, mode = 3, "circular"
