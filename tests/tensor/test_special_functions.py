"""torch.special against SciPy in float64."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as scipy_special

import minitorch_compile as torch
from minitorch_compile.tensor import from_numpy
from tests.tensor.awkward import arrays, layouts

ONE_ARGUMENT = {
    "erfc": scipy_special.erfc,
    "erfcx": scipy_special.erfcx,
    "gammaln": scipy_special.gammaln,
    "digamma": scipy_special.digamma,
    "psi": scipy_special.digamma,
    "entr": scipy_special.entr,
    "expit": scipy_special.expit,
    "exp2": np.exp2,
    "ndtr": scipy_special.ndtr,
    "log_ndtr": scipy_special.log_ndtr,
    "i0": scipy_special.i0,
    "i0e": scipy_special.i0e,
    "i1": scipy_special.i1,
    "i1e": scipy_special.i1e,
    "bessel_j0": scipy_special.j0,
    "bessel_j1": scipy_special.j1,
    "bessel_y0": scipy_special.y0,
    "bessel_y1": scipy_special.y1,
    "modified_bessel_k0": scipy_special.k0,
    "modified_bessel_k1": scipy_special.k1,
    "scaled_modified_bessel_k0": scipy_special.k0e,
    "scaled_modified_bessel_k1": scipy_special.k1e,
    "spherical_bessel_j0": lambda x: np.sinc(x / np.pi),
    "airy_ai": lambda x: scipy_special.airy(x)[0],
}


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_special_functions_equal_scipy(name: str) -> None:
    for array in arrays(np.float32, positive=True).values():
        expected = ONE_ARGUMENT[name](array.astype(np.float64))
        for _, x in layouts(array):
            result = getattr(torch.special, name)(x)
            assert result.dtype is torch.float32
            np.testing.assert_allclose(result.numpy(), expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["erfinv", "ndtri"])
def test_inverses_undo_their_functions(name: str) -> None:
    x = np.linspace(-2, 2, 9)
    forth = {"erfinv": scipy_special.erf, "ndtri": scipy_special.ndtr}[name](x)
    np.testing.assert_allclose(getattr(torch.special, name)(from_numpy(forth)).numpy(), x, rtol=1e-9, atol=1e-12)


def test_functions_of_two_arguments() -> None:
    a, x = np.array([0.5, 1.0, 3.0]), np.array([[0.1], [2.0]])
    ours = torch.special
    for function, oracle in (
        (ours.gammainc, scipy_special.gammainc),
        (ours.gammaincc, scipy_special.gammaincc),
        (ours.xlogy, scipy_special.xlogy),
        (ours.xlog1py, scipy_special.xlog1py),
    ):
        np.testing.assert_allclose(function(from_numpy(a), from_numpy(x)).numpy(), oracle(a, x), rtol=1e-12)
    np.testing.assert_allclose(ours.zeta(2.0, from_numpy(a)).numpy(), scipy_special.zeta(2.0, a), rtol=1e-12)


def test_polygamma_has_its_order_first_and_as_a_method_last() -> None:
    x = torch.tensor([1.0, 2.5], dtype=torch.float64)
    for n in range(4):
        expected = scipy_special.polygamma(n, x.numpy())
        np.testing.assert_allclose(torch.polygamma(n, x).numpy(), expected, rtol=1e-10)
        np.testing.assert_allclose(x.polygamma(n).numpy(), expected, rtol=1e-10)
    with pytest.raises(RuntimeError, match="negative n"):
        torch.polygamma(-1, x)


def test_gamma_functions_at_their_poles() -> None:
    poles = torch.tensor([0.0, -0.0, -1.0, -float("inf")])
    np.testing.assert_array_equal(torch.lgamma(poles).numpy(), [np.inf] * 4)
    np.testing.assert_array_equal(torch.digamma(poles[:3]).numpy(), [-np.inf, np.inf, np.nan])


def test_multivariate_gamma() -> None:
    x = np.array([2.0, 3.5])
    np.testing.assert_allclose(
        torch.mvlgamma(from_numpy(x), 3).numpy(), [scipy_special.multigammaln(v, 3) for v in x], rtol=1e-12
    )


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_orthogonal_polynomials(n: int) -> None:
    angle = np.array([0.3, 1.1, 2.0])
    x = np.cos(angle)
    expected = {
        "chebyshev_polynomial_t": np.cos(n * angle),
        "chebyshev_polynomial_u": np.sin((n + 1) * angle) / np.sin(angle),
        "chebyshev_polynomial_v": np.cos((n + 0.5) * angle) / np.cos(angle / 2),
        "chebyshev_polynomial_w": np.sin((n + 0.5) * angle) / np.sin(angle / 2),
        "hermite_polynomial_h": np.polynomial.hermite.hermval(x, [0] * n + [1]),
        "hermite_polynomial_he": np.polynomial.hermite_e.hermeval(x, [0] * n + [1]),
        "laguerre_polynomial_l": np.polynomial.laguerre.lagval(x, [0] * n + [1]),
        "legendre_polynomial_p": np.polynomial.legendre.legval(x, [0] * n + [1]),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(
            getattr(torch.special, name)(from_numpy(x), n).numpy(), values, rtol=1e-9, atol=1e-12
        )
    for kind in "tuvw":
        shifted = getattr(torch.special, f"shifted_chebyshev_polynomial_{kind}")(from_numpy((x + 1) / 2), n)
        np.testing.assert_allclose(shifted.numpy(), expected[f"chebyshev_polynomial_{kind}"], rtol=1e-9, atol=1e-12)
