"""Prims that no kernel is generated from: interpreted as prims, and beside loops, they give what the ops give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.compiler.whole_calls import stays_whole
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import ops

X = torch.tensor(np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32))
SQUARE = X[:, :3] + 3 * torch.eye(3)
Z = torch.complex(X, X.flip(0))
N = torch.arange(72).reshape(2, 4, 9)

PROGRAMS: dict[str, tuple[Callable, torch.Tensor]] = {
    "convolution of integers": (lambda x: F.conv1d(x * 2, torch.ones(6, 4, 3, dtype=torch.int64)) + 1, N),
    "product of bools": (lambda x: (x > 0) @ (x > 0).t(), X),
    "bfloat16": (lambda x: F.gelu(x * 2).sum(), X.bfloat16()),
    "float16": (lambda x: F.softmax(x * 2, -1), X.half()),
    "sort": (lambda x: (x * 2).sort(0).values + 1, X),
    "median": (lambda x: torch.median(x * 2, 1).values + 1, X),
    "search": (lambda x: torch.searchsorted(x.sort(1).values, x * 2) + 1, X),
    "determinant": (lambda x: torch.linalg.det(x * 2) + 1, SQUARE),
    "inverse": (lambda x: torch.linalg.inv(x * 2) + 1, SQUARE),
    "Fourier": (lambda x: torch.fft.rfft(x * 2).abs() + 1, X),
    "complex": (lambda x: (x * 2).asin().exp().abs() + 1, Z),
    "special": (lambda x: torch.lgamma(x.abs() + 1) * torch.i0(x), X),
    "a polynomial": (lambda x: torch.special.hermite_polynomial_h(x, 3) * 2, X),
    "the largest that lands": (lambda x: x.scatter_reduce(1, torch.zeros(3, 4, dtype=torch.int64), x, "amax") + 1, X),
    "bits": (lambda x: (x * 2).view(torch.int32) + 1, X),
    "divisors": (lambda x: torch.gcd(x, x * 2 + 4) + 1, N),
}


@pytest.mark.parametrize("backend", ["aot_eager_decomp_partition", "loops"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_what_the_plain_program_gives(name: str, backend: str) -> None:
    program, x = PROGRAMS[name]
    got, want = torch.compile(program, backend=backend)(x), program(x)
    assert got.dtype is want.dtype and got.sizes == want.sizes
    tolerance = 1e-2 if want.dtype.itemsize == 2 else 1e-5
    np.testing.assert_allclose(got.double().numpy(), want.double().numpy(), tolerance, tolerance)


def test_a_compiled_graph_calls_numpy_once_where_prims_would_take_many() -> None:
    assert stays_whole(ops.argsort, (X, 0, False, True)) and stays_whole(ops.linalg_det, (SQUARE,))
    assert not stays_whole(ops.softmax, (X, 1, None))


def test_a_compiled_graph_keeps_what_has_no_decomposition() -> None:
    assert stays_whole(ops.histc, (X, 3, 0, 0)), "its range would be found in the data"
    assert stays_whole(ops.uniform_random, ((3,), torch.float32, None))
