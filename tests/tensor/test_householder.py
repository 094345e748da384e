"""geqrf keeps Q and R as LAPACK does: the product of the reflections times R is the matrix, and SciPy has the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import lapack

import minitorch_compile as torch

SHAPES = [(3, 2), (2, 3), (3, 3), (2, 4, 3), (1, 1), (0, 3), (3, 0), (2, 0, 2), (5, 1)]
ROUTINES = {"float32": lapack.sgeqrf, "float64": lapack.dgeqrf, "complex64": lapack.cgeqrf, "complex128": lapack.zgeqrf}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ROUTINES)
def test_as_lapack(shape, dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    if shape == (3, 3):
        a[:, 0] = [2, 0, 0]  # lies on the axis already
    if shape == (5, 1):
        a[:] = 0
    a = (a if "complex" in dtype else a.real).astype(dtype)
    found = torch.geqrf(torch.from_numpy(a))
    assert (found.a.shape, found.tau.shape) == (shape, (*shape[:-2], min(shape[-2:])))
    if not a.size:
        return
    for matrix, packed, tau in zip(a.reshape(-1, *shape[-2:]), *_matrices(found), strict=True):
        wanted, scales, _, _ = ROUTINES[dtype](matrix)
        np.testing.assert_allclose(packed, wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(tau, scales, rtol=1e-4, atol=1e-5)


def _matrices(found):
    return found.a.numpy().reshape(-1, *found.a.shape[-2:]), found.tau.numpy().reshape(-1, found.tau.shape[-1])


def test_q_and_gradients():
    a = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    packed, tau = a.geqrf()
    torch.testing.assert_close(torch.linalg.householder_product(packed, tau) @ packed.triu()[:3], a)
    assert torch.autograd.gradcheck(torch.geqrf, a)
    torch.testing.assert_close(torch.compile(torch.geqrf, fullgraph=True)(a.detach()), torch.geqrf(a.detach()))
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        torch.geqrf(torch.ones(2))


def test_squares_may_leave_the_range_of_floats():
    for size in (1e30, 1e-30):
        a = torch.tensor([[size, 1.0], [size, 2.0]])
        wanted = lapack.sgeqrf(a.numpy())
        for mine, its in zip(torch.geqrf(a), wanted):
            torch.testing.assert_close(mine, torch.from_numpy(its), rtol=1e-5, atol=0)
