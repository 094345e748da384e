"""Convolution whose kernel looks at places that are moved by offsets (Dai et al. 2017; with a mask, Zhu et al. 2018).

It samples the image at the moved places, which `grid_sample` does, and multiplies the samples by the weight.

>>> from minitorch_compile import ones, zeros
>>> image, offset, mask = ones(1, 1, 3, 3), zeros(1, 2, 3, 3), ones(1, 1, 3, 3)
>>> deform_conv2d(image, ones(1, 1, 1, 1), offset + 1, mask, zeros(1), 1, 1, 0, 0, 1, 1, 1, 1, False)
tensor([[[[1., 1., 0.],
          [1., 1., 0.],
          [0., 0., 0.]]]])
"""

from __future__ import annotations

from minitorch_compile import autograd
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, enable_grad, ops


def deform_conv2d(input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, *numbers: int) -> Tensor:
    """(N, C, H, W) to (N, O, ...). `numbers`: strides, paddings, dilations, groups, offset groups, whether to use the
    mask."""
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups, use_mask = numbers
    batch, channels, height, width = input.shape
    out_channels, _, kernel_h, kernel_w = weight.shape
    out_h, out_w = offset.shape[-2:]
    parts = kernel_h * kernel_w

    moved = offset.reshape(batch, offset_groups, kernel_h, kernel_w, 2, out_h, out_w)
    rows = _places(input, (out_h, stride_h, pad_h), (kernel_h, dilation_h))
    columns = _places(input, (out_w, stride_w, pad_w), (kernel_w, dilation_w))
    y = moved[:, :, :, :, 0] + rows.reshape(kernel_h, 1, out_h, 1)
    x = moved[:, :, :, :, 1] + columns.reshape(1, kernel_w, 1, out_w)
    # grid_sample counts from the left edge of the first pixel, -1, to the right edge of the last, 1.
    grid = ops.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
    samples = F.grid_sample(
        input.reshape(batch * offset_groups, channels // offset_groups, height, width),
        grid.reshape(batch * offset_groups, parts * out_h, out_w, 2),
        align_corners=False,
    ).reshape(batch, offset_groups, channels // offset_groups, parts, out_h, out_w)
    if use_mask:
        samples = samples * mask.reshape(batch, offset_groups, 1, parts, out_h, out_w)
    samples = samples.reshape(batch, groups, channels // groups * parts, out_h * out_w)
    result = weight.reshape(groups, out_channels // groups, -1) @ samples
    return result.reshape(batch, out_channels, out_h, out_w) + bias.reshape(1, -1, 1, 1)


def _places(like: Tensor, out: tuple[int, int, int], kernel: tuple[int, int]) -> Tensor:
    """Where the kernel's elements lie along an axis, before they are moved: (kernel, out)."""
    (size, stride, padding), (parts, dilation) = out, kernel
    first = ops.arange(size, dtype=like.dtype) * stride - padding
    return first + ops.arange(parts, dtype=like.dtype).reshape(-1, 1) * dilation


def deform_conv2d_backward(grad: Tensor, *arguments: Tensor | int) -> tuple[Tensor, ...]:
    """The gradients of the five tensors."""
    tensors = [x.detach().requires_grad_() for x in arguments[:5] if isinstance(x, Tensor)]
    with enable_grad():
        result = deform_conv2d(*tensors, *arguments[5:])  # type: ignore[arg-type]
    grads = autograd.grad(result, tensors, grad, allow_unused=True)
    return tuple(ops.zeros_like(x) if g is None else g for x, g in zip(tensors, grads, strict=True))
