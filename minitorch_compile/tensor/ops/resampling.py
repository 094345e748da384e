"""Linear maps along one dimension in which each result element depends on a few input elements only.

Resizing an image, and averaging unequal parts of it, are such maps, one after another for each dimension. A map is a
pair of arrays with a row for each tap: `places`, the input index that each result element reads there, and `weights`,
what it is multiplied by. The transposed map, which carries gradients back, is of the same form; so both are given, and
the derivative of the op is the op with the pairs exchanged.

>>> import numpy as np
>>> from minitorch_compile.tensor import tensor
>>> halves = SparseMap(np.array([[0, 2], [1, 3]]), np.array([[0.5, 0.5], [0.5, 0.5]]))
>>> halves.transposed(4).places, halves.transposed(4).weights
(array([[0, 0, 1, 1]]), array([[0.5, 0.5, 0.5, 0.5]]))
>>> apply_map(tensor([1.0, 3.0, 5.0, 7.0]), 0, TwoWayMap.of(halves, 4))
tensor([2., 6.])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.dispatch import converted_by_modes
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.memory.memory_format import strides_in, suggested_format
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, wrap


class SparseMap(NamedTuple):
    """Result element i is the sum over taps t of weights[t, i] * input[places[t, i]]."""

    places: Array
    weights: Array

    def transposed(self, size: int) -> SparseMap:
        """The map from results back to an input of `size` elements; short columns are filled up with weight 0."""
        results = np.broadcast_to(np.arange(self.places.shape[1]), self.places.shape)
        used = self.weights != 0
        source, result, weight = self.places[used], results[used], self.weights[used]
        order = np.argsort(source, kind="stable")
        source, result, weight = source[order], result[order], weight[order]
        counts = np.bincount(source, minlength=size)
        tap = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.zeros((max(int(counts.max(initial=0)), 1), size), np.int64)
        weights = np.zeros(places.shape, self.weights.dtype)
        places[tap, source], weights[tap, source] = result, weight
        return SparseMap(places, weights)


class TwoWayMap(NamedTuple):
    """A map and its transposed."""

    forth: SparseMap
    back: SparseMap

    @classmethod
    def of(cls, forth: SparseMap, size: int) -> TwoWayMap:
        """The map of an input of `size` elements, both ways."""
        return cls(forth, forth.transposed(size))


def apply_map(input: Any, dim: int, along: TwoWayMap) -> Any:
    """The map applied along `dim`. The result has the input's dtype."""
    number = np.float64 if input.dtype.itemsize == 8 else np.float32
    forth_weights, back_weights = (converted_by_modes(wrap(m.weights.astype(number))) for m in along)
    forth_places, back_places = (converted_by_modes(wrap(m.places)) for m in along)
    return resample(input, dim, forth_places, forth_weights, back_places, back_weights)


@kernel_op("indexing", torch=False)
def resample(input: Array, dim: int, places: Array, weights: Array, back_places: Array, back_weights: Array) -> Array:
    """A sparse linear map along one dimension; `back_places` and `back_weights` are its transposed, for gradients.

    Of integers only a map that picks elements can be taken: one tap, weights 1.
    """
    shape = (-1, *(1,) * (input.ndim - 1 - dim))
    if len(places) == 1 and (weights == 1).all():
        return np.take(input, places[0], dim)
    x = input.astype(weights.dtype, copy=False)
    result = np.take(x, places[0], dim) * weights[0].reshape(shape)
    for place, weight in zip(places[1:], weights[1:], strict=True):
        term = np.take(x, place, dim)
        term *= weight.reshape(shape)
        result += term
    return result.astype(input.dtype, copy=False)


@resample.shape_rule
def _resample_rule(
    input: TensorBase,
    dim: int,
    places: TensorBase,
    weights: TensorBase,
    back_places: TensorBase,
    back_weights: TensorBase,
) -> TensorBase:
    if not 0 <= dim < len(input.sizes) or len(places.sizes) != 2 or places.sizes != weights.sizes:
        raise RuntimeError(
            f"resample: expected places and weights of one (taps, results) size and a dim of the input, got"
            f" {list(places.sizes)}, {list(weights.sizes)}, dim={dim} and input {list(input.sizes)}"
        )
    sizes = (*input.sizes[:dim], places.sizes[1], *input.sizes[dim + 1 :])
    return empty_fake(sizes, strides_in(suggested_format(input.sizes, input.strides), sizes), input.dtype)
