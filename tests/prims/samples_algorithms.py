"""Arguments, as in samples.py: linear algebra, Fourier transforms, complex numbers, sorting and searching, scans."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from minitorch_compile.tensor import bfloat16, float16, float32, float64, from_numpy, int32, int64, ops, tensor
from minitorch_compile.tensor.numerics.dtype import DTYPES, bool_, complex64, dtype
from tests.prims.samples import Call, arrays, row, sample, unary_calls
from tests.tensor.awkward import special_floats


def square(*batch: int, size: int = 3, dtype: dtype = float32) -> Any:
    """Well-conditioned matrices."""
    matrices = np.random.default_rng(size).normal(size=(*batch, size, size)) + 3 * np.eye(size)
    return from_numpy(matrices.astype(dtype.numpy))


def definite(*batch: int, size: int = 3, dtype: dtype = float32) -> Any:
    """Symmetric positive-definite matrices."""
    a = square(*batch, size=size, dtype=dtype)
    return a @ a.mT


def complex_sample(*sizes: int) -> Any:
    rng = np.random.default_rng(len(sizes))
    return from_numpy(np.asarray(rng.normal(size=sizes) + 1j * rng.normal(size=sizes)).astype(np.complex64))


# ------------------------------------------------------------------------------------------ matrices


@row(ops.linalg_inv)
@row(ops.linalg_det)
@row(ops._linalg_slogdet)
@row(ops.linalg_matrix_exp)
@row(ops._linalg_eig)
def _() -> Iterator[Call]:
    for element, batch in product((float32, float64), ((), (2,), (0,))):
        yield (square(*batch, dtype=element),)
    yield (square(2, size=1).mT,)
    yield (square(size=5)[[1, 0, 2, 4, 3]],)
    yield (tensor([[1.0, 2.0], [2.0, 4.0]]),)


@row(ops._linalg_pinv)
def _() -> Iterator[Call]:
    matrices = (sample(4, 3), sample(2, 3, 4), tensor([[1.0, 2.0], [2.0, 4.0]]), sample(0, 3))
    yield from product(matrices, (None, 0.1))
    yield from product(matrices, (0.0,), (0.6,))


@row(ops._linalg_solve)
def _() -> Iterator[Call]:
    yield square(), sample(3, 2)
    yield square(2, dtype=float64), sample(2, 3, 1, dtype=float64)


@row(ops._linalg_solve_triangular)
def _() -> Iterator[Call]:
    for upper, unitriangular in product((False, True), (False, True)):
        yield square(2), sample(2, 3, 2), upper, unitriangular


@row(ops._linalg_cholesky)
@row(ops._linalg_eigh)
def _() -> Iterator[Call]:
    for upper, a in product((False, True), (definite(), definite(2, dtype=float64), definite(size=1))):
        yield a, upper


@row(ops._linalg_qr)
@row(ops._linalg_svd)
def _() -> Iterator[Call]:
    for full, sizes in product((False, True), ((3, 3), (4, 2), (2, 2, 4))):
        yield sample(*sizes), full


@row(ops._linalg_lu_factor)
def _() -> Iterator[Call]:
    for sizes in ((3, 3), (4, 2), (2, 2, 4), (0, 2, 2)):
        yield (sample(*sizes),)


@row(ops._permutation_of_pivots)
def _() -> Iterator[Call]:
    yield tensor([[3, 3, 3], [1, 3, 3]], dtype=int32), 4


# ------------------------------------------------------------------------------------------ complex numbers


@row(ops.complex)
def _() -> Iterator[Call]:
    yield sample(3, 4), sample(4, seed=1)
    yield sample(3, dtype=float64), sample(dtype=float64)


@row(ops._real_part)
@row(ops._imaginary_part)
@row(ops.view_as_real)
@row(ops._conj)
@row(ops._neg_view)
def _() -> Iterator[Call]:
    yield (complex_sample(3, 4),)
    yield (complex_sample(3, 4).t(),)
    yield (complex_sample(),)


@row(ops.view_as_complex)
def _() -> Iterator[Call]:
    yield (sample(3, 2),)
    yield (sample(4, 3, 2, dtype=float64).transpose(0, 1),)


@row(ops.conj_physical)
@row(ops.angle)
@row(ops.asin)
@row(ops.acos)
@row(ops.asinh)
@row(ops.atanh)
@row(ops.atan)
@row(ops.tan)
@row(ops.isinf)
@row(ops.isfinite)
@row(ops.isreal)
def _() -> Iterator[Call]:
    yield from unary_calls()
    yield (complex_sample(3, 4),)
    yield (tensor([0.5 + 0.0j, 2 + 1j, -0.25 - 3j, 1e-3j, -2 + 0.5j, 1e-3 + 0j]),)


@row(ops._fft_c2c)
def _() -> Iterator[Call]:
    for norm, forward in product(("forward", "backward", "ortho"), (False, True)):
        yield complex_sample(4, 5), (0, 1), norm, forward
        yield complex_sample(4, 5).t(), (1,), norm, forward


@row(ops._fft_r2c)
def _() -> Iterator[Call]:
    for norm, dims in product(("forward", "backward", "ortho"), ((0,), (1, 0), (1,))):
        yield sample(4, 5), dims, norm


@row(ops._fft_c2r)
def _() -> Iterator[Call]:
    for norm, size in product(("forward", "backward", "ortho"), (4, 5, 7)):
        yield complex_sample(3, 3), (0, 1), norm, size


# ------------------------------------------------------------------------------------------ order


def _rows() -> Iterator[Any]:
    for element in (float32, float16, int64, int32, bool_):
        yield sample(3, 7, dtype=element)
    yield from_numpy(special_floats())
    yield sample(4, 3, 5).permute(2, 0, 1)
    yield sample()


@row(ops.argsort)
def _() -> Iterator[Call]:
    for x, descending in product(_rows(), (False, True)):
        yield x, -1, descending, True
        yield x, 0, descending, False


@row(ops.topk_indices)
def _() -> Iterator[Call]:
    for x, largest in product([x for x in _rows() if x.dtype.is_floating_point], (False, True)):
        yield x, 1, -1, largest  # of equal elements the op may name any
    yield sample(3, 0), 0, 1, True


@row(ops.median_index)
def _() -> Iterator[Call]:
    for x, ignore_nan in product(_rows(), (False, True)):
        yield x, -1, ignore_nan
    yield tensor([[float("nan"), 3.0, 1.0, 2.0], [float("nan")] * 4]), 1, True


@row(ops.mode_index)
def _() -> Iterator[Call]:
    for x in _rows():
        yield x, -1
    yield tensor([2.0, 1.0, 2.0, 1.0, 1.0]), 0
    yield sample(3, 9, dtype=int64, low=0, high=3), 1
    yield sample(3, 9, dtype=int64, low=0, high=3), 0


@row(ops.searchsorted_places)
def _() -> Iterator[Call]:
    edges = tensor([-1.0, 0.0, 0.0, 2.0])
    for right, values in product((False, True), (sample(3, 4), sample(), from_numpy(special_floats()))):
        yield edges, values, right
    yield tensor([[1, 3, 5], [2, 2, 4]]), tensor([[0, 3, 6, 2], [2, 4, 1, 9]]), True
    yield tensor([3.0, 1.0, 2.0]), sample(4), False, tensor([1, 2, 0])
    yield tensor([0.0, 1.0, float("nan")]), from_numpy(special_floats()), True
    yield sample(0), sample(2), False


@row(ops.isin_elements)
def _() -> Iterator[Call]:
    yield sample(3, 4, dtype=int64), tensor([1, -3, 7])
    yield sample(5, dtype=int64), tensor([1.0, 2.0])
    yield sample(5, dtype=bool_), tensor([True])
    yield from_numpy(special_floats()), from_numpy(special_floats())
    yield sample(3), sample(0)
    yield sample(), tensor([[1.0], [2.0]])


@row(ops.histc)
def _() -> Iterator[Call]:
    yield sample(50), 7, -2, 3
    yield from_numpy(special_floats()), 4, -1, 1
    yield sample(0), 3, 0, 1
    yield sample(9, dtype=float64), 1, -9, 9


# ------------------------------------------------------------------------------------------ scans, scatters, bits


@row(ops.logcumsumexp)
def _() -> Iterator[Call]:
    for element in (float32, float64, float16):
        for array in arrays(element.numpy.type).values():
            yield from_numpy(array), -1
            yield from_numpy(array), 0
    yield tensor([-float("inf"), -float("inf"), 1.0, float("inf"), 2.0]), 0
    yield sample(5) * 300, 0


@row(ops.running_extreme_indices)
def _() -> Iterator[Call]:
    for x, largest in product(_rows(), (False, True)):
        yield x, -1, largest
        yield x, 0, largest


@row(ops.scatter_combine)
def _() -> Iterator[Call]:
    index = sample(2, 3, dtype=int64, low=0, high=3)
    for reduce, include_self, element in product(("prod", "amax", "amin"), (False, True), (float32, int64)):
        yield sample(3, 4, dtype=element), 0, index, sample(4, 4, dtype=element, seed=1), reduce, include_self
    yield sample(), 0, tensor([0]), sample(1), "amax", False
    yield sample(3), 0, sample(0, dtype=int64), sample(0), "prod", False


@row(ops.view_dtype)
def _() -> Iterator[Call]:
    yield sample(3, 4), int32
    yield sample(3, 4), float16
    yield sample(3, 4), complex64
    yield sample(2, 4, dtype=float16), bfloat16
    yield sample(), int32


@row(ops.polygamma)
def _() -> Iterator[Call]:
    for n, element in product((0, 1, 2, 5), (float32, float64, int64)):
        yield n, sample(3, 4, dtype=element, low=1)
    yield 1, from_numpy(special_floats())


@row(ops.gcd)
@row(ops.lcm)
def _() -> Iterator[Call]:
    for element in [d for d in DTYPES if d.category == int64.category]:
        yield sample(3, 4, dtype=element), sample(4, dtype=element, seed=1)
    yield tensor([0, 0, 12, -8]), tensor([0, 5, 0, 6])


ATTENTION = [  # heads, groups, queries, keys, width, width of values; causal; fill; zero_rows; sizes of a mask
    ((4, 4, 5, 5, 3, 3), True, -math.inf, False, None),
    ((4, 2, 3, 6, 2, 5), False, -math.inf, True, (2, 1, 3, 6)),
    ((3, 1, 6, 3, 4, 1), True, 0.5, False, (1, 3, 1, 3)),
    ((1, 1, 1, 4, 1, 2), False, -math.inf, False, (1, 1, 1, 1)),
]


def _attention_calls() -> Iterator[Call]:
    for (heads, groups, queries, keys, width, depth), is_causal, fill, zero_rows, mask_sizes in ATTENTION:
        for element in (float32, float64):
            query = sample(2, heads, queries, width, dtype=element)
            key, value = (
                sample(2, groups, keys, width, dtype=element, seed=1),
                sample(2, groups, keys, depth, dtype=element),
            )
            masks = [None] if mask_sizes is None else [sample(*mask_sizes, dtype=element), sample(*mask_sizes) > -0.5]
            for mask in masks:
                yield query, key, value, mask, is_causal, 0.5, fill, zero_rows


row(ops.flash_attention)(_attention_calls)


@row(ops.flash_attention_backward)
def _() -> Iterator[Call]:
    for query, key, value, mask, is_causal, scale, fill, zero_rows in _attention_calls():
        out, sums = ops.flash_attention(query, key, value, mask, is_causal, scale, fill, zero_rows)
        yield sample(*out.sizes, dtype=out.dtype, seed=4), query, key, value, out, sums, mask, is_causal, scale, fill


POLYNOMIALS = [op for op in ops.table.values() if op.name.startswith("special_") and "polynomial" in op.name]


def _polynomial_calls() -> Iterator[Call]:
    for n in (-1, 0, 1, 2, 3, 7):
        yield sample(3, 4), n
    yield sample(5, dtype=float64) * 0.2, 20
    yield sample(5, dtype=int64), 4


for _op in POLYNOMIALS:
    row(_op)(_polynomial_calls)
