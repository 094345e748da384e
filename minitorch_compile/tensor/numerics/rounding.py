"""Numbers of two bytes: kernels compute with them in float32, and round their results once, as PyTorch's do.
Pairs of them, complex32, are computed in complex64.

NumPy has no arithmetic for bfloat16, so every kernel gets float32 arrays in its place. For float16 it has, and rounds
each step; so float16 is widened for the ops that take several. A number beside tensors is rounded to their dtype first,
and so is a 0-d tensor, except where PyTorch multiplies or divides by it.

>>> import numpy as np
>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.tensor.numerics.dtype import bfloat16
>>> x = tensor([1.0, 3.0], dtype=bfloat16)
>>> widened(x.array), x / 3
(array([1., 3.], dtype=float32), tensor([0.3340, 1.0000], dtype=torch.bfloat16))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.symbolic import SymFloat
from minitorch_compile.tensor.numerics.dtype import FLOAT8, bfloat16, complex32, dtype, float16
from minitorch_compile.tensor.numerics.element_conversion import castable

WIDE = np.dtype(np.float32)
HALF = frozenset((float16, bfloat16))
NARROW = HALF | frozenset((*FLOAT8, complex32))
WIDE_FORMS = {element.numpy: WIDE for element in (bfloat16, *FLOAT8)} | {complex32.numpy: np.dtype(np.complex64)}

# Pointwise ops of one step, which rounds once whatever it is computed in.
_ONE_STEP = """
    abs add all amax amin any argmax argmin atan2 ceil clamp copysign cos div eq erf exp expm1 floor fmax fmin
    fmod ge gt isfinite isinf isnan isreal le log log1p logical_and logical_not logical_or logical_xor lt maximum
    minimum mul ne neg nextafter reciprocal relu remainder round rsqrt sign signbit sin sqrt square sub tanh trunc
    where running_extreme_indices
"""
ROUNDS_ONCE = frozenset(_ONE_STEP.split())
# The operand that PyTorch's kernels take as it is, where it is a number.
EXACT_NUMBERS = {"mul": 1, "div": 1, "floor_divide": 1, "lerp": 2}
COUNTS_STEPS = frozenset(("nextafter",))  # of the dtype that its operands have: there are none between two halves
TELLS_APART = COUNTS_STEPS | {"bincount"}  # narrow floats and float32: the result's dtype depends on it
# Where a number stands beside a product that is rounded with the sum.
WITH_ALPHA = frozenset({"add", "sub"})


def takes_as_it_is(op: str, position: int, operand: Any) -> bool:
    """Whether an operand that is a number or a 0-d tensor is not rounded; `2.5 * x` stands for `x * 2.5`."""
    return EXACT_NUMBERS.get(op) == position or (op == "mul" and isinstance(operand, (int, float, SymFloat)))


def half_number(value: Any, element: dtype) -> Any:
    """A number as a float16 or bfloat16 tensor could hold it."""
    with np.errstate(over="ignore"):
        return float(element.numpy.type(float(value)))


def widened(array: np.ndarray) -> np.ndarray:
    """The array, in float32 if it is of bfloat16 or of a float of one byte; complex32 in complex64."""
    wide = WIDE_FORMS.get(array.dtype)
    return array if wide is None else array.astype(wide)


def rounded(result: Any, element: dtype) -> np.ndarray:
    """A result as an array, rounded to two bytes, or one, if that is the dtype it should have."""
    array = np.asarray(result)
    if element not in NARROW or array.dtype == element.numpy:
        return array
    with np.errstate(over="ignore"):
        return castable(array, element.numpy).astype(element.numpy)


def computes_in(element: dtype) -> np.dtype:
    """The NumPy dtype that kernels compute in for tensors of this dtype."""
    return WIDE_FORMS.get(element.numpy, element.numpy)
