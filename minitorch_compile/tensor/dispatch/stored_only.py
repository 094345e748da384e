"""Dtypes that numbers are kept in, and hardly computed with: eight-bit floats, complex numbers of two halves, and
unsigned integers of more than a byte.

PyTorch's CPU kernels refuse them as these do. They are made, moved, compared for equality and converted; two tensors of
eight-bit floats can be multiplied, and those of complex32 be added, too.

>>> from minitorch_compile.tensor import tensor, float32
>>> from minitorch_compile.tensor.numerics.dtype import float8_e4m3fn
>>> x = tensor([1.0, 0.3, 1000.0]).to(float8_e4m3fn)
>>> x.to(float32)
tensor([1.0000e+00, 3.1250e-01, 4.4800e+02])
>>> (x * x).to(float32)
tensor([1.0000e+00, 9.3750e-02, 4.4800e+02])
>>> x + x
Traceback (most recent call last):
NotImplementedError: "add" not implemented for torch.float8_e4m3fn: convert with .to(), compute, and convert the result
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import (
    ONLY_STORED,
    complex32,
    dtype,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
)
from minitorch_compile.tensor.tensor_base import TensorBase

COMPARED = frozenset(("eq", "ne", "isnan", "where"))
OF_WHOLE_NUMBERS = COMPARED | {"bitwise_and", "bitwise_or", "bitwise_xor", "mul", "sum", "any", "all", "count_nonzero"}
# Of eight-bit floats: products are computed in float32, and rounded once.
_SIGNED = COMPARED | {"mul", "any", "all", "abs", "mm"}
_FLOAT8 = {
    **dict.fromkeys((float8_e4m3fn, float8_e4m3fnuz, float8_e5m2fnuz), _SIGNED),
    float8_e5m2: _SIGNED | {"isinf", "isfinite"},  # the only one that has infinities
    float8_e8m0fnu: COMPARED | {"mul"},
}
_OF_COMPLEX32 = """
    add sub rsub mul neg positive abs conj_physical addcmul isinf isfinite isreal any all count_nonzero _vector_norm
    convolution
"""
COMPUTED = {**_FLOAT8, complex32: COMPARED | frozenset(_OF_COMPLEX32.split())}
# Ops with a kernel of their own, by kind, that don't compute in them; the other kinds move elements.
REFUSED_KINDS = {
    "contraction": ONLY_STORED,
    **dict.fromkeys(("linalg", "fourier", "sorting", "pooling", "normalization", "reduction"), frozenset((complex32,))),
}


def refuse_kernel(name: str, kind: str, element: dtype) -> None:
    """NotImplementedError for an op with a kernel of its own that doesn't compute in a dtype of this kind."""
    if element in REFUSED_KINDS.get(kind, ()):
        refuse_stored(name, element)


def refuse_stored(name: str, element: dtype, operands: Sequence[Any] = ()) -> None:
    """NotImplementedError for an op that doesn't compute in a dtype of this kind. Eight-bit floats are not multiplied
    by numbers, nor by a tensor of one element."""
    if element not in ONLY_STORED:
        return
    by_number = len(operands) == 2 and (not isinstance(operands[1], TensorBase) or numel(operands[1].sizes) == 1)
    if name not in COMPUTED.get(element, OF_WHOLE_NUMBERS) or (name == "mul" and element in _FLOAT8 and by_number):
        raise NotImplementedError(
            f'"{name}" not implemented for {element}: convert with .to(), compute, and convert the result'
        )
