"""Which ops compute with complex numbers; the others refuse them, as PyTorch's do.

>>> from minitorch_compile.tensor import tensor
>>> tensor([3 + 4j]).abs(), tensor([1j]) * tensor([1j])
(tensor([5.]), tensor([-1.+0.j]))
>>> tensor([1j]) < 1
Traceback (most recent call last):
NotImplementedError: "lt" not implemented for torch.complex64: ...
"""

from __future__ import annotations

from minitorch_compile.tensor.numerics.dtype import dtype

# Elementwise functions that have a meaning for complex numbers.
_POINTWISE = """
    add sub rsub mul div pow neg positive reciprocal square sqrt rsqrt float_power
    exp exp2 expm1 log log1p log2 log10 sigmoid silu tanh
    sin cos tan asin acos atan sinh cosh asinh acosh atanh sinc
    abs angle conj_physical eq ne isnan isinf isfinite isreal logical_and logical_or logical_not logical_xor
    addcmul addcdiv lerp where
"""
POINTWISE = frozenset(_POINTWISE.split())

# Of these the result is real.
REAL_RESULTS = frozenset(("abs", "angle"))

REDUCTIONS = frozenset(("sum", "mean", "prod", "any", "all", "nansum", "_vector_norm", "count_nonzero"))


def refuse_complex(name: str, element: dtype) -> None:
    """NotImplementedError for a complex dtype: for ops that put numbers in order, which complex ones have none of."""
    if element.is_complex:
        raise unsupported(name, element)


def unsupported(name: str, element: dtype) -> NotImplementedError:
    """The error of an op that complex numbers have no meaning for, or none yet."""
    return NotImplementedError(
        f'"{name}" not implemented for {element}: compute with .real and .imag, or with .abs() and .angle()'
    )
