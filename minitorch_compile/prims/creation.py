"""Prims that make a tensor from numbers.

>>> from minitorch_compile.tensor import float32, int64, tensor
>>> full((2,), 1.5, float32), iota(3, 10, 5, int64)
(tensor([1.5000, 1.5000]), tensor([10, 15, 20]))
>>> x = philox_uniform((4,), tensor(7), tensor(0), float32)
>>> y = philox_uniform((2,), tensor(7), tensor(2), float32)    # the same stream, from its third number on
>>> (x[2:] == y).all()
tensor(True)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.prims.prim import check_dtype, check_index, check_ints, describe, prim, refuse
from minitorch_compile.symbolic import WHOLE
from minitorch_compile.tensor.dispatch.op import Array, Scalar
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import COMPLEX, FLOATING, dtype
from minitorch_compile.tensor.numerics.element_conversion import zero_of
from minitorch_compile.tensor.random.philox import uniform
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


def _check_number(name: str, argument: str, value: Any) -> None:
    if not isinstance(value, (*WHOLE, float)):
        raise refuse(name, argument, "a number", describe(value))


def _full_rule(name: str, sizes: Ints, value: Any, dtype: dtype) -> TensorBase:
    check_ints(name, "sizes", sizes, len(sizes))
    check_dtype(name, "dtype", dtype)
    if not (dtype.is_complex and isinstance(value, complex)):
        _check_number(name, "value", value)
    return empty_fake(sizes, None, dtype)


@prim("creation", _full_rule, dtypes="any", sizes="sizes")
def full(sizes: Ints, value: Scalar, dtype: dtype) -> Array:
    """One value everywhere; a complex one only for a complex dtype."""
    return np.full(sizes, value if value else zero_of(dtype, value), dtype.numpy)


def _iota_rule(name: str, length: int, start: Any, step: Any, dtype: dtype) -> TensorBase:
    check_ints(name, "(length,)", (length,), 1)
    _check_number(name, "start", start)
    _check_number(name, "step", step)
    check_dtype(name, "dtype", dtype)
    if dtype.category == COMPLEX:
        raise refuse(name, "dtype", "a real dtype", dtype)
    return empty_fake((length,), None, dtype)


@prim("creation", _iota_rule, dtypes="bool, integers, floats", sizes="[length]")
def iota(length: int, start: Scalar, step: Scalar, dtype: dtype) -> Array:
    """start + step * i for i = 0 ... length - 1, computed in int64 or float64 and then converted."""
    places: Array = np.arange(length, dtype=np.int64 if dtype.category < FLOATING else np.float64)
    return (start + step * places).astype(dtype.numpy)


def _philox_rule(name: str, sizes: Ints, seed: Any, offset: Any, dtype: dtype) -> TensorBase:
    check_ints(name, "sizes", sizes, len(sizes))
    for argument, value in (("seed", seed), ("offset", offset)):
        check_index(name, argument, value)
        if value.sizes != ():
            raise refuse(name, argument, "a 0-d int64 tensor", describe(value))
    check_dtype(name, "dtype", dtype)
    if dtype.category != FLOATING:
        raise refuse(name, "dtype", "a floating-point dtype", dtype)
    return empty_fake(sizes, None, dtype)


@prim("creation", _philox_rule, dtypes="int64 for seed and offset -> floats", sizes="sizes")
def philox_uniform(sizes: Ints, seed: Array, offset: Array, dtype: dtype) -> Array:
    """Numbers in [0, 1): element i (row-major) depends only on seed and offset + i. See tensor/random/philox.py."""
    return uniform(int(seed), int(offset), numel(sizes), dtype.numpy).reshape(sizes)
