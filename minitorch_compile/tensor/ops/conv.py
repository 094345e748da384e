"""Convolutions as models call them: of one, two or three dimensions, plain and transposed.

A transposed convolution is the gradient of a convolution in its input: what a convolution gathers from the windows of
a large image, it spreads out from a small image over those windows.

>>> from minitorch_compile.tensor import ones
>>> conv2d(ones(1, 1, 3, 3), ones(1, 1, 2, 2))
tensor([[[[4., 4.],
          [4., 4.]]]])
>>> conv_transpose1d(ones(1, 1, 2), ones(1, 1, 3), stride=2)
tensor([[[1., 1., 2., 1., 1.]]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.ops.convolution_products import (
    check_dtypes,
    convolution,
    convolution_input_grad,
)
from minitorch_compile.tensor.ops.padding import constant_pad_nd
from minitorch_compile.tensor.ops.pointwise import add
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import squeeze, unsqueeze
from minitorch_compile.tensor.ops.windows import Ints, int_tuple
from minitorch_compile.tensor.tensor_base import TensorBase


@composite(functional=True)
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Convolution of (N, C_in, L) or (C_in, L) with weight (C_out, C_in / groups, kernel).

    `padding` may be "valid" (none) or "same" (the result is as large as the input; stride must be 1).
    """
    return _convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@composite(functional=True)
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Convolution of (N, C_in, H, W) or (C_in, H, W) with `weight` (C_out, C_in / groups, kernel_h, kernel_w). `bias`
    (C_out,) is added.

    `stride`, `padding`, `dilation`: a number, or one each for height and width; `padding` may be "valid" (none) or
    "same" (the result is as large as the input; stride must be 1). `groups` divides the channels into as many
    convolutions side by side.

    >>> torch.conv2d(torch.ones(1, 3, 3), torch.ones(1, 1, 2, 2), padding=1)
    tensor([[[1., 2., 2., 1.],
             [2., 4., 4., 2.],
             [2., 4., 4., 2.],
             [1., 2., 2., 1.]]])
    """
    return _convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@composite(functional=True)
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Convolution of (N, C_in, D, H, W) or (C_in, D, H, W) with weight (C_out, C_in / groups, *kernel).

    `padding` may be "valid" (none) or "same" (the result is as large as the input; stride must be 1).
    """
    return _convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _convolve(
    name: str,
    ndim: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    _check_operands(name, ndim, input, weight)
    strides, dilations = int_tuple(stride, ndim, name, "stride"), int_tuple(dilation, ndim, name, "dilation")
    batched = len(input.sizes) == ndim + 2
    x = input if batched else unsqueeze(input, 0)
    if isinstance(padding, str):
        x, paddings = _named_padding(name, padding, x, weight, strides, dilations)
    else:
        paddings = int_tuple(padding, ndim, name, "padding")
    _check_steps(name, strides, paddings, dilations)
    result = convolution(x, weight, bias, strides, paddings, dilations, groups)
    return result if batched else squeeze(result, 0)


def _check_operands(name: str, ndim: int, input: Any, weight: Any) -> None:
    for position, (label, value) in enumerate((("input", input), ("weight", weight)), 1):
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"{name}(): argument '{label}' (position {position}) must be Tensor, not {type(value).__name__}"
            )
    if len(weight.sizes) != ndim + 2:
        raise RuntimeError(f"{name}: expected a {ndim + 2}D weight, but got weight of size: {list(weight.sizes)}")
    if len(input.sizes) not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got input of size:"
            f" {list(input.sizes)}"
        )


def _check_steps(name: str, stride: Ints, padding: Ints, dilation: Ints) -> None:
    for label, values, least in (("stride", stride, 1), ("dilation", dilation, 1), ("padding", padding, 0)):
        if any(n < least for n in values):
            kind = "negative" if least == 0 else "non-positive"
            raise RuntimeError(f"{name}: {kind} {label} is not supported, got {label}={values}")


def _named_padding(
    name: str, padding: str, x: Tensor, weight: Tensor, strides: Ints, dilations: Ints
) -> tuple[Any, Ints]:
    """What "valid" and "same" mean: the padding on both sides; an odd one out goes behind, into x itself."""
    if padding not in ("valid", "same"):
        raise RuntimeError(f"{name}: Invalid padding string: '{padding}'; it may be 'valid' or 'same', or ints")
    if padding == "valid":
        return x, (0,) * len(strides)
    if any(s != 1 for s in strides):
        raise RuntimeError(f"{name}: padding='same' is not supported for strided convolutions; got stride={strides}")
    totals = [d * (k - 1) for d, k in zip(dilations, weight.sizes[2:], strict=True)]
    if any(total % 2 for total in totals):
        x = constant_pad_nd(x, [n for total in reversed(totals) for n in (0, total % 2)])
    return x, tuple(total // 2 for total in totals)


# ------------------------------------------------------------------------------------------ transposed


@composite(functional=True)
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """Transposed convolution of (N, C_in, L) or (C_in, L) with weight (C_in, C_out / groups, kernel)."""
    return _transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@composite(functional=True)
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """Transposed convolution of (N, C_in, H, W) or (C_in, H, W) with weight (C_in, C_out / groups, *kernel).

    Each dimension becomes (n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1 long.
    """
    return _transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@composite(functional=True)
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """Transposed convolution of (N, C_in, D, H, W) or (C_in, D, H, W) with weight (C_in, C_out / groups, *kernel)."""
    return _transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _transposed(
    name: str,
    ndim: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    _check_operands(name, ndim, input, weight)
    strides, paddings = int_tuple(stride, ndim, name, "stride"), int_tuple(padding, ndim, name, "padding")
    dilations = int_tuple(dilation, ndim, name, "dilation")
    extra = int_tuple(output_padding, ndim, name, "output_padding")
    _check_steps(name, strides, paddings, dilations)
    batched = len(input.sizes) == ndim + 2
    x = input if batched else unsqueeze(input, 0)
    _check_transposed(name, x, weight, bias, groups)
    _check_output_padding(name, extra, strides, dilations)
    result = _spread(x, weight, strides, paddings, extra, dilations, groups, name)
    if bias is not None:
        result = add(result, reshape(bias, (-1, *(1,) * ndim)))
    return result if batched else squeeze(result, 0)


def _check_transposed(name: str, x: Tensor, weight: Tensor, bias: Tensor | None, groups: int) -> None:
    if groups < 1:
        raise RuntimeError(f"{name}: non-positive groups is not supported, got {groups}")
    if x.sizes[1] != weight.sizes[0] or weight.sizes[0] % groups:
        raise RuntimeError(
            f"{name}: Given transposed=1 and groups={groups}, weight of size {list(weight.sizes)}, expected"
            f" input{list(x.sizes)} to have {weight.sizes[0]} channels, divisible by groups, but got {x.sizes[1]}"
            " channels instead"
        )
    filters = weight.sizes[1] * groups
    if bias is not None and tuple(bias.sizes) != (filters,):
        raise RuntimeError(
            f"{name}: Given transposed=1, weight of size {list(weight.sizes)}, expected bias to be 1-dimensional with"
            f" {filters} elements, but got bias of size {list(bias.sizes)} instead"
        )
    check_dtypes(name, x, weight, bias)


def _check_output_padding(name: str, extra: Ints, stride: Ints, dilation: Ints) -> None:
    if min(extra) < 0:
        raise RuntimeError(f"{name}: negative output_padding is not supported, got output_padding={extra}")
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(
            f"{name}: output padding must be smaller than either stride or dilation, but got output_padding={extra},"
            f" stride={stride}, dilation={dilation}"
        )


def _spread(
    x: Tensor, weight: Tensor, stride: Ints, padding: Ints, extra: Ints, dilation: Ints, groups: int, name: str
) -> Any:
    """The transposed convolution without its bias: an input gradient, whose input's sizes are the result's."""
    reach = [
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(x.sizes[2:], stride, dilation, weight.sizes[2:], strict=True)
    ]
    sizes = [r - 2 * p + e for r, p, e in zip(reach, padding, extra, strict=True)]
    if any(n < 1 for n in sizes):
        raise RuntimeError(
            f"{name}: Given input size per channel: {list(x.sizes[2:])}. Calculated output size per channel: {sizes}."
            " Output size is too small"
        )
    full = (x.sizes[0], weight.sizes[1] * groups)
    if all(e < s for e, s in zip(extra, stride, strict=True)):
        return convolution_input_grad(x, weight, (*full, *sizes), stride, padding, dilation, groups)
    # A convolution of an output that long would have more windows: take the padding off, and put `extra` on, after it.
    whole = convolution_input_grad(x, weight, (*full, *reach), stride, (0,) * len(stride), dilation, groups)
    borders = zip(reversed(padding), reversed(extra), strict=True)
    return constant_pad_nd(whole, [n for p, e in borders for n in (-p, e - p)])
