"""Factorizations that say in numbers where they failed, LDL, and the older names of LU, as recorded from PyTorch
2.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import linalg

BACKENDS = [None, "aot_eager", "inductor"]


def matrix(*rows: list[float], dtype: Any = torch.float64) -> Any:
    return torch.tensor([*rows], dtype=dtype)


A = matrix([1, 2, 3], [4, 5, 6], [7, 8, 10])
SINGULAR = matrix([1, 2, 3], [2, 4, 6], [7, 8, 10])
INDEFINITE = matrix([2, 1, 0], [1, -3, 1], [0, 1, 0.5])
DEFINITE = matrix([2, 1, 0], [1, 3, 1], [0, 1, 5])
BOTH = torch.stack([A, SINGULAR])
B, b = matrix([1, 0], [0, 1], [1, 1]), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def assert_close(found: Any, expected: Any, atol: float = 1e-4) -> None:
    torch.testing.assert_close(found, torch.tensor(expected, dtype=found.dtype), rtol=0, atol=atol)


FACTORS = [[7.0, 8.0, 10.0], [0.1429, 0.8571, 1.5714], [0.5714, 0.5, -0.5]]
OF_SINGULAR = [[7.0, 8.0, 10.0], [0.2857, 1.7143, 3.1429], [0.1429, 0.5, 0.0]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_lu_factor_ex(backend: str | None) -> None:
    factor = linalg.lu_factor_ex if backend is None else torch.compile(linalg.lu_factor_ex, backend=backend)
    LU, pivots, info = factor(BOTH)
    assert_close(LU, [FACTORS, OF_SINGULAR])
    assert (pivots.tolist(), info.tolist(), info.dtype) == ([[3, 3, 3], [3, 2, 3]], [0, 3], torch.int32)
    assert factor(A).info.tolist() == 0 and factor(A[:2]).pivots.tolist() == [2, 2]
    assert factor(torch.zeros(2, 2)).info.item() == 1
    assert linalg.lu_factor_ex(torch.ones(0, 2, 2)).info.shape == (0,)
    assert linalg.lu_factor_ex(torch.ones(0, 0)).info.item() == 0


INFOS: list[tuple[Callable[[Any], Any], Any, int]] = [
    (linalg.lu_factor_ex, SINGULAR, 3),
    (lambda x: linalg.solve_ex(x, b), SINGULAR, 3),
    (linalg.inv_ex, SINGULAR, 3),
    (linalg.cholesky_ex, INDEFINITE, 2),
    (lambda x: linalg.cholesky_ex(x, upper=True), INDEFINITE, 2),
    (linalg.ldl_factor_ex, torch.zeros(2, 2), 1),
]


@pytest.mark.parametrize(("factor", "failing", "where"), INFOS, ids=range(len(INFOS)))
@pytest.mark.parametrize("backend", BACKENDS)
def test_info_says_where(factor: Any, failing: Any, where: int, backend: str | None) -> None:
    run = factor if backend is None else torch.compile(factor, backend=backend)
    assert run(failing).info.item() == where
    fine = DEFINITE[: len(failing), : len(failing)].to(failing.dtype)
    assert run(torch.stack([fine, failing])).info.tolist() == [0, where]


ERRORS: list[tuple[Callable[[Any], Any], Any, str]] = [
    (lambda x: linalg.lu_factor(x), SINGULAR, r"torch.linalg.lu_factor: U\[3,3\] is zero and using it on lu_solve"),
    (lambda x: linalg.lu_factor_ex(x, check_errors=True), BOTH, r"lu_factor_ex: \(Batch element 1\): U\[3,3\]"),
    (lambda x: linalg.solve(x, b), SINGULAR, "torch.linalg.solve: The solver failed because"),
    (lambda x: linalg.solve(x, B), BOTH, r"torch.linalg.solve: \(Batch element 1\): The solver failed"),
    (lambda x: linalg.solve_ex(x, b, check_errors=True), SINGULAR, "torch.linalg.solve_ex: The solver failed because"),
    (lambda x: linalg.inv(x), SINGULAR, "linalg.inv: The diagonal element 3 is zero, the inversion could not be"),
    (lambda x: linalg.inv_ex(x, check_errors=True), BOTH, r"inv_ex: \(Batch element 1\): The diagonal element 3"),
    (lambda x: linalg.cholesky(x), INDEFINITE, r"not positive-definite \(the leading minor of order 2 is not"),
    (lambda x: linalg.cholesky_ex(x, check_errors=True), INDEFINITE, "linalg.cholesky_ex: The factorization could not"),
    (lambda x: linalg.ldl_factor(x), torch.zeros(2, 2), "torch.linalg.ldl_factor: "),
]  # fmt: skip


@pytest.mark.parametrize(("compute", "failing", "says"), ERRORS, ids=range(len(ERRORS)))
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_fails_raises_where_it_is_asked_to(compute: Any, failing: Any, says: str, backend: str | None) -> None:
    with pytest.raises(RuntimeError, match=says):
        (compute if backend is None else torch.compile(compute, backend=backend))(failing)


def test_solve_ex_and_inv_ex() -> None:
    assert_close(linalg.solve_ex(A, b).result, [-0.3333, 0.6667, 0.0])
    assert_close(linalg.solve_ex(A, B.mT, left=False).result, [[0.3333, -3.3333, 2.0], [0.3333, 1.6667, -1.0]])
    assert_close(linalg.solve_ex(BOTH, torch.stack([b, b])).result[0], [-0.3333, 0.6667, 0.0])
    assert_close(linalg.inv_ex(A).inverse @ A, torch.eye(3).tolist())
    with pytest.raises(RuntimeError, match="A must be batches of square matrices"):
        linalg.solve_ex(A[:2], b)


def test_ldl() -> None:
    LD, pivots = linalg.ldl_factor(INDEFINITE)
    assert_close(LD, [[2.0, 0.0, 0.0], [0.5, -3.5, 0.0], [0.0, -0.2857, 0.7857]])
    assert pivots.tolist() == [1, 2, 3]
    assert linalg.ldl_factor(matrix([0, 1], [1, 0])).pivots.tolist() == [-2, -2]
    LD, pivots = linalg.ldl_factor(A)  # only the lower half is read
    assert_close(LD, [[10.0, 0.0, 0.0], [0.8, -1.4, 0.0], [0.7, 1.1429, -2.0714]])
    assert pivots.tolist() == [3, 2, 3]


HERMITIAN = matrix([2, 1j], [-1j, 3], dtype=torch.complex128)  # type: ignore[list-item]
SYMMETRIC = matrix([2, 1j], [1j, 3], dtype=torch.complex128)  # type: ignore[list-item]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("x", "hermitian"),
    [
        (INDEFINITE, False), (INDEFINITE, True), (DEFINITE, False), (HERMITIAN, True), (SYMMETRIC, False),
        (matrix([0, 1], [1, 0]), False), (matrix([0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]), False),
        (torch.stack([INDEFINITE, DEFINITE]), False), (matrix([1e-8, 1, 2], [1, 0, 4], [2, 4, 1e-9]), False),
    ],
)  # fmt: skip
def test_ldl_solve(x: Any, hermitian: bool, backend: str | None) -> None:
    def solved(x: Any, right: Any) -> Any:
        return linalg.ldl_solve(*linalg.ldl_factor(x, hermitian=hermitian), right, hermitian=hermitian)

    right = torch.arange(2.0 * x.shape[-1]).reshape(-1, 2).to(x.dtype)
    found = (solved if backend is None else torch.compile(solved, backend=backend))(x, right)
    torch.testing.assert_close(x @ found, right.expand(found.shape))


def test_ldl_solve_says_what_does_not_fit() -> None:
    LD, pivots = linalg.ldl_factor(INDEFINITE)
    for arguments, says in (
        ((LD, pivots, B.float()), "Expected b and A to have the same dtype"),
        ((LD, pivots.float(), B), "torch.linalg.ldl_solve: Expected pivots to be integers"),
        ((LD, pivots, B[:2]), "each A matrix is 3 by 3 but each b matrix is 2 by 2"),
        ((LD, pivots[:2], B), r"Expected LD.shape\[:-1\] and pivots.shape to be the same"),
    ):
        with pytest.raises(RuntimeError, match=says):
            linalg.ldl_solve(*arguments)


def test_lu_by_its_older_names() -> None:
    LU, pivots = torch.lu(A)
    assert_close(LU, FACTORS)
    assert type(torch.lu(A)) is tuple and pivots.tolist() == [3, 3, 3]
    assert torch.lu(SINGULAR, get_infos=True)[2].item() == A.lu(get_infos=True)[2].item() + 3 == 3
    assert_close(torch.lu_solve(B, LU, pivots), [[0.3333, -0.3333], [-2.6667, 1.6667], [2.0, -1.0]])
    assert torch.equal(B.lu_solve(*A.lu()), torch.lu_solve(B, LU, pivots))
    with pytest.raises(RuntimeError, match="LU without pivoting is not implemented on the CPU"):
        A.lu(pivot=False)
    with pytest.raises(RuntimeError, match="LU_pivots is expected to be a contiguous tensor of torch.int32"):
        torch.lu_unpack(A, torch.tensor([1, 2, 3]))


GRADIENT = [[-5.4082, 0.2143, 3.6429], [-1.8367, 3.0, -1.0], [15.8222, 14.2551, 20.051]]


@pytest.mark.parametrize("factors", [lambda x: linalg.lu_factor_ex(x).LU, lambda x: torch.lu(x)[0]])
def test_gradients_of_lu(factors: Any) -> None:
    x = A.clone().requires_grad_()
    factors(x).pow(2).sum().backward()
    assert_close(x.grad, GRADIENT)


def test_gradients_of_solve_ex() -> None:
    x, right = A.clone().requires_grad_(), b.clone().requires_grad_()
    linalg.solve_ex(x, right).result.pow(2).sum().backward()
    assert_close(x.grad, [[-0.1481, 0.2963, 0.0], [1.9259, -3.8519, 0.0], [-1.1111, 2.2222, 0.0]])
    assert_close(right.grad, [-0.4444, 5.7778, -3.3333])


def test_ldl_has_no_derivative() -> None:
    x, right = INDEFINITE.clone().requires_grad_(), B.clone().requires_grad_()
    with pytest.raises(NotImplementedError, match="derivative for linalg_ldl_factor_ex is not implemented"):
        linalg.ldl_factor(x).LD.sum().backward()
    with pytest.raises(NotImplementedError, match="derivative for linalg_ldl_solve is not implemented"):
        linalg.ldl_solve(*linalg.ldl_factor(INDEFINITE), right).sum().backward()
