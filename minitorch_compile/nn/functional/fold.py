"""unfold and fold: sliding blocks of an image as columns, and the sum of such columns as an image.

>>> from minitorch_compile import arange
>>> unfold(arange(6.0).view(1, 1, 2, 3), 2)
tensor([[[0., 1.],
         [1., 2.],
         [3., 4.],
         [4., 5.]]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_
from minitorch_compile.tensor.ops.pooling_windows import batched_image
from minitorch_compile.tensor.ops.windows import Ints, int_tuple


def _blocks(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Ints, Ints, Ints, Ints]:
    """The four as pairs. RuntimeError if they make no sense."""
    named = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    pairs = {label: int_tuple(value, 2, name, label) for label, value in named.items()}
    for label, values in pairs.items():
        if min(values) < (0 if label == "padding" else 1):
            least = "non-negative" if label == "padding" else "greater than zero"
            raise RuntimeError(f"{name}: {label} should be {least}, but got {values}")
    return pairs["kernel_size"], pairs["dilation"], pairs["padding"], pairs["stride"]


@functional()
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """(N, C, H, W) -> (N, C * kernel_h * kernel_w, blocks): a column for each sliding block. (C, H, W) works too."""
    how = _blocks("unfold", kernel_size, dilation, padding, stride)
    x, batched = batched_image("unfold", 2, input, IndexError)
    if x.dtype.category < FLOATING and x.dtype is not bool_:
        raise NotImplementedError(f"unfold: not implemented for {x.dtype}; convert the input with .float()")
    result = ops.im2col(x, *how)
    return result if batched else result.squeeze(0)


@functional()
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """(N, C * kernel_h * kernel_w, blocks) -> (N, C, *output_size): the sum of all blocks, each where unfold found it.

    An input without a batch dimension works too.
    """
    sizes = int_tuple(output_size, 2, "fold", "output_size")
    how = _blocks("fold", kernel_size, dilation, padding, stride)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            "fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions"
            f" for input, but got: {list(input.sizes)}"
        )
    if input.dtype.category < FLOATING and input.dtype is not bool_:
        raise NotImplementedError(f"fold: not implemented for {input.dtype}; convert the input with .float()")
    result = ops.col2im(input if input.dim() == 3 else input.unsqueeze(0), sizes, *how)
    return result if input.dim() == 3 else result.squeeze(0)
