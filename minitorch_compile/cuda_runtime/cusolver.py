"""Factorizations of matrices by cuSOLVER, and triangular systems by cuBLAS, by way of the bindings of nvmath-python.

Matrices lie by columns, as in LAPACK, and are worked on where they lie. What an algorithm has to say of a matrix, such
as at which step it found no way on, it writes to `info`, an int32 in the GPU's memory; 0 is good.

>>> from minitorch_compile.cuda_runtime.allocator import CachingAllocator
>>> from minitorch_compile.cuda_runtime.fake_cusolver import FakeCublas, FakeCuSolver
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> driver, stream = FakeDriver(), StreamHandle(0)
>>> workspaces = StreamWorkspaces([CachingAllocator(driver, 0)])
>>> library = CuSolver(driver, workspaces, FakeCuSolver(driver), FakeCublas(driver))
>>> a, info = driver.allocate(0, 32), driver.allocate(0, 4)
>>> driver.bytes_at(a, 32).view(np.float64)[:] = [4, 2, 2, 2]
>>> library.potrf("float64", 2, a, info, stream)
>>> driver.bytes_at(a, 32).view(np.float64).tolist()[:2], driver.bytes_at(info, 4).view(np.int32).tolist()
([2.0, 1.0], [0])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.stream_workspaces import StreamWorkspaces

TYPES: dict[str, tuple[str, np.dtype[Any]]] = {
    "float32": ("s", np.dtype(np.float32)),
    "float64": ("d", np.dtype(np.float64)),
}
# cublasFillMode_t, cublasSideMode_t, cublasOperation_t, cublasDiagType_t, cusolverEigMode_t.
LOWER, UPPER = 0, 1
LEFT, PLAIN = 0, 0
OWN_DIAGONAL, ONES = 0, 1
WITH_VECTORS = 1


class CuSolver:
    """Both libraries, with handles for each device. Each method is one routine on one matrix; who calls them has the
    turn of `workspaces`."""

    def __init__(self, driver: Any, workspaces: StreamWorkspaces, solver: Any, blas: Any) -> None:
        self.driver, self.workspaces = driver, workspaces
        self.solver, self.blas = solver, blas
        self.handles: dict[tuple[str, int], int] = {}
        self.ones = {element: np.ones(1, numbers) for element, (_, numbers) in TYPES.items()}

    def handle(self, name: str, library: Any, stream: StreamHandle) -> int:
        """That of a device, which becomes this thread's, told the stream."""
        device, number = stream
        self.driver.enter(device)
        handle = self.handles.get((name, device))
        if handle is None:
            handle = self.handles[name, device] = library.create()
        library.set_stream(handle, number)
        return handle

    def routine(self, name: str, element: str, stream: StreamHandle, sized_by: tuple[int, ...]) -> tuple[Any, ...]:
        """A routine, its handle, and memory to work in: address and count of elements."""
        letter, numbers = TYPES[element]
        handle = self.handle("cusolver", self.solver, stream)
        count = max(int(getattr(self.solver, f"{letter}{name}_buffer_size")(handle, *sized_by)), 1)
        workspace = self.workspaces.of(stream, count * numbers.itemsize)
        return getattr(self.solver, letter + name), handle, workspace, count

    def potrf(self, element: str, n: int, a: int, info: int, stream: StreamHandle) -> None:
        """L of a = L L^T in the lower half of a (n, n); the upper half is neither read nor written."""
        call, handle, workspace, count = self.routine("potrf", element, stream, (LOWER, n, a, n))
        call(handle, LOWER, n, a, n, workspace, count, info)

    def getrf(self, element: str, m: int, n: int, a: int, pivots: int, info: int, stream: StreamHandle) -> None:
        """L and U in a (m, n); `pivots`, int32: for each row the one that it was swapped with, from 1."""
        call, handle, workspace, _ = self.routine("getrf", element, stream, (m, n, a, m))
        call(handle, m, n, a, m, workspace, pivots, info)

    def getrs(
        self, element: str, n: int, columns: int, a: int, pivots: int, b: int, info: int, stream: StreamHandle
    ) -> None:
        """The x of a x = b in b (n, columns), from what getrf left."""
        handle = self.handle("cusolver", self.solver, stream)
        getattr(self.solver, f"{TYPES[element][0]}getrs")(handle, PLAIN, n, columns, a, n, pivots, b, n, info)

    def geqrf(self, element: str, m: int, n: int, a: int, tau: int, info: int, stream: StreamHandle) -> None:
        """R in the upper half of a (m, n); below it, and in tau, the reflections that make Q."""
        call, handle, workspace, count = self.routine("geqrf", element, stream, (m, n, a, m))
        call(handle, m, n, a, m, tau, workspace, count, info)

    def orgqr(self, element: str, m: int, n: int, k: int, a: int, tau: int, info: int, stream: StreamHandle) -> None:
        """The first n columns of Q in a (m, n), of which the first k hold what geqrf left."""
        call, handle, workspace, count = self.routine("orgqr", element, stream, (m, n, k, a, m, tau))
        call(handle, m, n, k, a, m, tau, workspace, count, info)

    def syevd(self, element: str, upper: bool, n: int, a: int, values: int, info: int, stream: StreamHandle) -> None:
        """Eigenvalues of a symmetric a (n, n), of which one half is read; its eigenvectors are in a then."""
        half = UPPER if upper else LOWER
        call, handle, workspace, count = self.routine("syevd", element, stream, (WITH_VECTORS, half, n, a, n, values))
        call(handle, WITH_VECTORS, half, n, a, n, values, workspace, count, info)

    def gesvd(
        self, element: str, full: bool, m: int, n: int, a: int, memory: tuple[int, int, int, int], stream: StreamHandle
    ) -> None:
        """a = u diag(s) vt for m >= n, destroying a; u is (m, m) if `full`, else (m, n). `memory`: s, u, vt, info."""
        s, u, vt, info = memory
        call, handle, workspace, count = self.routine("gesvd", element, stream, (m, n))
        which = ord("A" if full else "S")
        call(handle, which, which, m, n, a, m, s, u, m, vt, n, workspace, count, 0, info)

    def trsm(
        self, element: str, upper: bool, unit: bool, n: int, columns: int, a: int, b: int, stream: StreamHandle
    ) -> None:
        """The x of a x = b in b (n, columns), for a triangular a (n, n), whose diagonal counts as ones if `unit`."""
        handle = self.handle("cublas", self.blas, stream)
        half, diagonal = UPPER if upper else LOWER, ONES if unit else OWN_DIAGONAL
        call = getattr(self.blas, f"{TYPES[element][0]}trsm")
        call(handle, LEFT, half, PLAIN, diagonal, n, columns, self.ones[element].ctypes.data, a, n, b, n)

    def codes(self, info: int, count: int, stream: StreamHandle) -> np.ndarray:
        """What algorithms had to say, when they have."""
        codes = np.empty(count, np.int32)
        self.driver.copy_device_to_host(codes.ctypes.data, info, codes.nbytes, stream)
        self.driver.synchronize_stream(stream)
        return codes
