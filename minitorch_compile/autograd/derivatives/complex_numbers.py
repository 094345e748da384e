"""Derivatives of and through complex numbers.

The gradient of a real loss L by z = a + i b is dL/da + i dL/db: the direction in which L rises most (PyTorch's
convention, too). A function with a complex derivative f' passes g on as g conj(f'), which is conj(conj(g) f'). So the
formula of such a function, written for real numbers, is right for complex ones if what goes in and what comes out is
conjugated.

>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.autograd import grad
>>> z = tensor(3 + 4j, requires_grad=True)
>>> grad(z.abs(), z), grad((z * z).real, z)
((tensor(0.6000+0.8000j),), (tensor(6.-8.j),))
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from minitorch_compile.autograd.derivative_table import (
    DERIVATIVES,
    Formula,
    Gradients,
    Layout,
    Unused,
    derivative,
    sum_to,
)
from minitorch_compile.autograd.derivatives import contraction, conv, elementary, pointwise, reduction, scan
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.memory_format import contiguous_format

WRITTEN_FOR_REAL_NUMBERS = (contraction, conv, elementary, pointwise, reduction, scan)  # must have filled their rows
HAVE_A_COMPLEX_DERIVATIVE = """
    add sub mul div pow reciprocal square sqrt rsqrt exp exp2 expm1 log log1p log2 log10 sigmoid silu tanh
    sin cos tan asin acos atan sinh cosh asinh acosh atanh
    addcmul addcdiv lerp mm bmm addmm prod cumprod convolution convolution_input_grad convolution_weight_grad
"""


def through_conjugates(formula: Formula) -> Formula:
    """The formula, with conjugates around it where the gradient is complex."""

    @wraps(formula)
    def conjugating(grad: Any, out: Any, *parameters: Any) -> Gradients:
        if not grad.dtype.is_complex:
            return formula(grad, out, *parameters)
        entries = formula(ops.conj_physical(grad), out, *parameters)
        return tuple(_conjugate(e) for e in entries) if type(entries) is tuple else _conjugate(entries)

    return conjugating


def _conjugate(entry: Any) -> Any:
    if entry is None:
        return None
    return (lambda: ops.conj_physical(entry())) if not isinstance(entry, Tensor) else ops.conj_physical(entry)


for name in HAVE_A_COMPLEX_DERIVATIVE.split():
    row = DERIVATIVES[ops.table[name]]
    row.formula = through_conjugates(row.formula)


@derivative(ops.conj_physical)
def _(grad: Tensor, out: Unused, z: Unused) -> Gradients:
    return ops.conj_physical(grad)


@derivative(ops._conj)
def _(grad: Tensor, out: Unused, z: Unused) -> Gradients:
    return ops.conj_physical(grad)


@derivative(ops._neg_view)
def _(grad: Tensor, out: Unused, x: Unused) -> Gradients:
    return -grad


@derivative(ops.complex)
def _(grad: Tensor, out: Unused, real: Layout, imag: Layout) -> Gradients:
    return lambda: sum_to(ops.real(grad), real), lambda: sum_to(ops.imag(grad), imag)


@derivative(ops._real_part)
def _(grad: Tensor, out: Unused, z: Layout) -> Gradients:
    return ops.to_copy(grad, z.dtype)


@derivative(ops._imaginary_part)
def _(grad: Tensor, out: Unused, z: Layout) -> Gradients:
    return ops.complex(ops.zeros_like(grad), grad)


@derivative(ops.view_as_real)
def _(grad: Tensor, out: Unused, z: Unused) -> Gradients:
    return ops.view_as_complex(ops.clone(grad, memory_format=contiguous_format))


@derivative(ops.view_as_complex)
def _(grad: Tensor, out: Unused, parts: Unused) -> Gradients:
    return ops.view_as_real(ops.clone(grad))  # of its own: gradients that share memory could be added into


@derivative(ops.angle)
def _(grad: Tensor, out: Unused, z: Tensor) -> Gradients:
    """i g z / |z|^2, and 0 at 0; the angle of a real number doesn't move."""
    if not z.dtype.is_complex:
        return ops.zeros_like(grad)
    squared = ops.square(ops.real(z)) + ops.square(ops.imag(z))
    return 1j * z * ops.where(squared == 0, 0.0, grad / ops.where(squared == 0, 1.0, squared))
