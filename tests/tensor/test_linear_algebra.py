"""torch.linalg: against NumPy in float64, on stacks, empty and singular matrices, and PyTorch's errors."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import linalg

RNG = np.random.default_rng(0)
STACK = RNG.normal(size=(2, 3, 3))
DEFINITE = STACK @ STACK.transpose(0, 2, 1) + np.eye(3)
TALL, WIDE = RNG.normal(size=(2, 5, 3)), RNG.normal(size=(3, 4))

SAME_AS_NUMPY = {
    "inv": (linalg.inv, np.linalg.inv, STACK),
    "inverse": (torch.inverse, np.linalg.inv, DEFINITE),
    "inv of nothing": (linalg.inv, np.linalg.inv, np.zeros((0, 3, 3))),
    "det": (torch.det, np.linalg.det, STACK),
    "det of an empty matrix": (torch.det, np.linalg.det, np.zeros((0, 0))),
    "logabsdet": (lambda x: x.slogdet().logabsdet, lambda x: np.linalg.slogdet(x)[1], STACK),
    "cholesky": (linalg.cholesky, np.linalg.cholesky, DEFINITE),
    "upper cholesky": (lambda x: linalg.cholesky(x, upper=True).mT, np.linalg.cholesky, DEFINITE),
    "svdvals": (linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False), TALL),
    "eigvalsh": (linalg.eigvalsh, np.linalg.eigvalsh, DEFINITE),
    "pinv": (linalg.pinv, np.linalg.pinv, TALL),
    "pinv of rank 1": (linalg.pinv, np.linalg.pinv, np.ones((3, 4))),
    "rank": (linalg.matrix_rank, np.linalg.matrix_rank, TALL),
    "rank 1": (linalg.matrix_rank, np.linalg.matrix_rank, np.ones((3, 3))),
    "multi_dot": (
        lambda x: linalg.multi_dot([x[0], x[1], x[0, 0]]),
        lambda x: np.linalg.multi_dot([x[0], x[1], x[0, 0]]),
        STACK,
    ),
    "cond": (linalg.cond, np.linalg.cond, TALL),
} | {
    f"norm {ord}": (lambda x, o=ord: linalg.norm(x, o), lambda x, o=ord: np.linalg.norm(x, o), WIDE)
    for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
}
SAME_AS_NUMPY["tensorinv"] = (
    lambda x: linalg.tensorinv(x.reshape(2, 3, 6), 2),
    lambda x: np.linalg.tensorinv(x.reshape(2, 3, 6), 2),
    RNG.normal(size=(6, 6)),
)


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_values_are_those_of_numpy(name, dtype):
    ours, numpys, array = SAME_AS_NUMPY[name]
    result = ours(torch.tensor(array, dtype=dtype))
    rtol = 1e-10 if dtype is torch.float64 else 2e-4
    np.testing.assert_allclose(result.numpy(), numpys(array), rtol=rtol, atol=rtol)
    assert result.dtype in (dtype, torch.int64)


@pytest.mark.parametrize("ord", [0, 1, 2, 3, 0.5, -1, np.inf, -np.inf])
@pytest.mark.parametrize("dim", [None, 0, -1, (0, 2)])
def test_vector_norms_are_sums_of_powers(ord, dim):
    x = torch.tensor(TALL)
    axes = tuple(range(3)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    moved = np.moveaxis(TALL, [a % 3 for a in axes], range(-len(axes), 0)).reshape(
        *[n for a, n in enumerate(TALL.shape) if a not in [b % 3 for b in axes]], -1
    )
    expected = np.linalg.norm(moved, ord, axis=-1)
    np.testing.assert_allclose(linalg.vector_norm(x, ord, dim).numpy(), expected, rtol=1e-12)
    assert linalg.vector_norm(x, ord, dim, keepdim=True).ndim == 3


@pytest.mark.parametrize("array", [STACK, TALL, WIDE, np.zeros((0, 2))], ids=["square", "tall", "wide", "empty"])
@pytest.mark.parametrize("full", [False, True])
def test_factors_multiply_back_to_the_matrix(array, full):
    x = torch.tensor(array)
    q, r = linalg.qr(x, mode="complete" if full else "reduced")
    u, s, vh = linalg.svd(x, full_matrices=full)
    k = s.shape[-1]
    p, lower, upper = linalg.lu(x)
    for product in (q @ r, (u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :], p @ lower @ upper):
        np.testing.assert_allclose(product.numpy(), array, atol=1e-12)
    np.testing.assert_allclose((q.mT @ q).numpy(), np.broadcast_to(np.eye(q.shape[-1]), (q.mT @ q).shape), atol=1e-12)


def test_eigenvectors_and_their_values():
    values, vectors = linalg.eigh(torch.tensor(DEFINITE))
    np.testing.assert_allclose((vectors * values.unsqueeze(-2) @ vectors.mT).numpy(), DEFINITE, atol=1e-12)


def right_hand_sides():
    yield "matrices", RNG.normal(size=(2, 3, 5))
    yield "one matrix for all", RNG.normal(size=(3, 5))
    yield "one vector for all", RNG.normal(size=3)
    yield "a vector each", RNG.normal(size=(2, 3))


@pytest.mark.parametrize(("name", "b"), list(right_hand_sides()), ids=lambda v: v if isinstance(v, str) else "")
def test_a_solution_solves(name, b):
    x = linalg.solve(torch.tensor(STACK), torch.tensor(b))
    applied = np.einsum("bij,bj->bi", STACK, x.numpy()) if "vector" in name else STACK @ x.numpy()
    np.testing.assert_allclose(applied, np.broadcast_to(b, applied.shape), atol=1e-10)


def test_all_ways_to_solve_agree():
    a, b = torch.tensor(DEFINITE), torch.tensor(RNG.normal(size=(2, 3, 4)))
    expected = linalg.solve(a, b).numpy()
    factor, (lu, pivots) = linalg.cholesky(a), linalg.lu_factor(a)
    middle = linalg.solve_triangular(factor, b, upper=False)
    ways = [
        linalg.inv(a) @ b,
        torch.cholesky_solve(b, factor),
        torch.cholesky_inverse(factor) @ b,
        linalg.lu_solve(lu, pivots, b),
        linalg.lu_solve(lu, pivots, b, adjoint=True),  # a is symmetric
        linalg.solve(a, b.mT, left=False).mT,
        linalg.solve_triangular(factor.mT, middle, upper=True),
        linalg.lstsq(a, b).solution,
    ]
    for x in ways:
        np.testing.assert_allclose(x.numpy(), expected, rtol=1e-9)


def test_a_triangular_solve_reads_its_half_only():
    a, b = torch.tensor(STACK), torch.tensor(RNG.normal(size=(2, 3, 2)))
    for upper in (False, True):
        half = torch.triu(a) if upper else torch.tril(a)
        for unit in (False, True):
            m = torch.tril(half, -1) + torch.triu(half, 1) + torch.eye(3) if unit else half
            x = linalg.solve_triangular(a, b, upper=upper, unitriangular=unit)
            np.testing.assert_allclose((m @ x).numpy(), b.numpy(), atol=1e-10)


def test_exponential_of_a_rotation():
    angle = torch.tensor([[0.0, -np.pi / 2], [np.pi / 2, 0.0]])
    np.testing.assert_allclose(torch.matrix_exp(angle).numpy(), [[0, -1], [1, 0]], atol=1e-6)


def test_results_lie_column_by_column_as_in_pytorch():
    assert linalg.inv(torch.tensor(STACK)).stride() == (9, 1, 3)
    assert [x.stride() for x in linalg.svd(torch.tensor(TALL))] == [(25, 1, 5), (3, 1), (9, 1, 3)]


def test_the_gradient_of_a_norm_at_zero_is_zero():
    x = torch.zeros(2, 3, requires_grad=True)
    linalg.vector_norm(x, dim=1).sum().backward()
    assert (x.grad == 0).all()


SINGULAR, RECTANGLE = torch.zeros(2, 2), torch.ones(2, 3)
ERRORS = {
    "singular": (lambda: linalg.inv(SINGULAR), "singular"),
    "unsolvable": (lambda: linalg.solve(SINGULAR, torch.ones(2)), "singular"),
    "not definite": (lambda: linalg.cholesky(-torch.eye(2)), "positive-definite"),
    "rectangular": (lambda: linalg.inv(RECTANGLE), "2 by 3"),
    "integers": (lambda: linalg.inv(torch.eye(2, dtype=torch.int64)), "floating point"),
    "half": (lambda: torch.det(torch.eye(2, dtype=torch.float16)), "Low precision"),
    "a vector": (lambda: linalg.inv(torch.ones(2)), "at least 2 dimensions"),
    "sizes": (lambda: linalg.solve(torch.eye(2), torch.ones(3)), "Incompatible"),
    "mode": (lambda: linalg.qr(torch.eye(2), mode="x"), "unrecognized mode"),
    "order": (lambda: linalg.matrix_norm(torch.eye(2), 3), "Order 3"),
    "largest of nothing": (lambda: linalg.vector_norm(torch.ones(0), np.inf), "identity"),
    "nan": (lambda: linalg.svdvals(torch.full((2, 2), np.nan)), "non-finite"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_runtime_errors_as_in_pytorch(name):
    call, message = ERRORS[name]
    with pytest.raises(RuntimeError, match=message):
        call()
    assert issubclass(linalg.LinAlgError, RuntimeError)


def test_a_system_of_equations_has_one_dtype():
    a, b = torch.eye(2), torch.ones(2, 1, dtype=torch.float64)
    for solve in (
        lambda: torch.linalg.solve(a, b),
        lambda: torch.linalg.solve_triangular(a, b, upper=True),
        lambda: torch.cholesky_solve(b, a),
    ):
        with pytest.raises(RuntimeError, match="expected A and B to have the same dtype"):
            solve()


@pytest.mark.parametrize("sizes", [(7, 5), (5, 7), (2, 6, 4)])
def test_a_matrix_of_low_rank_is_its_largest_singular_values(sizes):
    torch.manual_seed(0)
    x = torch.randn(*sizes[:-1], 2) @ torch.randn(*sizes[:-2], 2, sizes[-1])
    U, S, V = torch.svd_lowrank(x, q=2)
    assert torch.allclose((U * S.unsqueeze(-2)) @ V.mT, x, atol=1e-5)
    assert torch.allclose(S, torch.linalg.svdvals(x)[..., :2], atol=1e-4)
    centered = x - x.mean(-2, keepdim=True)
    U, S, V = torch.pca_lowrank(x, q=3)
    assert torch.allclose((U * S.unsqueeze(-2)) @ V.mT, centered, atol=1e-5)
