"""Batch norms on programs, for images row by row in memory, and for those that lie channels last.

The latter are a matrix with a row for each pixel: so are samples that are no images.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.kernel_library.replaced import LEAST, NUMBERS, arrays_of, gradient, is_dense, kernel, program
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.tensor_base import wrap

Array = np.ndarray
SHORTEST_AREA = 16  # of a channel in one image: fewer elements side by side are no rows


@kernel(ops.native_batch_norm)
def _(input: Array, weight: Array | None, bias: Array | None, eps: float) -> Any:
    if weight is None or bias is None or not isinstance(eps, NUMBERS) or not is_dense(weight, bias):
        return None
    way = _as_images(input) or _as_pixels(input)
    found = program(way[0]) if way else None
    if way is None or found is None:
        return None
    _, sizes, x = way
    statistics = tuple(n if d == 1 else 1 for d, n in enumerate(input.shape))
    out, mean, variance = found(sizes, (x.shape, statistics, statistics), (x, weight, bias), eps)
    return _as_given(out, input), mean, variance


@gradient(ops.native_batch_norm)
def _(grad: Any, out: Any, x: Any, weight: Any, bias: Any, eps: float) -> Any:
    if weight is None or bias is None or grad[0] is None or grad[1] is not None or grad[2] is not None:
        return None
    arrays = arrays_of(grad[0], x, weight, *out[1:]) if math.prod(x.sizes) >= LEAST else None
    if arrays is None or not isinstance(eps, NUMBERS) or not is_dense(*arrays[2:]):
        return None
    upper, given, *rest = arrays
    way = _as_images(given) or _as_pixels(given)
    found = program(f"{way[0]}_backward") if way else None
    if way is None or found is None:
        return None
    name, sizes, image = way
    upper = np.ascontiguousarray(upper if name == "batch_norm" else np.moveaxis(upper, 1, -1))
    if not is_dense(upper):
        return None
    shapes = (image.shape, rest[0].shape, rest[0].shape)
    by_input, *by_parameters = found(sizes, shapes, (upper, image, *rest), eps)
    return wrap(_as_given(by_input, given)), *map(wrap, by_parameters)


Way = tuple[str, tuple[int, ...], Array]  # the program, its sizes, and the images as it takes them


def _as_images(x: Array) -> Way | None:
    sizes = x.shape[0], x.shape[1], math.prod(x.shape[2:])
    return ("batch_norm", sizes, x) if sizes[2] >= SHORTEST_AREA and is_dense(x) else None


def _as_pixels(x: Array) -> Way | None:
    turned = np.moveaxis(x, 1, -1)
    return ("batch_norm_of_pixels", (x.size // x.shape[1], x.shape[1]), turned) if is_dense(turned) else None


def _as_given(result: Array, given: Array) -> Array:
    """What a program made of images, its dimensions in their order."""
    return result if result.shape == given.shape and is_dense(given) else np.moveaxis(result, -1, 1)
