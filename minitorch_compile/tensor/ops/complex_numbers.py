"""Complex tensors: made of two real ones, taken apart, conjugated.

real, imag, view_as_real, view_as_complex and conj share memory with the tensor that they look at.

>>> from minitorch_compile.tensor import tensor
>>> z = complex(tensor([3.0]), tensor([-4.0]))
>>> z, z.real, z.conj(), z.abs(), view_as_real(z)
(tensor([3.-4.j]), tensor([3.]), tensor([3.+4.j]), tensor([5.]), tensor([[ 3., -4.]]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, kernel_op, pointwise
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.dispatch.pointwise_op import INT_TO_FLOAT
from minitorch_compile.tensor.memory.elementwise_strides import elementwise_strides
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.dtype import float16, float32, float64
from minitorch_compile.tensor.ops.copies import clone
from minitorch_compile.tensor.ops.pointwise import cos, mul, sin
from minitorch_compile.tensor.ops.reinterpretation import Layout, reinterpretation
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

PARTS = (float32, float64, float16)  # what complex numbers can be made of

# ------------------------------------------------------------------------------------------------ made and taken apart


@kernel_op("complex")
def complex(real: Array, imag: Array) -> Array:
    """real + i imag, of two tensors that broadcast: both of float32 (gives complex64), float64 (complex128) or float16
    (complex32)."""
    result = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real, np.complex64))
    result.real, result.imag = real, imag
    return result


@complex.shape_rule
def _complex_rule(real: TensorBase, imag: TensorBase) -> TensorBase:
    for x in (real, imag):
        if not isinstance(x, TensorBase):
            raise TypeError(f"complex(): argument must be Tensor, not {type(x).__name__}; wrap it in torch.tensor")
        if x.dtype not in PARTS:
            raise RuntimeError(f"complex: Expected both inputs to be Half, Float or Double tensors but got {x.dtype}")
    if real.dtype is not imag.dtype:
        raise RuntimeError(f"complex: Expected object of {real.dtype} but got {imag.dtype} for second argument")
    sizes = broadcast_sizes(real.sizes, imag.sizes)
    strides = elementwise_strides(sizes, [(real.sizes, real.strides), (imag.sizes, imag.strides)])
    return empty_fake(sizes, strides, real.dtype.to_complex())


@composite()
def polar(abs: Tensor, angle: Tensor) -> Any:
    """The complex number of that absolute value in that direction."""
    return complex(mul(abs, cos(angle)), mul(abs, sin(angle)))


@reinterpretation(torch=False)
def _real_part(input: TensorBase) -> Layout:
    """The real parts: every second number."""
    return input.sizes, [2 * s for s in input.strides], 2 * input.offset, input.dtype.to_real()


@reinterpretation(torch=False, signs=lambda conj, neg: (False, conj is not neg))
def _imaginary_part(input: TensorBase) -> Layout:
    """The imaginary parts: the numbers between these."""
    return input.sizes, [2 * s for s in input.strides], 2 * input.offset + 1, input.dtype.to_real()


@composite()
def real(input: Tensor) -> Any:
    """The real parts; a real tensor itself."""
    return _real_part(input) if input.dtype.is_complex else input


@composite()
def imag(input: Tensor) -> Any:
    """The imaginary parts. RuntimeError for a real tensor."""
    if not input.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _imaginary_part(input)


@reinterpretation()
def view_as_real(input: TensorBase) -> Layout:
    """A view: real and imaginary parts along one more dimension, the last. RuntimeError for what isn't complex.

    >>> torch.view_as_real(torch.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    if not input.dtype.is_complex:
        raise RuntimeError(f"view_as_real is only supported for complex tensors, got {input.dtype}")
    if input.storage.conj:
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can"
            " view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the"
            " original."
        )
    return (*input.sizes, 2), (*(2 * s for s in input.strides), 1), 2 * input.offset, input.dtype.to_real()


@reinterpretation()
def view_as_complex(input: TensorBase) -> Layout:
    """The complex numbers of which the last dimension, of size 2, has the parts.

    RuntimeError unless these lie side by side in memory.
    """
    if input.dtype not in PARTS:
        raise RuntimeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor of {input.dtype}"
        )
    if not input.sizes or input.sizes[-1] != 2:
        raise RuntimeError(f"Tensor must have a last dimension of size 2, got sizes {list(input.sizes)}")
    *strides, last = input.strides
    if last != 1:
        raise RuntimeError(f"Tensor must have a last dimension with stride 1, got strides {input.strides}")
    if input.offset % 2 or any(s % 2 for s in strides):
        raise RuntimeError(
            "Tensor must have a storage_offset and strides divisible by 2, but for the last dimension, got"
            f" {input.offset} and {input.strides}; call .contiguous() first"
        )
    return input.sizes[:-1], [s // 2 for s in strides], input.offset // 2, input.dtype.to_complex()


# ------------------------------------------------------------------------------------------------------------ functions


@pointwise()
def conj_physical(input: Array) -> Array:
    """The conjugate numbers; real ones are their own."""
    return np.conjugate(input) if input.dtype.kind == "c" else input


@reinterpretation(signs=lambda conj, neg: (not conj, neg))
def _conj(input: TensorBase) -> Layout:
    """The conjugate numbers, as a view. RuntimeError for a real tensor."""
    if not input.dtype.is_complex:
        raise RuntimeError(f"_conj is only supported for complex tensors, got {input.dtype}; use conj()")
    return input.sizes, input.strides, input.offset, input.dtype


@reinterpretation(signs=lambda conj, neg: (conj, not neg))
def _neg_view(input: TensorBase) -> Layout:
    """The negative numbers, as a view."""
    return input.sizes, input.strides, input.offset, input.dtype


@composite(methods=True)
def conj(input: Tensor) -> Any:
    """The conjugate numbers, as a view of the tensor; a real tensor itself."""
    return _conj(input) if input.dtype.is_complex else input


@composite(methods=True)
def resolve_conj(input: Tensor) -> Any:
    """The conjugate numbers in memory of their own, if the tensor is a view as conj() makes; else itself."""
    return clone(input) if input.is_conj() else input


@composite(methods=True)
def resolve_neg(input: Tensor) -> Any:
    """The negative numbers in memory of their own, if the tensor is a view such as z.conj().imag; else itself."""
    return clone(input) if input.is_neg() else input


@pointwise(INT_TO_FLOAT, inplace=False)
def angle(input: Array) -> Array:
    """The direction of each number in radians, in (-pi, pi]; 0 or pi for real ones."""
    result = np.angle(input)
    return np.where(np.isnan(input), np.nan, result).astype(result.dtype) if input.dtype.kind == "f" else result
