"""Dtypes that numbers are kept in, and not computed with: eight-bit floats, and unsigned integers of more than a byte.

PyTorch's CPU kernels refuse them as these do. They are made, moved, compared for equality and converted.

>>> from minitorch_compile.tensor import tensor, float32
>>> from minitorch_compile.tensor.numerics.dtype import float8_e4m3fn
>>> x = tensor([1.0, 0.3, 1000.0]).to(float8_e4m3fn)
>>> x.to(float32)
tensor([1.0000e+00, 3.1250e-01, 4.4800e+02])
>>> x * x
Traceback (most recent call last):
NotImplementedError: "mul" not implemented for torch.float8_e4m3fn: convert with .to(), compute, and convert the result
"""

from __future__ import annotations

from minitorch_compile.tensor.numerics.dtype import INTEGER, ONLY_STORED, dtype

COMPARED = frozenset(("eq", "ne", "isnan", "where"))
OF_WHOLE_NUMBERS = COMPARED | {"bitwise_and", "bitwise_or", "bitwise_xor", "mul", "sum", "any", "all", "count_nonzero"}


def refuse_stored(name: str, element: dtype) -> None:
    """NotImplementedError for an op that doesn't compute in a dtype of this kind."""
    if element in ONLY_STORED and name not in (OF_WHOLE_NUMBERS if element.category == INTEGER else COMPARED):
        raise NotImplementedError(
            f'"{name}" not implemented for {element}: convert with .to(), compute, and convert the result'
        )
