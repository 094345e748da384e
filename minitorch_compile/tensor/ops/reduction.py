"""Ops that collapse dimensions.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1.0, 2.0], [3.0, 4.0]])
>>> sum(x), mean(x, dim=0), argmax(x, dim=1)
(tensor(10.), tensor([2., 3.]), tensor([1, 1]))
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op, reduction
from minitorch_compile.tensor.dispatch.number_arguments import whole_number
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim, wrap_dims
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, dtype, get_default_dtype, int64, uint8
from minitorch_compile.tensor.ops import gathering, pointwise, return_types
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Dims = tuple[int, ...]
Axes = int | Sequence[int] | None


def _integers_widen(input: dtype) -> dtype:
    return input if input.category >= FLOATING else int64


def _floating_only(input: dtype) -> dtype:
    if input.category < FLOATING:
        raise RuntimeError(
            f"mean: could not infer output dtype. Input dtype must be floating point, got {input}; pass dtype= or"
            " call .float()"
        )
    return input


def _same(input: dtype) -> dtype:
    return input


def _bool(input: dtype) -> dtype:
    return uint8 if input is uint8 else bool_  # PyTorch's bytes were its bools once


@reduction(_integers_widen)
def sum(input: Array, dim: Axes = None, keepdim: bool = False, dtype: dtype | None = None) -> Array:
    """The sum over `dim` (an int, several, or None for all dimensions). With `keepdim` these stay, with size 1.
    Integers and bools add up in int64, unless `dtype` says in what the input is converted first.

    IndexError for a dimension that isn't there.

    >>> x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    >>> torch.sum(x), x.sum(0), x.sum(dim=1, keepdim=True)
    (tensor(21), tensor([5, 7, 9]), tensor([[ 6],
            [15]]))
    """
    return _total(input, dim, keepdim)


def _total(input: Array, dim: Any, keepdim: bool) -> Any:
    """The sum, of half floats in single precision: their own has three digits."""
    if input.dtype == np.float16:
        return np.sum(input, dim, np.float32, keepdims=keepdim)
    return _collapsed(np.add, input, dim, keepdim)


def _collapsed(ufunc: Any, input: Array, dim: Any, keepdim: bool) -> Any:
    """What np.sum, np.prod, np.amax and so on do, without their microseconds of preparation."""
    return ufunc.reduce(input, dim, keepdims=keepdim)


@reduction(_integers_widen)
def prod(input: Array, dim: Axes = None, keepdim: bool = False, dtype: dtype | None = None) -> Array:
    """The product over `dim`, or of all elements if that is None. With `keepdim` the dimension stays, with size 1.
    Integers and bools multiply in int64, unless `dtype` says in what.

    >>> torch.prod(torch.tensor([[1, 2], [3, 4]]), dim=1)
    tensor([ 2, 12])
    """
    return _collapsed(np.multiply, input, dim, keepdim)


@reduction(_floating_only, floats_asked=True)
def mean(input: Array, dim: Any = None, keepdim: bool = False, dtype: dtype | None = None) -> Array:
    """The average over `dim` (an int, several, or None for all dimensions); NaN over no elements. With `keepdim` these
    stay, with size 1. `dtype` is what the input is converted to first.

    RuntimeError for integers and bools unless `dtype` is given, IndexError for a dimension that isn't there.

    >>> x = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    >>> x.mean(), x.mean(dim=1)
    (tensor(3.), tensor([1.5000, 4.5000]))
    """
    count = math.prod(input.shape[d] for d in dim)
    total = _total(input, dim, keepdim)
    return total / total.dtype.type(count)


@reduction(_same, empty=False)
def amax(input: Array, dim: Axes = None, keepdim: bool = False) -> Array:
    """The largest element over `dim` (an int, several, or all); NaN if there is one. With `keepdim` the dimensions
    stay, with size 1. Equal ones share the gradient. IndexError over no elements.

    >>> torch.amax(torch.tensor([[1, 5], [7, 2]]), dim=1)
    tensor([5, 7])
    """
    return _collapsed(np.maximum, input, dim, keepdim)


@reduction(_same, empty=False)
def amin(input: Array, dim: Axes = None, keepdim: bool = False) -> Array:
    """The smallest element over `dim`; NaN if there is one. IndexError over no elements."""
    return _collapsed(np.minimum, input, dim, keepdim)


@reduction(_bool, no_dims_mean_all=False)
def any(input: Array, dim: Any = None, keepdim: bool = False) -> Array:
    """Whether some element over `dim` (an int, several, or None for all) is not 0. With `keepdim` the dimensions stay,
    with size 1. False over no elements.

    >>> x = torch.tensor([[0, 0], [0, 3]])
    >>> x.any(), torch.any(x, dim=1)
    (tensor(True), tensor([False,  True]))
    """
    return _collapsed(np.logical_or, input, dim, keepdim)


@reduction(_bool, no_dims_mean_all=False)
def all(input: Array, dim: Any = None, keepdim: bool = False) -> Array:
    """Whether no element over `dim` (an int, several, or None for all) is 0. With `keepdim` the dimensions stay, with
    size 1. True over no elements.

    >>> x = torch.tensor([[True, False], [True, True]])
    >>> x.all(), torch.all(x, dim=1)
    (tensor(False), tensor([False,  True]))
    """
    return _collapsed(np.logical_and, input, dim, keepdim)


def _arg_rule(input: TensorBase, dim: int | None = None, keepdim: bool = False) -> TensorBase:
    complex_support.refuse_complex("argmax/argmin", input.dtype)
    if input.dtype is bool_:
        raise RuntimeError("argmax/argmin(): does not support bool input; call .int() first")
    if dim is None:
        if 0 in input.sizes:
            raise IndexError(
                "argmax/argmin(): Expected reduction dim to be specified for input.numel() == 0, got sizes"
                f" {list(input.sizes)}"
            )
        return empty_fake([1] * len(input.sizes) if keepdim else [], None, int64)
    wrapped = wrap_dim(dim, len(input.sizes))
    if input.sizes and input.sizes[wrapped] == 0:
        raise IndexError(
            f"argmax/argmin(): Expected reduction dim {dim} to have non-zero size, got sizes {list(input.sizes)}"
        )
    return empty_fake(
        [1 if d == wrapped else n for d, n in enumerate(input.sizes) if keepdim or d != wrapped], None, int64
    )


def _arg(function: Any, input: Array, dim: int | None, keepdim: bool) -> Array:
    if input.ndim == 0:
        return np.asarray(0, np.int64)
    return function(input, axis=dim, keepdims=keepdim)


@kernel_op("reduction", methods=True)
def argmax(input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The index of the largest element over `dim`, the first of equals; of the flattened tensor if dim is None. With
    `keepdim` the dimension stays, with size 1.

    >>> x = torch.tensor([[1, 5], [7, 2]])
    >>> x.argmax(), x.argmax(dim=1)
    (tensor(2), tensor([1, 0]))
    """
    return _arg(np.argmax, input, dim, keepdim)


@kernel_op("reduction", methods=True)
def argmin(input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The index of the smallest element over `dim`, the first of equals; of the flattened tensor if `dim` is None."""
    return _arg(np.argmin, input, dim, keepdim)


argmax.shape_rule(_arg_rule)
argmin.shape_rule(_arg_rule)


def _extreme(
    reduce: Any, arg: Any, elementwise: Any, result: Any, input: Any, dim: Any, keepdim: bool, other: Any
) -> Any:
    if keepdim and isinstance(dim, TensorBase):  # with keepdim a tensor can't be meant as the other operand
        dim = whole_number(dim, result.__name__, "dim")
    if other is not None or isinstance(dim, TensorBase):
        return elementwise(input, dim if other is None else other)
    if dim is None:
        return reduce(input)
    indices = arg(input.to(uint8) if input.dtype is bool_ else input, dim, True)
    values = gathering.gather(input, dim, indices)
    return result(values, indices) if keepdim else result(values.squeeze(dim), indices.squeeze(dim))


@composite(methods=True)
def max(input: Tensor, dim: object = None, keepdim: bool = False, *, other: Tensor | None = None) -> object:
    """The largest of all elements; with `dim`, (values, indices) over that dimension, which stays with size 1 if
    `keepdim`; with a tensor, `other`, the larger of each two, like maximum. NaN is larger than anything. RuntimeError
    over no elements.

    >>> x = torch.tensor([[1, 5], [7, 2]])
    >>> x.max(), x.max(dim=1).indices
    (tensor(7), tensor([1, 0]))
    """
    return _extreme(amax, argmax, pointwise.maximum, return_types.max, input, dim, keepdim, other)


@composite(methods=True)
def min(input: Tensor, dim: object = None, keepdim: bool = False, *, other: Tensor | None = None) -> object:
    """The smallest of all elements; with `dim`, (values, indices) over that dimension, which stays with size 1 if
    `keepdim`; with a tensor, `other`, the smaller of each two, like minimum. NaN is smaller than anything. RuntimeError
    over no elements.

    >>> x = torch.tensor([[1, 5], [7, 2]])
    >>> x.min(), x.min(dim=1).values
    (tensor(1), tensor([1, 2]))
    """
    return _extreme(amin, argmin, pointwise.minimum, return_types.min, input, dim, keepdim, other)


@composite(methods=True)
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """(min, max) of all elements or over `dim`."""
    return return_types.aminmax(amin(input, dim, keepdim), amax(input, dim, keepdim))


# -------------------------------------------------------------------------------------------------- of some elements


@composite(methods=True)
def count_nonzero(input: Tensor, dim: Axes = None) -> Tensor:
    """How many elements over `dim` are not 0."""
    return sum(pointwise.ne(input, 0), dim)


@composite(methods=True)
def nansum(input: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor:
    """The sum over `dim` of what isn't NaN."""
    valid = input if input.dtype.category < FLOATING else pointwise.where(pointwise.isnan(input), 0.0, input)
    return sum(valid, dim, keepdim, dtype)


@composite(methods=True)
def nanmean(input: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor:
    """The average over `dim` of what isn't NaN. RuntimeError for integers."""
    if input.dtype.category < FLOATING:
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}")
    counted = sum(pointwise.logical_not(pointwise.isnan(input)), dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / counted


# -------------------------------------------------------------------------------------------------- softmax and its kin


def _along_rule(input: TensorBase, dim: int, dtype: dtype | None = None) -> TensorBase:
    wrap_dim(dim, len(input.sizes))
    element = dtype or input.dtype
    complex_support.refuse_complex("softmax", element)
    if element.category < FLOATING:
        raise NotImplementedError(
            f"softmax: implemented for floating-point tensors, got {element}; call .float() or pass dtype="
        )
    return empty_fake(input.sizes, None, element)


@kernel_op("reduction", methods=True)
def softmax(input: Array, dim: int, dtype: dtype | None = None) -> Array:
    """exp(x) / sum(exp(x)) along `dim`, computed after subtracting the maximum. `dtype` is what the input is converted
    to first. NotImplementedError for integers without one.

    >>> torch.softmax(torch.tensor([[1.0, 1.0, 1.0], [0.0, 0.0, 100.0]]), dim=1)
    tensor([[3.3333e-01, 3.3333e-01, 3.3333e-01],
            [3.7835e-44, 3.7835e-44, 1.0000e+00]])
    """
    x = _shifted(input, dim, dtype)
    np.exp(x, out=x)
    np.divide(x, _collapsed(np.add, x, dim, True), out=x)
    return x.reshape(input.shape)


@kernel_op("reduction", methods=True)
def log_softmax(input: Array, dim: int, dtype: dtype | None = None) -> Array:
    """log(softmax(x)) along `dim`, without leaving the range of floats. RuntimeError for integers."""
    x = _shifted(input, dim, dtype)
    np.subtract(x, np.log(_collapsed(np.add, np.exp(x), dim, True)), out=x)
    return x.reshape(input.shape)


softmax.shape_rule(_along_rule)
log_softmax.shape_rule(_along_rule)


def _shifted(input: Array, dim: int, element: dtype | None) -> Array:
    """A new array: the input less its maximum along `dim`, in row-major order; a 0-d input becomes one-dimensional."""
    x = np.ascontiguousarray(input, None if element is None else element.numpy)
    return x - _collapsed(np.maximum, x, dim, True) if x.size else x.copy()


@composite(methods=True)
def logsumexp(input: Tensor, dim: Axes, keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) over `dim` (an int or several), shifted by the maximum so that nothing overflows. With `keepdim`
    the dimensions stay, with size 1. -inf over no elements.

    >>> torch.logsumexp(torch.tensor([[1000.0, 1000.0], [0.0, 0.0]]), dim=1)
    tensor([1.0007e+03, 6.9315e-01])
    """
    x = input if input.dtype.category >= FLOATING else input.to(get_default_dtype())
    dims = wrap_dims(dim, len(x.sizes))
    if builtins.any(x.sizes[d] == 0 for d in dims):
        return pointwise.log(sum(pointwise.exp(x), dims, keepdim))
    top = amax(x, dims, True)
    top = pointwise.where(pointwise.eq(pointwise.abs(top), float("inf")), 0.0, top).detach()
    total = pointwise.log(sum(pointwise.exp(x - top), dims, True)) + top
    return total if keepdim else total.squeeze(dims)
