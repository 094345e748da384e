"""What kernels that are no prims mean, in NumPy: for the interpreter of the loop IR.

To a convolution it is all the same how its tensors lie in memory, and in which way it is computed.

>>> b = np.arange(60, dtype=np.float32).reshape(3, 20)
>>> panels = packed(b, 16)
>>> np.array_equal(unpacked(panels, 20), b)
True
>>> np.array_equal(MEANINGS["packed_product"](np.eye(3, dtype=np.float32), panels, 20), b)
True
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from minitorch_compile.prims import table as prims


def packed(b: np.ndarray, width: int) -> np.ndarray:
    """What `pack_panels` makes of a matrix: (panels, rows of b, width of a panel), zeros where b has ended."""
    wide = np.pad(b, ((0, 0), (0, -b.shape[1] % width)))
    return np.ascontiguousarray(wide.reshape(len(b), -1, width).transpose(1, 0, 2))


def unpacked(panels: np.ndarray, columns: int) -> np.ndarray:
    """The matrix that was packed."""
    return panels.transpose(1, 0, 2).reshape(panels.shape[1], -1)[:, :columns]


def packed_product(a: np.ndarray, panels: np.ndarray, columns: int) -> np.ndarray:
    return np.asarray(prims["mm"].kernel(a, unpacked(panels, columns)))


MEANINGS: dict[str, Callable[..., np.ndarray]] = {
    "pack_panels": packed,
    "packed_product": packed_product,
    "batched_tiles": prims["bmm"].kernel,
    "channels_last_convolution": prims["convolution"].kernel,
    "channels_last_convolution_input_grad": prims["convolution_input_grad"].kernel,
    "channels_last_convolution_weight_grad": prims["convolution_weight_grad"].kernel,
    "winograd_convolution": prims["convolution"].kernel,
    "winograd_convolution_input_grad": prims["convolution_input_grad"].kernel,
    "winograd_channels_last_convolution": prims["convolution"].kernel,
    "winograd_channels_last_convolution_input_grad": prims["convolution_input_grad"].kernel,
}
