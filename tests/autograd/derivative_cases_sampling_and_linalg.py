"""Programs to differentiate, as in derivative_cases.py: samples, norms, linear algebra.

Factorizations are differentiated through what doesn't depend on a choice of signs: products with the factors' absolute
values, or with vectors that were fixed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.tensor import float64, ops, tensor
from minitorch_compile.tensor.ops.adjoint import adjoint
from tests.autograd.derivative_cases import Case, generic, positive


def sampling_cases() -> list[Case]:
    u = tensor([[0.2, 0.5, 0.9], [0.01, 0.6, 0.4]], dtype=float64)
    return [("gamma_quantile", lambda a: ops.gamma_quantile(a, u), [positive(2, 3)])]


def norm_cases() -> list[Case]:
    cases: list[Case] = []
    for ord in (1.0, 2.0, 3.0, 0.5, -2.0, math.inf, -math.inf):
        for dim, keepdim in ((None, False), (1, True), ((0, 2), False)):
            cases.append(("_vector_norm", lambda x, a=(dim, keepdim, ord): ops._vector_norm(x, *a), [generic(2, 3, 2)]))
    return cases


def regular(*sizes: int, shift: float = 0.0) -> np.ndarray:
    """Matrices that are far from singular."""
    return generic(*sizes, shift=shift) + 3 * np.eye(sizes[-2], sizes[-1])


def symmetric(x: Any) -> Any:
    return (x + adjoint(x)) / 2


def _power_sums(x: Any) -> Any:
    """Powers of the eigenvalues added up: the same for every order."""
    values = ops._linalg_eig(x)[0]
    return ops.stack([(values**k).sum(-1) for k in (1, 2, 3)])


def linear_algebra_cases() -> list[Case]:
    def definite(x: Any) -> Any:
        return x @ adjoint(x) + 1.0 * ops.eye(x.sizes[-1], dtype=x.dtype)

    square, tall, wide = regular(2, 2, 2), regular(3, 2), regular(2, 3)
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    cases: list[Case] = [
        ("linalg_inv", ops.linalg_inv, [square]),
        ("_linalg_solve", ops._linalg_solve, [square, generic(2, 2, 2)]),
        ("linalg_det", ops.linalg_det, [square]),
        ("linalg_det", lambda x: ops.linalg_det(x @ x.T), [generic(1, 1)]),
        ("_linalg_slogdet", lambda x: ops._linalg_slogdet(x)[1], [square]),
        ("linalg_matrix_exp", ops.linalg_matrix_exp, [generic(2, 2, 2)]),
        ("_linalg_cholesky", lambda x: ops._linalg_cholesky(definite(x), False), [square]),
        ("_linalg_cholesky", lambda x: ops._linalg_cholesky(definite(x), True), [square]),
        *(("_linalg_lu_factor", lambda x: ops._linalg_lu_factor(x)[0], [m]) for m in (square, tall, wide)),
        ("_linalg_eigh", lambda x: ops._linalg_eigh(symmetric(x), False)[0], [square]),
        ("_linalg_eigh", lambda x: ops.abs(ops._linalg_eigh(symmetric(x), True)[1]), [square]),
    ]
    for matrix in (regular(3, 3), generic(2, 2)):
        cases += [
            ("_linalg_eig", lambda x: ops.real(_power_sums(x)), [matrix]),
            ("_linalg_eig", lambda x: ops.square(ops.abs(ops._linalg_eig(x)[1])).prod(-1), [matrix]),
        ]
    for upper in (False, True):
        for unit in (False, True):
            cases.append(
                (
                    "_linalg_solve_triangular",
                    lambda a, b, flags=(upper, unit): ops._linalg_solve_triangular(a, b, *flags),
                    [square, generic(2, 2, 2)],
                )
            )
    for matrix in (regular(3, 3), tall, wide):
        cases += [
            ("_linalg_pinv", lambda x: ops._linalg_pinv(x, None), [matrix]),
            ("_linalg_qr", lambda x: ops._linalg_qr(x, False), [matrix]),
            ("_linalg_svd", lambda x: ops._linalg_svd(x, False)[1], [matrix]),
            ("_linalg_svd", lambda x: ops.abs(ops._linalg_svd(x, False)[0]), [matrix]),
            ("_linalg_svd", lambda x: [ops.abs(f) for f in ops._linalg_svd(x, False)], [matrix]),
        ]
    cases.append(("_linalg_qr", lambda x: ops._linalg_qr(x, True), [wide]))
    cases.append(("_linalg_det_of_a_singular_matrix", ops.linalg_det, [singular]))
    return cases


def complex_cases() -> list[Case]:
    """As functions of the parts; tests/tensor/test_complex.py has more."""

    def of_parts(op: Any) -> Any:
        return lambda a, b: op(ops.complex(a, b))

    pair = [generic(2, 3), generic(3, shift=1)]
    names = ("_real_part", "_imaginary_part", "view_as_real", "angle")
    cases: list[Case] = [(name, of_parts(getattr(ops, name)), pair) for name in names]
    return [
        *cases,
        ("complex", of_parts(ops.view_as_real), pair),
        ("conj_physical", of_parts(lambda z: ops.view_as_real(ops.conj_physical(z))), pair),
        ("_conj", of_parts(lambda z: ops.view_as_real(ops._conj(z) * 1)), pair),
        ("_neg_view", lambda x: ops._neg_view(x) * 2, [generic(2, 3)]),
        ("view_as_complex", lambda x: ops.abs(ops.view_as_complex(x)), [generic(3, 2)]),
    ]


def fourier_cases() -> list[Case]:
    cases: list[Case] = []
    for dims, norm in (((1,), "backward"), ((0, 2), "forward"), ((2, 1), "ortho")):
        x, parts = generic(2, 3, 4), [generic(2, 3, 4), generic(2, 3, 4, shift=1)]
        cases += [
            ("_fft_r2c", lambda x, a=(dims, norm): ops.view_as_real(ops._fft_r2c(x, *a)), [x]),
            ("_fft_c2c", lambda u, v, a=(dims, norm, norm == "ortho"): _parts_of(ops._fft_c2c, u, v, *a), parts),
        ]
        for size in (2 * parts[0].shape[dims[-1]] - 2, 2 * parts[0].shape[dims[-1]] - 1):
            cases.append(("_fft_c2r", lambda u, v, a=(dims, norm, size): ops._fft_c2r(ops.complex(u, v), *a), parts))
    return cases


def _parts_of(op: Any, real: Any, imag: Any, *arguments: Any) -> Any:
    return ops.view_as_real(op(ops.complex(real, imag), *arguments))


def cases() -> list[Case]:
    return sampling_cases() + norm_cases() + linear_algebra_cases() + complex_cases() + fourier_cases()
