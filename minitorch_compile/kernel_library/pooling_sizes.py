"""What the kernels of maximum pooling are told.

>>> shape_of((2, 3, 8, 8), (2, 3, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1))
(6, 8, 8, 4, 4, 2, 2, 2, 2, 0, 0, 1, 1)
"""

from __future__ import annotations

from typing import NamedTuple

Pair = tuple[int, int]


class PoolingSizes(NamedTuple):
    """Sizes of planes and results, and how the windows lie."""

    planes: int = 0
    height: int = 0
    width: int = 0
    out_y: int = 0
    out_x: int = 0
    kernel_y: int = 0
    kernel_x: int = 0
    stride_y: int = 0
    stride_x: int = 0
    padding_y: int = 0
    padding_x: int = 0
    dilation_y: int = 0
    dilation_x: int = 0

    def __repr__(self) -> str:
        """The numbers alone: what stands in a generated file."""
        return repr(tuple(self))

    @property
    def nanoseconds(self) -> float:
        """About how long a core searches all windows."""
        return 2.0 * self.planes * self.out_y * self.out_x * self.kernel_y * self.kernel_x


POOLING_SIZES = PoolingSizes()


def shape_of(
    x: tuple[int, ...], out: tuple[int, ...], kernel: Pair, stride: Pair, padding: Pair, dilation: Pair
) -> PoolingSizes:
    """The numbers that the kernel takes, from the sizes of input and result."""
    return PoolingSizes(x[0] * x[1], x[2], x[3], out[2], out[3], *kernel, *stride, *padding, *dilation)
