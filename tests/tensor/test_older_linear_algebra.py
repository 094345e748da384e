"""LAPACK's names: each against what it is made of, and PyTorch's recorded numbers."""

import pytest

import minitorch_compile as torch

A = torch.tensor([[0.0, 2, 1], [4, 6, 2], [1, 1, 5]])
REFLECTIONS = torch.tensor([[2.0, 1], [0.5, 3], [0.2, 0.4]])
TAU = torch.tensor([1.2, 0.7])


@pytest.mark.parametrize("rows", [2, 3])
def test_factors_multiply_to_the_matrix(rows):
    P, L, U = torch.lu_unpack(*torch.linalg.lu_factor(A[:rows]))
    assert torch.allclose(P @ L @ U, A[:rows])


def test_what_is_not_asked_for_is_empty():
    result = torch.lu_unpack(*torch.linalg.lu_factor(A), unpack_data=False)
    assert [tuple(part.shape) for part in result] == [(3, 3), (0,), (0,)]
    assert tuple(torch.lu_unpack(*torch.linalg.lu_factor(A), unpack_pivots=False).P.shape) == (0,)


def test_reflections_are_those_of_householder_product():
    assert torch.equal(torch.orgqr(REFLECTIONS, TAU), torch.linalg.householder_product(REFLECTIONS, TAU))
    assert torch.orgqr(REFLECTIONS, TAU).stride() == (1, len(REFLECTIONS))  # as PyTorch's


def test_ormqr_multiplies_by_the_whole_of_q():
    whole = torch.cat([torch.tril(REFLECTIONS, -1), torch.zeros(3, 1)], 1)
    Q = torch.linalg.householder_product(whole, TAU)
    B = torch.tensor([[1.0, 2], [3, 4], [5, 7]])
    assert torch.allclose(torch.ormqr(REFLECTIONS, TAU, B), Q @ B)
    assert torch.allclose(torch.ormqr(REFLECTIONS, TAU, B, True, True), Q.t() @ B)
    assert torch.allclose(torch.ormqr(REFLECTIONS, TAU, B.t(), left=False), B.t() @ Q)


def test_norms():
    x = torch.arange(12.0).reshape(3, 4)
    assert torch.frobenius_norm(x, (0, 1)).item() == pytest.approx(506**0.5)
    assert torch.frobenius_norm(x, 1).tolist() == pytest.approx([14**0.5, 126**0.5, 366**0.5])
    assert tuple(torch.frobenius_norm(x, (), True).shape) == (1, 1)
    assert torch.nuclear_norm(x).item() == pytest.approx(torch.linalg.svdvals(x).sum().item())


def test_one_factor_solves_for_a_stack_of_right_sides():
    A = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
    for factors, B in ((A, torch.ones(2, 2, 1)), (A.expand(2, 1, 2, 2), torch.ones(1, 3, 2, 1))):
        assert torch.allclose(A @ torch.cholesky_solve(B, torch.linalg.cholesky(factors)), torch.ones(1))
        for adjoint in (False, True):
            X = torch.linalg.lu_solve(*torch.linalg.lu_factor(factors), B, adjoint=adjoint)
            assert torch.allclose(A @ X, torch.ones(1))
