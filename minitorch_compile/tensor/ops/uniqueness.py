"""Which different elements there are. The sizes of the results depend on the data, so these ops can't be traced.

>>> from minitorch_compile.tensor import tensor
>>> unique(tensor([3, 1, 3]), return_counts=True), isin(tensor([1, 2]), tensor([2, 3]))
((tensor([1, 3]), tensor([1, 2])), tensor([False,  True]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.ops.construct import as_tensor
from minitorch_compile.tensor.tensor_base import FakeDataError, TensorBase, empty_fake


@kernel_op("sorting", torch=False)
def unique_parts(input: Array, dim: int | None) -> tuple[Array, Array, Array]:
    """(the different elements in order, for each element which of them it is, how often each occurs)."""
    values, inverse, counts = np.unique(input, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    return values, inverse.reshape(input.shape if dim is None else -1), counts


def _rows(input: Array, dim: int) -> Array:
    """The sub-tensors along `dim`, each as a row."""
    count = input.shape[dim]
    return np.moveaxis(input, dim, 0).reshape(count, input.size // count if count else 1)


@kernel_op("sorting", torch=False)
def unique_consecutive_parts(input: Array, dim: int | None) -> tuple[Array, Array, Array]:
    """(the first element of each run of equals, for each element which run it is in, how long each run is)."""
    rows = input.reshape(-1, 1) if dim is None else _rows(input, dim)
    starts = np.ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(1)
    firsts = np.flatnonzero(starts)
    values = input.reshape(-1)[firsts] if dim is None else np.take(input, firsts, dim)
    inverse = (np.cumsum(starts) - 1).reshape(input.shape if dim is None else -1)
    return values, inverse, np.diff(firsts, append=len(rows))


def _needs_data(input: TensorBase, dim: int | None) -> Any:
    if dim is not None and 0 in input.sizes and input.sizes[wrap_dim(dim, len(input.sizes))]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied, got sizes"
            f" {list(input.sizes)}"
        )
    if input.is_fake:
        raise FakeDataError(
            "unique: the sizes of the results depend on the data, which a fake tensor doesn't have; call it outside of"
            " the traced program"
        )
    return None


for _op in (unique_parts, unique_consecutive_parts):
    _op.shape_depends_on_data = True
    _op.shape_rule(_needs_data)


@composite(methods=True)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements in order (also if not `sorted`); with `dim`, the different sub-tensors along it.

    With `return_inverse` also, for each element, its place among them, and with `return_counts` how often each occurs.

    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    return _asked(unique_parts(input, dim), return_inverse, return_counts)


@composite(methods=True)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements without those that equal the one before; otherwise like unique."""
    return _asked(unique_consecutive_parts(input, dim), return_inverse, return_counts)


def _asked(parts: tuple[Any, Any, Any], inverse: bool, counts: bool) -> Any:
    values, of_each, how_often = parts
    result = (values, *([of_each] if inverse else []), *([how_often] if counts else []))
    return result if len(result) > 1 else values


@kernel_op("sorting", torch=False)
def isin_elements(elements: Array, test_elements: Array) -> Array:
    """Where an element is among the test elements."""
    return np.isin(elements, test_elements)


@isin_elements.shape_rule
def _isin_rule(elements: TensorBase, test_elements: TensorBase) -> TensorBase:
    return empty_fake(elements.sizes, None, bool_)


@composite()
def isin(
    elements: Tensor | Scalar, test_elements: Tensor | Scalar, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    """Where an element is among the test elements, or isn't if `invert`. Either may be a number."""
    given = [x if isinstance(x, TensorBase) else as_tensor(x) for x in (elements, test_elements)]
    found = isin_elements(*given)
    return ~found if invert else found
