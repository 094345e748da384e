"""Orthogonal polynomials of degree n: elementwise in x, and in n, which may be a tensor.

>>> from minitorch_compile.tensor import tensor
>>> special_chebyshev_polynomial_t(tensor([0.5, 2.0]), 3), special_legendre_polynomial_p(tensor(0.5), tensor([0, 1, 2]))
(tensor([-1., 26.]), tensor([ 1.0000,  0.5000, -0.1250]))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from minitorch_compile.tensor.dispatch.declare import pointwise
from minitorch_compile.tensor.dispatch.op import Array, Scalar
from minitorch_compile.tensor.dispatch.pointwise_op import INT_TO_FLOAT, PointwiseOp
from minitorch_compile.tensor.ops.special_functions import of_scipy

Polynomial = Callable[[Any, Any], Any]


def _declared(name: str, polynomial: Polynomial, says: str) -> PointwiseOp:
    """The op of a polynomial; 0 for negative degrees."""

    def kernel(input: Array | Scalar, n: Array | Scalar) -> Array:
        degree = np.asarray(n).astype(np.int64)
        value = np.where(degree < 0, 0.0, polynomial(np.maximum(degree, 0), np.asarray(input, np.float64)))
        return value.astype(np.result_type(input, n), copy=False)

    kernel.__name__, kernel.__doc__ = f"special_{name}", says
    return pointwise(INT_TO_FLOAT, torch=False, methods=False)(kernel)


def _third_kind(n: Array, x: Array) -> Array:
    """V_n = U_n - U_(n-1)."""
    return scipy.special.eval_chebyu(n, x) - np.where(n > 0, scipy.special.eval_chebyu(np.maximum(n - 1, 0), x), 0.0)


def _fourth_kind(n: Array, x: Array) -> Array:
    """W_n = U_n + U_(n-1)."""
    return scipy.special.eval_chebyu(n, x) + np.where(n > 0, scipy.special.eval_chebyu(np.maximum(n - 1, 0), x), 0.0)


def _shifted(polynomial: Polynomial) -> Polynomial:
    """The same polynomial on [0, 1] in place of [-1, 1]."""
    return lambda n, x: polynomial(n, 2 * x - 1)


special_chebyshev_polynomial_t = _declared(
    "chebyshev_polynomial_t",
    of_scipy("eval_chebyt"),
    "Chebyshev's polynomial of the first kind: T_n(cos a) = cos(n a).",
)
special_chebyshev_polynomial_u = _declared(
    "chebyshev_polynomial_u", of_scipy("eval_chebyu"), "Chebyshev's polynomial of the second kind."
)
special_chebyshev_polynomial_v = _declared(
    "chebyshev_polynomial_v", _third_kind, "Chebyshev's polynomial of the third kind."
)
special_chebyshev_polynomial_w = _declared(
    "chebyshev_polynomial_w", _fourth_kind, "Chebyshev's polynomial of the fourth kind."
)
special_shifted_chebyshev_polynomial_t = _declared(
    "shifted_chebyshev_polynomial_t", _shifted(of_scipy("eval_chebyt")), "Chebyshev's first kind, of 2 x - 1."
)
special_shifted_chebyshev_polynomial_u = _declared(
    "shifted_chebyshev_polynomial_u", _shifted(of_scipy("eval_chebyu")), "Chebyshev's second kind, of 2 x - 1."
)
special_shifted_chebyshev_polynomial_v = _declared(
    "shifted_chebyshev_polynomial_v", _shifted(_third_kind), "Chebyshev's third kind, of 2 x - 1."
)
special_shifted_chebyshev_polynomial_w = _declared(
    "shifted_chebyshev_polynomial_w", _shifted(_fourth_kind), "Chebyshev's fourth kind, of 2 x - 1."
)
special_hermite_polynomial_h = _declared(
    "hermite_polynomial_h", of_scipy("eval_hermite"), "The physicists' Hermite polynomial."
)
special_hermite_polynomial_he = _declared(
    "hermite_polynomial_he", of_scipy("eval_hermitenorm"), "The probabilists' Hermite polynomial."
)
special_laguerre_polynomial_l = _declared("laguerre_polynomial_l", of_scipy("eval_laguerre"), "Laguerre's polynomial.")
special_legendre_polynomial_p = _declared("legendre_polynomial_p", of_scipy("eval_legendre"), "Legendre's polynomial.")
