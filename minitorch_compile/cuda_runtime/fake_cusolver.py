"""A stand-in for the bindings of cuSOLVER and cuBLAS: the same calls on the memory of a stand-in driver, by LAPACK.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> library = FakeCuSolver(FakeDriver())
>>> library.sgesvd_buffer_size(library.create(), 2, 3)
Traceback (most recent call last):
ValueError: gesvd: a has at least as many rows as columns, got 2 and 3
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import DEVICE_STRIDE, FakeDriver

LETTERS: dict[str, np.dtype[Any]] = {"s": np.dtype(np.float32), "d": np.dtype(np.float64)}
WORKSPACE = 32  # elements that each routine asks for, and writes to


class FakeLibrary:
    """A library with handles; a routine's name begins with the letter of its elements' type."""

    routines: tuple[str, ...] = ()

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver
        self.streams: dict[int, int] = {}
        self.called: list[str] = []

    def create(self) -> int:
        number = len(self.streams) + 1
        self.streams[number] = 0
        return number

    def set_stream(self, handle: int, stream_id: int) -> None:
        self.streams[handle] = stream_id

    def __getattr__(self, name: str) -> Callable[..., Any]:
        element, routine = LETTERS.get(name[:1]), name[1:]
        if element is None or routine.removesuffix("_buffer_size") not in self.routines:
            raise AttributeError(name)

        def call(*arguments: int) -> Any:
            if not routine.endswith("_buffer_size"):
                self.called.append(name)
            return getattr(type(self), routine)(self, element, *arguments)

        return call

    def view(self, element: np.dtype[Any], address: int, rows: int, columns: int = 1) -> np.ndarray:
        """A matrix by columns, over the memory itself."""
        memory = self.driver.bytes_at(address, rows * columns * element.itemsize).view(element)
        return memory.reshape(columns, rows).T

    def launch(self, handle: int, place: int, work: Callable[[], None]) -> None:
        """Where `place` is in memory says on which device."""
        self.driver.launch(work, StreamHandle(place // DEVICE_STRIDE - 1, self.streams[handle]))


class FakeCuSolver(FakeLibrary):
    """What `nvmath.bindings.cusolverDn` has, as far as it is used."""

    routines = ("potrf", "getrf", "getrs", "geqrf", "orgqr", "syevd", "gesvd")

    def scratch(self, element: np.dtype[Any], address: int) -> None:
        self.view(element, address, WORKSPACE)[:] = np.nan

    def report(self, info: int, code: int) -> None:
        self.view(np.dtype(np.int32), info, 1)[:] = code

    def potrf_buffer_size(self, element: Any, handle: int, uplo: int, n: int, a: int, lda: int) -> int:
        _require(uplo == 0 and lda == n, "potrf", f"only whole lower matrices are factored, not {uplo}, {lda}")
        return WORKSPACE

    def potrf(self, element: Any, handle: int, *arguments: int) -> None:
        uplo, n, a, lda, workspace, lwork, info = arguments
        matrix = self.view(element, a, n, n)

        def work() -> None:
            self.scratch(element, workspace)
            factor, code = _lapack("potrf", element)(matrix, lower=1, clean=0)
            matrix[...] = factor
            self.report(info, code)

        self.launch(handle, a, work)

    def getrf_buffer_size(self, element: Any, handle: int, m: int, n: int, a: int, lda: int) -> int:
        _require(lda == m, "getrf", f"{lda} is not {m}")
        return WORKSPACE

    def getrf(self, element: Any, handle: int, *arguments: int) -> None:
        m, n, a, lda, workspace, pivots, info = arguments
        matrix, swaps = self.view(element, a, m, n), self.view(np.dtype(np.int32), pivots, min(m, n))

        def work() -> None:
            self.scratch(element, workspace)
            factors, piv, code = _lapack("getrf", element)(matrix)
            matrix[...], swaps[:, 0] = factors, piv + 1
            self.report(info, code)

        self.launch(handle, a, work)

    def getrs(self, element: Any, handle: int, *arguments: int) -> None:
        trans, n, nrhs, a, lda, pivots, b, ldb, info = arguments
        _require((trans, lda, ldb) == (0, n, n), "getrs", f"a and b are whole, got {(trans, lda, ldb)}")
        matrix, right = self.view(element, a, n, n), self.view(element, b, n, nrhs)
        swaps = self.view(np.dtype(np.int32), pivots, n)

        def work() -> None:
            solved, code = _lapack("getrs", element)(matrix, swaps[:, 0] - 1, right)
            right[...] = solved
            self.report(info, code)

        self.launch(handle, a, work)

    def geqrf_buffer_size(self, element: Any, handle: int, m: int, n: int, a: int, lda: int) -> int:
        _require(lda == m, "geqrf", f"{lda} is not {m}")
        return WORKSPACE

    def geqrf(self, element: Any, handle: int, *arguments: int) -> None:
        m, n, a, lda, tau, work, lwork, info = arguments
        matrix, scales = self.view(element, a, m, n), self.view(element, tau, min(m, n))

        def run() -> None:
            self.scratch(element, work)
            factors, found, _, code = _lapack("geqrf", element)(matrix)
            matrix[...], scales[:, 0] = factors, found
            self.report(info, code)

        self.launch(handle, a, run)

    def orgqr_buffer_size(self, element: Any, handle: int, *arguments: int) -> int:
        m, n, k, a, lda, tau = arguments
        _require(m >= n >= k and lda == m, "orgqr", f"rows >= columns >= reflections, got {m}, {n}, {k}")
        return WORKSPACE

    def orgqr(self, element: Any, handle: int, *arguments: int) -> None:
        m, n, k, a, lda, tau, work, _, info = arguments
        matrix, scales = self.view(element, a, m, n), self.view(element, tau, k)

        def run() -> None:
            self.scratch(element, work)
            q, _, code = _lapack("orgqr", element)(matrix, scales[:, 0])
            matrix[...] = q
            self.report(info, code)

        self.launch(handle, a, run)

    def syevd_buffer_size(self, element: Any, handle: int, *arguments: int) -> int:
        jobz, uplo, n, a, lda, w = arguments
        _require(jobz == 1 and lda == n, "syevd", f"vectors of whole matrices are wanted, not {jobz}, {lda}")
        return WORKSPACE

    def syevd(self, element: Any, handle: int, *arguments: int) -> None:
        jobz, uplo, n, a, lda, w, work, _, info = arguments
        matrix, values = self.view(element, a, n, n), self.view(element, w, n)

        def run() -> None:
            self.scratch(element, work)
            found, vectors, code = _lapack("syevd", element)(matrix, lower=uplo == 0)
            matrix[...], values[:, 0] = vectors, found
            self.report(info, code)

        self.launch(handle, a, run)

    def gesvd_buffer_size(self, element: Any, handle: int, m: int, n: int) -> int:
        _require(m >= n, "gesvd", f"a has at least as many rows as columns, got {m} and {n}")
        return WORKSPACE

    def gesvd(self, element: Any, handle: int, *arguments: int) -> None:
        jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, _, _, info = arguments
        _require(jobu == jobvt and chr(jobu) in "AS" and (lda, ldu, ldvt) == (m, m, n), "gesvd", f"{jobu}, {lda}")
        full = chr(jobu) == "A"
        matrix, values = self.view(element, a, m, n), self.view(element, s, n)
        left, right = self.view(element, u, m, m if full else n), self.view(element, vt, n, n)

        def run() -> None:
            self.scratch(element, work)
            found_u, found_s, found_vt, code = _lapack("gesvd", element)(matrix, full_matrices=full)
            left[...], values[:, 0], right[...] = found_u, found_s, found_vt
            matrix[...] = np.nan
            self.report(info, code)

        self.launch(handle, a, run)


class FakeCublas(FakeLibrary):
    """What `nvmath.bindings.cublas` has, as far as it is used."""

    routines = ("trsm",)

    def trsm(self, element: Any, handle: int, *arguments: int) -> None:
        side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb = arguments
        one = np.frombuffer(ctypes.string_at(alpha, element.itemsize), element)[0]
        _require((side, trans, one, lda, ldb) == (0, 0, 1, m, m), "trsm", f"{(side, trans, one, lda, ldb)}")
        matrix, right = self.view(element, a, m, m), self.view(element, b, m, n)

        def run() -> None:
            blas = getattr(linalg.blas, f"{element.char.replace('f', 's')}trsm")
            right[...] = blas(1, matrix, right, lower=uplo == 0, diag=diag)

        self.launch(handle, a, run)


def _lapack(name: str, element: np.dtype[Any]) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(linalg.lapack, {"f": "s", "d": "d"}[element.char] + name)
    return found


def _require(holds: bool, call: str, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"{call}: {otherwise}")
