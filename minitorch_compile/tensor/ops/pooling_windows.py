"""What all pooling functions ask of their arguments.

>>> pool_window("max_pool2d", 2, 3, None, 1, 1)
((3, 3), (3, 3), (1, 1), (1, 1))
>>> check_window("max_pool2d", (2, 2), (0, 1), (0, 0), (1, 1))
Traceback (most recent call last):
RuntimeError: max_pool2d: stride must be positive, got (0, 1)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.ops.view import unsqueeze
from minitorch_compile.tensor.ops.windows import Ints, int_tuple
from minitorch_compile.tensor.tensor_base import TensorBase


def pool_window(
    name: str, ndim: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any = 1
) -> tuple[Ints, Ints, Ints, Ints]:
    """Kernel, stride, padding and dilation, a number for each dimension; the stride is the kernel if none is given."""
    kernel = int_tuple(kernel_size, ndim, name, "kernel_size")
    given = stride is not None and not (isinstance(stride, (tuple, list)) and not stride)
    strides = int_tuple(stride, ndim, name, "stride") if given else kernel
    return kernel, strides, int_tuple(padding, ndim, name, "padding"), int_tuple(dilation, ndim, name, "dilation")


def check_window(name: str, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """RuntimeError for windows that make no sense."""
    for label, values in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if any(n < 1 for n in values):
            raise RuntimeError(f"{name}: {label} must be positive, got {values}")
    if any(n < 0 for n in padding):
        raise RuntimeError(f"{name}: pad must be non-negative, but got padding={padding}")
    # PyTorch counts the gaps of a dilated kernel in one dimension only.
    widths = [dilation[0] * (kernel[0] - 1) + 1] if len(kernel) == 1 else kernel
    if any(2 * p > width for p, width in zip(padding, widths, strict=True)):
        raise RuntimeError(
            f"{name}: pad should be at most half of effective kernel size, but got padding={padding},"
            f" kernel_size={kernel} and dilation={dilation}"
        )


def batched_image(name: str, ndim: int, input: Any, too_few: type[Exception] = RuntimeError) -> tuple[Any, bool]:
    """The input as (N, C, *sizes), and whether it was that already. RuntimeError for other numbers of dimensions, or
    the error `too_few`."""
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    dims = len(input.sizes)
    if dims not in (ndim + 1, ndim + 2) or 0 in input.sizes[dims - ndim - 1 :]:
        error = too_few if dims < ndim + 1 else RuntimeError
        raise error(
            f"{name}: Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with optional 0 dim batch size for input,"
            f" but got: {list(input.sizes)}"
        )
    return (input, True) if dims == ndim + 2 else (unsqueeze(input, 0), False)
