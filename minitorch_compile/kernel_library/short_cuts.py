"""Which operations have kernels, and how a call comes down to a program: its sizes, and its arrays in their order.

Each function answers None for a call that the formula computes (`replaced.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from minitorch_compile.kernel_library.replaced import (
    NUMBERS,
    composite,
    dense_if_large,
    gradient,
    is_dense,
    kernel,
    program,
)
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

Array = np.ndarray
SHORTEST_ROW = 16  # elements: of fewer, NumPy adds up many at a time

# ------------------------------------------------------------------------------------------------ normalisation


@kernel(ops.native_layer_norm)
def _(input: Array, normalized_shape: tuple[int, ...], weight: Array | None, bias: Array | None, eps: float) -> Any:
    if weight is not None and bias is None:
        bias = np.zeros_like(weight)
    given = [parameter for parameter in (weight, bias) if parameter is not None]
    if len(given) == 1 or not isinstance(eps, NUMBERS) or not is_dense(input, *given):
        return None
    found = program("layer_norm" if given else "layer_norm_plain")
    if found is None:
        return None
    kept = input.ndim - len(normalized_shape)
    columns = math.prod(normalized_shape)
    statistics = (*input.shape[:kept], *[1] * len(normalized_shape))
    sizes = (input.size // columns, columns)
    return tuple(found(sizes, (input.shape, statistics, statistics), (input, *given), eps))


@gradient(ops.native_layer_norm)
def _(grad: Any, out: Any, x: Any, normalized_shape: tuple[int, ...], weight: Any, bias: Any, eps: float) -> Any:
    if weight is None or grad[0] is None or grad[1] is not None or grad[2] is not None:
        return None
    arrays = dense_if_large(grad[0], x, weight, *out[1:])
    if arrays is None:
        return None
    by_input, by_parameters = program("layer_norm_by_input"), program("layer_norm_by_parameters")
    if by_input is None or by_parameters is None:
        return None
    upper, x, w, mean, rstd = arrays
    sizes = (x.size // w.size, w.size)

    @cache  # one program gives both
    def parameters() -> list[Array]:
        made: list[Array] = by_parameters(sizes, (w.shape, w.shape), (upper, x, mean, rstd))
        return made

    return (
        lambda: wrap(by_input(sizes, (x.shape,), (upper, x, w, mean, rstd))[0]),
        None,
        lambda: wrap(parameters()[0]),
        lambda: wrap(parameters()[1]),
    )


@composite(ops.rms_norm)
def _(input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None) -> Any:
    step = float(np.finfo(np.float32).eps) if eps is None else eps
    if not (isinstance(input, TensorBase) and isinstance(weight, TensorBase) and isinstance(step, NUMBERS)):
        return None
    fits = weight.sizes == tuple(normalized_shape) == input.sizes[-len(weight.sizes) :]
    arrays = dense_if_large(input, weight) if fits else None
    found = program("rms_norm") if arrays is not None else None
    if arrays is None or found is None:
        return None
    x, w = arrays
    return wrap(found((x.size // w.size, w.size), (x.shape,), arrays, step)[0])


# ------------------------------------------------------------------------------------------------ softmax


def _along_rows(name: str) -> Callable[..., Any]:
    def run(input: Array, dim: int, dtype: Any = None) -> Any:
        if dtype is not None or dim not in (-1, input.ndim - 1) or not is_dense(input):
            return None
        found = program(name)
        columns = input.shape[-1]
        return found and found((input.size // columns, columns), (input.shape,), (input,))[0]

    return run


def _along_rows_backward(name: str) -> Callable[..., Any]:
    def run(grad: Any, out: Any, x: Any, dim: int, dtype: Any) -> Any:
        if dim not in (-1, len(out.sizes) - 1) or x.dtype is not out.dtype:
            return None
        arrays = dense_if_large(grad, out)
        if arrays is None:
            return None
        found, columns = program(name), out.sizes[-1]
        return found and wrap(found((arrays[0].size // columns, columns), (arrays[0].shape,), arrays)[0])

    return run


for _name, _op in (("softmax", ops.softmax), ("log_softmax", ops.log_softmax)):
    kernel(_op)(_along_rows(_name))
    gradient(_op)(_along_rows_backward(f"{_name}_backward"))

# ------------------------------------------------------------------------------------------------ sums


@kernel(ops.sum)
def sum_of_rows(input: Array, dims: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    columns = input.shape[-1]
    if dims != (input.ndim - 1,) or columns < SHORTEST_ROW or not is_dense(input):
        return None
    found = program("sum_of_rows")
    shape = (*input.shape[:-1], 1) if keepdim else input.shape[:-1]
    return found and found((input.size // columns, columns), (shape,), (input,))[0]


@kernel(ops.mean)
def _(input: Array, dims: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    total = sum_of_rows(input, dims, keepdim, dtype)
    return total if total is None else np.divide(total, input.dtype.type(input.shape[-1]), out=total)


@kernel(ops.cumsum)
def _(input: Array, dim: int, dtype: Any = None) -> Any:
    at, found = dim % input.ndim, None
    if dtype is not None or not is_dense(input):
        return None
    if at == input.ndim - 1:
        found, sizes = program("cumsum_of_rows"), (input.size // input.shape[at], input.shape[at])
    elif at == 0:
        found, sizes = program("cumsum_of_columns"), (input.shape[at], input.size // input.shape[at])
    return found and found(sizes, (input.shape,), (input,))[0]
