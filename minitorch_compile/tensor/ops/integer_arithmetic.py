"""What only integers can do: shifts, the greatest common divisor, the least common multiple.

>>> from minitorch_compile.tensor import tensor
>>> tensor([1, 2]) << 3, gcd(tensor(12), tensor(18)), lcm(tensor(4), tensor(6))
(tensor([ 8, 16]), tensor(6), tensor(12))
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.tensor.dispatch.declare import pointwise
from minitorch_compile.tensor.dispatch.op import Array, Scalar


@pointwise()
def bitwise_left_shift(input: Array | Scalar, other: Array | Scalar) -> Array:
    """input * 2 ** other; bits that leave the dtype are lost. RuntimeError for floats and bools."""
    return np.left_shift(*_integers("bitwise_left_shift", input, other))


@pointwise()
def bitwise_right_shift(input: Array | Scalar, other: Array | Scalar) -> Array:
    """input / 2 ** other, rounded down. RuntimeError for floats and bools."""
    return np.right_shift(*_integers("bitwise_right_shift", input, other))


@pointwise(inplace_function=True)
def gcd(input: Array, other: Array) -> Array:
    """The greatest common divisor, not negative. RuntimeError for floats and bools."""
    return np.gcd(*_integers("gcd", input, other))


@pointwise(inplace_function=True)
def lcm(input: Array, other: Array) -> Array:
    """The least common multiple, not negative. RuntimeError for floats and bools."""
    return np.lcm(*_integers("lcm", input, other))


def _integers(name: str, input: Array | Scalar, other: Array | Scalar) -> tuple[Array | Scalar, Array | Scalar]:
    element = np.result_type(input, other)
    if element.kind not in "iu":
        raise NotImplementedError(f'{name}: "{name}" is implemented for integer tensors, got {element}')
    return input, other
