"""Arguments, as in samples.py: convolution of one and three dimensions, pooling, padding, resizing, unfolding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from minitorch_compile.tensor import float16, float32, float64, int64, ops, tensor
from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.ops.adaptive_pooling import averaging
from minitorch_compile.tensor.tensor_base import wrap
from tests.prims.samples import Call, row, sample

GEOMETRIES = [  # input, weight, stride, padding, dilation, groups
    ((2, 4, 6, 5), (4, 4, 3, 2), (1, 1), (0, 0), (1, 1), 1),
    ((2, 4, 6, 5), (4, 4, 3, 2), (2, 1), (1, 2), (1, 1), 1),
    ((2, 4, 6, 5), (4, 2, 3, 2), (1, 2), (2, 1), (2, 1), 2),
    ((2, 3, 6, 5), (6, 1, 3, 2), (2, 1), (1, 0), (1, 2), 3),
    ((2, 3, 6, 5), (4, 3, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((2, 4, 7), (6, 2, 3), (2,), (2,), (2,), 2),
    ((2, 3, 4), (2, 3, 1), (1,), (0,), (1,), 1),
    ((2, 2, 4, 5, 3), (4, 1, 2, 3, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), 2),
    ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), (1, 2, 1), (0, 1, 0), (2, 1, 1), 1),
]


@row(ops.convolution)
def _() -> Iterator[Call]:
    for x, w, *how in GEOMETRIES:
        yield sample(*x), sample(*w, seed=1), sample(w[0], seed=2), *how
    x, w, *how = GEOMETRIES[0]
    yield sample(*x, dtype=float64), sample(*w, dtype=float64), None, *how
    yield sample(0, *x[1:]), sample(*w, seed=1), None, *how


@row(ops.convolution_input_grad)
def _() -> Iterator[Call]:
    for x, w, *how in GEOMETRIES:
        yield sample(*_output_sizes(x, w, how), seed=3), sample(*w, seed=1), x, *how


@row(ops.convolution_weight_grad)
def _() -> Iterator[Call]:
    for x, w, *how in GEOMETRIES:
        yield sample(*_output_sizes(x, w, how), seed=3), sample(*x), w, *how


def _output_sizes(x: tuple[int, ...], w: tuple[int, ...], how: list[Any]) -> tuple[int, ...]:
    return tuple(ops.convolution(sample(*x), sample(*w), None, *how).sizes)


MAXIMA = [  # input, kernel, stride, padding, dilation, ceil_mode
    ((2, 3, 6, 5), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((2, 3, 6, 5), (3, 2), (2, 1), (1, 1), (1, 2), True),
    ((2, 3, 7), (3,), (2,), (1,), (1,), True),
    ((1, 2, 4, 5, 3), (2, 3, 2), (2, 1, 1), (1, 0, 1), (1, 2, 1), False),
    ((0, 2, 4, 5, 3), (2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), True),
]


@row(ops.max_pool_with_indices)
def _() -> Iterator[Call]:
    for element, (sizes, *window) in product((float32, float64, int64), MAXIMA):
        yield sample(*sizes, dtype=element), *window
    yield sample(1, 1, 4, 4) * float("nan"), *MAXIMA[0][1:]


@row(ops.max_pool_with_indices_backward)
def _() -> Iterator[Call]:
    for sizes, *window in MAXIMA:
        values, indices = ops.max_pool_with_indices(sample(*sizes), *window)
        yield sample(*values.sizes, seed=1), indices, sizes


MEANS = [  # input, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override
    ((2, 3, 6, 4), (2, 2), (2, 2), (0, 0), False, True, None),
    ((2, 3, 6, 5), (3, 2), (2, 1), (1, 1), True, True, None),
    ((2, 3, 6, 5), (3, 2), (2, 2), (1, 1), True, False, None),
    ((2, 3, 6, 5), (3, 2), (2, 2), (1, 0), True, False, 5),
    ((2, 3, 7), (3,), (2,), (1,), True, False, None),
    ((1, 2, 4, 5, 3), (2, 3, 2), (2, 1, 1), (1, 0, 1), False, False, None),
]


@row(ops.avg_pool)
def _() -> Iterator[Call]:
    for element, (sizes, *window) in product((float32, float64, float16, int64), MEANS):
        yield sample(*sizes, dtype=element), *window


@row(ops.avg_pool_backward)
def _() -> Iterator[Call]:
    for sizes, *window in MEANS:
        yield sample(*ops.avg_pool(sample(*sizes), *window).sizes), sizes, *window


@row(ops.constant_pad_nd)
def _() -> Iterator[Call]:
    for element, value in product((float32, float16, int64, bool_), (0, 2.5)):
        yield sample(3, 4, dtype=element), (1, 2, 0, -1), value
    yield sample(3, 4), (-1, -3), 1.0
    yield sample(0, 4).t(), (1, 1, 2, 0), float("inf")
    yield sample(), (), 0


@row(ops.resample)
def _() -> Iterator[Call]:
    forth, back = averaging(5, 3)
    for element, dim in product((float32, float64, float16), (0, 1, 2)):
        number = float64 if element is float64 else float32
        sizes = [5 if d == dim else 2 for d in range(3)]
        maps = (wrap(forth.places), tensor(forth.weights, dtype=number), wrap(back.places))
        yield sample(*sizes, dtype=element), dim, *maps, tensor(back.weights, dtype=number)


BLOCKS = [  # image, kernel, dilation, padding, stride
    ((2, 3, 5, 4), (2, 3), (1, 1), (0, 0), (1, 1)),
    ((2, 3, 5, 4), (2, 2), (2, 1), (1, 2), (1, 2)),
    ((1, 2, 4, 4), (2, 2), (1, 1), (0, 0), (2, 2)),
    ((0, 2, 4, 4), (2, 2), (1, 1), (0, 0), (2, 2)),
]


@row(ops.im2col)
def _() -> Iterator[Call]:
    for element, (sizes, *how) in product((float32, float64, bool_), BLOCKS):
        yield sample(*sizes, dtype=element), *how


@row(ops.col2im)
def _() -> Iterator[Call]:
    for element, (sizes, *how) in product((float32, float64), BLOCKS):
        yield sample(*ops.im2col(sample(*sizes), *how).sizes, dtype=element), sizes[2:], *how
