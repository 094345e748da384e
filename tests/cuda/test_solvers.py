"""Factorizations and systems on a GPU by cuSOLVER, whose stand-in is LAPACK: nothing is computed in main memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.fake_cusolver import FakeCublas, FakeCuSolver
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.libraries import Libraries

linalg, randn = torch.linalg, torch.randn


def definite(*sizes: int) -> Any:
    x = randn(*sizes, sizes[-1])
    return x @ x.mT + sizes[-1] * torch.eye(sizes[-1])


def regular(*sizes: int) -> Any:
    return randn(*sizes, sizes[-1]) + 3 * torch.eye(sizes[-1])


def rebuilt_qr(mode: str) -> Callable[[Any], Any]:
    def rebuilt(a: Any) -> Any:
        q, r = linalg.qr(a, mode)
        return q @ r, q.mT @ q, r.tril(-1)

    return rebuilt


def rebuilt_svd(full: bool) -> Callable[[Any], Any]:
    def rebuilt(a: Any) -> Any:
        u, s, vh = linalg.svd(a, full)
        k = s.shape[-1]
        return u[..., :k] * s.unsqueeze(-2) @ vh[..., :k, :], s, u.mT @ u, vh @ vh.mT

    return rebuilt


def rebuilt_eigh(half: str) -> Callable[[Any], Any]:
    def rebuilt(a: Any) -> Any:
        values, vectors = linalg.eigh(a, half)
        return values, vectors * values.unsqueeze(-2) @ vectors.mT

    return rebuilt


CALLS: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {
    "cholesky": (linalg.cholesky, lambda: [definite(2, 4)]),
    "upper cholesky of rows": (lambda a: linalg.cholesky(a.mT, upper=True), lambda: [definite(3)]),
    "lu_factor": (linalg.lu_factor, lambda: [regular(2, 4)]),
    "lu of tall": (lambda a: torch.linalg.lu(a), lambda: [randn(5, 3)]),
    "lu of wide": (lambda a: torch.linalg.lu(a), lambda: [randn(2, 3, 5)]),
    "solve": (linalg.solve, lambda: [regular(2, 4), randn(2, 4, 3)]),
    "solve a vector": (linalg.solve, lambda: [regular(3), randn(3)]),
    "solve from the right": (lambda a, b: linalg.solve(a, b, left=False), lambda: [regular(3), randn(2, 3)]),
    "inv": (linalg.inv, lambda: [regular(2, 3)]),
    "det": (linalg.det, lambda: [regular(3, 4)]),
    "slogdet": (linalg.slogdet, lambda: [regular(4)]),
    "lower triangular": (
        lambda a, b: linalg.solve_triangular(a, b, upper=False),
        lambda: [regular(2, 4), randn(2, 4, 2)],
    ),
    "upper triangular with ones": (
        lambda a, b: linalg.solve_triangular(a.mT, b, upper=True, unitriangular=True),
        lambda: [regular(4), randn(4, 1)],
    ),
    "triangular from the right": (
        lambda a, b: linalg.solve_triangular(a, b, upper=True, left=False),
        lambda: [regular(4), randn(2, 4)],
    ),
    "a zero on the diagonal": (
        lambda a, b: linalg.solve_triangular(a, b, upper=False),
        lambda: [torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0], [3.0]])],
    ),
    "qr of tall": (rebuilt_qr("reduced"), lambda: [randn(2, 5, 3)]),
    "qr of wide": (rebuilt_qr("reduced"), lambda: [randn(3, 5)]),
    "complete qr": (rebuilt_qr("complete"), lambda: [randn(5, 3)]),
    "complete qr of wide": (rebuilt_qr("complete"), lambda: [randn(3, 5).mT.contiguous().mT]),
    "svd of tall": (rebuilt_svd(False), lambda: [randn(2, 5, 3)]),
    "svd of wide": (rebuilt_svd(False), lambda: [randn(2, 3, 5)]),
    "full svd": (rebuilt_svd(True), lambda: [randn(4, 2)]),
    "full svd of wide": (rebuilt_svd(True), lambda: [randn(2, 4)]),
    "eigh": (rebuilt_eigh("L"), lambda: [randn(2, 4, 4).tril()]),
    "eigh of the upper half": (rebuilt_eigh("U"), lambda: [randn(4, 4).triu()]),
    "eigvalsh": (linalg.eigvalsh, lambda: [definite(3)]),
    "svdvals": (linalg.svdvals, lambda: [randn(3, 2)]),
    "pinv": (linalg.pinv, lambda: [randn(4, 2)]),
    "lstsq": (lambda a, b: linalg.lstsq(a, b).solution, lambda: [randn(5, 2), randn(5, 1)]),
    "matrix_rank": (linalg.matrix_rank, lambda: [torch.ones(3, 3)]),
    "one by one": (linalg.inv, lambda: [torch.tensor([[4.0]])]),
}


@pytest.fixture
def solver(gpus: Runtime) -> Iterator[FakeCuSolver]:
    assert isinstance(gpus.driver, FakeDriver)
    gpus.kernels, library = DeviceKernels(gpus), FakeCuSolver(gpus.driver)
    blas = FakeCublas(gpus.driver)
    gpus.kernels.libraries = Libraries(gpus, {"cusolverDn": library, "cublas": blas}.__getitem__)
    yield library
    library.called += blas.called
    assert not gpus.kernels.reasons


def flat(result: Any) -> list[Any]:
    return [result] if isinstance(result, torch.Tensor) else list(result)


@pytest.mark.parametrize("name", CALLS)
def test_what_lapack_computes_is_computed_there(name: str, solver: FakeCuSolver) -> None:
    function, make = CALLS[name]
    arguments = [x.double() for x in make()]
    for expected, found in zip(flat(function(*arguments)), flat(function(*[x.cuda() for x in arguments])), strict=True):
        assert found.is_cuda and found.dtype == expected.dtype and found.stride() == expected.stride()
        assert np.allclose(found.cpu().numpy(), expected.numpy(), 1e-9, 1e-9, equal_nan=True)


@pytest.mark.parametrize("name", ["cholesky", "solve", "svd of wide"])
def test_also_in_float32(name: str, solver: FakeCuSolver) -> None:
    function, make = CALLS[name]
    arguments = make()
    for expected, found in zip(flat(function(*arguments)), flat(function(*[x.cuda() for x in arguments])), strict=True):
        assert found.dtype is torch.float32 and torch.allclose(found.cpu(), expected, 1e-4, 1e-4)
    assert all(call.startswith("s") for call in solver.called)


def test_gradients_stay_there(solver: FakeCuSolver) -> None:
    a = regular(3).double()
    here, there = a.clone().requires_grad_(), a.cuda().requires_grad_()
    for x in (here, there):
        (linalg.inv(x).sum() + linalg.slogdet(x)[1] + linalg.cholesky(x @ x.mT).sum()).backward()
    assert torch.allclose(there.grad.cpu(), here.grad, 1e-9, 1e-9)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: linalg.solve(x, x), "solve: .Batch element 1.: The solver failed because .* singular"),
        (lambda x: linalg.cholesky(x), r"cholesky: .Batch element 1.: .*minor of order 1 is"),
    ],
)
def test_a_matrix_without_an_answer_is_named(function: Any, message: str, solver: FakeCuSolver) -> None:
    x = torch.stack([torch.eye(2), torch.zeros(2, 2)])
    for place in (x, x.cuda()):
        with pytest.raises(linalg.LinAlgError, match=message):
            function(place)


def test_a_compiled_solution_stays_there_with_its_layout(solver: FakeCuSolver) -> None:
    a = regular(3).double()
    function = lambda a: linalg.solve(a, a) + linalg.cholesky(a @ a.mT)
    expected, found = function(a), torch.compile(function)(a.cuda())
    assert found.is_cuda and found.stride() == expected.stride()
    assert np.allclose(found.cpu().numpy(), expected.numpy(), 1e-9, 1e-9)


def test_without_the_library_it_is_computed_in_main_memory_and_says_so() -> None:
    with pytest.warns(UserWarning, match="_linalg_cholesky on cuda is computed in main memory: an algorithm of LAPACK"):
        assert linalg.cholesky(4 * torch.eye(2, device="cuda")).tolist() == [[2, 0], [0, 2]]
