"""Prims that are sums of products: matrices, batches of matrices, and convolution with its two gradients.

>>> from minitorch_compile.tensor import tensor
>>> mm(tensor([[1.0, 2.0]]), tensor([[3.0], [4.0]]))
tensor([[11.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.prims.prim import NUMBERS, check_ints, check_tensor, describe, prim, refuse
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.cpu.blas import matmul
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Pair = tuple[int, int]


def _check_matrices(name: str, a: Any, b: Any, ndim: int) -> None:
    for argument, value in (("a", a), ("b", b)):
        check_tensor(name, argument, value, NUMBERS)
        if len(value.sizes) != ndim:
            raise refuse(name, argument, f"{ndim}-dimensional", describe(value))
    if b.dtype is not a.dtype or b.sizes[:-2] != a.sizes[:-2] or b.sizes[-2] != a.sizes[-1]:
        raise refuse(name, "b", f"of a's dtype and with {a.sizes[-1]} rows, since a is {describe(a)}", describe(b))


def _mm_rule(name: str, a: Any, b: Any) -> TensorBase:
    _check_matrices(name, a, b, 2)
    return empty_fake((a.sizes[0], b.sizes[1]), None, a.dtype)


@prim("contraction", _mm_rule, dtypes="numbers", sizes="[n, m] of [n, k] and [k, m]")
def mm(a: Array, b: Array) -> Array:
    """The product of two matrices."""
    return matmul(a, b)


def _bmm_rule(name: str, a: Any, b: Any) -> TensorBase:
    _check_matrices(name, a, b, 3)
    return empty_fake((a.sizes[0], a.sizes[1], b.sizes[2]), None, a.dtype)


@prim("contraction", _bmm_rule, dtypes="numbers", sizes="[b, n, m] of [b, n, k] and [b, k, m]")
def bmm(a: Array, b: Array) -> Array:
    """The products of two batches of matrices, pair by pair."""
    return matmul(a, b)


# ------------------------------------------------------------------------------------------ convolution


def _check_geometry(name: str, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> None:
    check_ints(name, "stride", stride, 2, least=1)
    check_ints(name, "padding", padding, 2)
    check_ints(name, "dilation", dilation, 2, least=1)
    check_ints(name, "(groups,)", (groups,), 1, least=1)


def _convolution_sizes(name: str, x: Any, w: Any, geometry: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes of convolution(x, w), with everything checked."""
    _check_geometry(name, *geometry)
    stride, padding, dilation, groups = geometry
    return tuple(ops.convolution.meta(x, w, None, stride, padding, dilation, groups).sizes)


def _convolution_rule(
    name: str, x: Any, w: Any, stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> TensorBase:
    check_tensor(name, "x", x, NUMBERS)
    check_tensor(name, "w", w, NUMBERS)
    return empty_fake(_convolution_sizes(name, x, w, (stride, padding, dilation, groups)), None, x.dtype)


@prim("convolution", _convolution_rule, dtypes="numbers", sizes="[N, C_out, out_h, out_w]")
def convolution(x: Array, w: Array, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Array:
    """x (N, C_in, H, W) with w (C_out, C_in / groups, kernel_h, kernel_w) -> (N, C_out, out_h, out_w)."""
    return ops.convolution.kernel(x, w, None, stride, padding, dilation, groups)


def _check_grad(name: str, grad: Any, x: Any, w: Any, geometry: tuple[Any, ...]) -> None:
    sizes = _convolution_sizes(name, x, w, geometry)
    if tuple(grad.sizes) != sizes:
        raise refuse(name, "grad", f"of the sizes {list(sizes)} that the convolution has", describe(grad))


def _input_grad_rule(
    name: str, grad: Any, w: Any, input_sizes: tuple[int, ...], stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> TensorBase:
    check_tensor(name, "grad", grad, NUMBERS)
    check_tensor(name, "w", w, NUMBERS)
    check_ints(name, "input_sizes", input_sizes, 4)
    x = empty_fake(input_sizes, None, grad.dtype)
    _check_grad(name, grad, x, w, (stride, padding, dilation, groups))
    return x


@prim("convolution", _input_grad_rule, dtypes="numbers", sizes="input_sizes")
def convolution_input_grad(
    grad: Array, w: Array, input_sizes: tuple[int, ...], stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> Array:
    """The gradient of a convolution in its input, which has `input_sizes`."""
    return ops.convolution_input_grad.kernel(grad, w, input_sizes, stride, padding, dilation, groups)


def _weight_grad_rule(
    name: str,
    grad: Any,
    x: Any,
    weight_sizes: tuple[int, ...],
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> TensorBase:
    check_tensor(name, "grad", grad, NUMBERS)
    check_tensor(name, "x", x, NUMBERS)
    check_ints(name, "weight_sizes", weight_sizes, 4)
    w = empty_fake(weight_sizes, None, grad.dtype)
    _check_grad(name, grad, x, w, (stride, padding, dilation, groups))
    return w


@prim("convolution", _weight_grad_rule, dtypes="numbers", sizes="weight_sizes")
def convolution_weight_grad(
    grad: Array, x: Array, weight_sizes: tuple[int, ...], stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> Array:
    """The gradient of a convolution in its weight, which has `weight_sizes`."""
    return ops.convolution_weight_grad.kernel(grad, x, weight_sizes, stride, padding, dilation, groups)
