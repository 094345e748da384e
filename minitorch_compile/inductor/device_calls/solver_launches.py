"""What calls of cuSOLVER are on a GPU: matrix by matrix, on copies where the algorithm destroys what it reads.

All are asked at the end what they have to say, once for a whole stack; LinAlgError has the words of the CPU's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.cuda_runtime.cusolver import CuSolver
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.device_calls.extern_launches import Resources, launched_by
from minitorch_compile.inductor.device_calls.launcher import Launch
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.ops.matrix_kernels import NOT_DEFINITE, SINGULAR, LinAlgError

NOT_FINITE = "The algorithm failed to converge because the input is not finite."
# The names of the calls.
CHOLESKY, LU_FACTOR, QR, EIGH, SVD = (f"cusolver_{name}" for name in ("cholesky", "lu_factor", "qr", "eigh", "svd"))
SOLVE, SOLVE_TRIANGULAR = "cusolver_solve", "cublas_solve_triangular"
Routine = Callable[[list[int], StreamHandle], None]  # on the addresses of one matrix of each buffer


class Stacks:
    """The buffers of a call as stacks with a part for each matrix, and what is done with each."""

    def __init__(self, call: ExternCall, resources: Resources) -> None:
        library = resources.libraries.solver
        assert library is not None, "only then are there such calls"
        self.library: CuSolver = library
        self.driver: Any = library.driver
        self.a = call.inputs[0]
        self.element = self.a.buffer.dtype.name
        self.batch = numel(self.a.sizes[:-2])
        views = [*(view.sizes for view in call.inputs), *(buffer.sizes for buffer in call.outputs)]
        elements = [*(view.buffer.dtype for view in call.inputs), *(buffer.dtype for buffer in call.outputs)]
        self.nbytes = [numel(sizes) * e.itemsize for sizes, e in zip(views, elements)]
        self.steps = [nbytes // self.batch for nbytes in self.nbytes]  # from one matrix to the next

    def copy(self, target: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        self.driver.copy_device_to_device(target, source, nbytes, stream)

    def launch(
        self, copies: dict[int, int], routine: Routine, refuse: Callable[[int, int], Exception] | None
    ) -> Launch:
        """`copies`: from which buffer to which, before all else. `refuse`: the error for a matrix and its code."""

        def run(addresses: Sequence[int], stream: StreamHandle) -> None:
            for source, target in copies.items():
                self.copy(addresses[target], addresses[source], self.nbytes[source], stream)
            with self.library.workspaces.turn:
                for number in range(self.batch):
                    routine([address + number * step for address, step in zip(addresses, self.steps)], stream)
            if refuse is not None:
                codes = self.library.codes(addresses[-1], self.batch, stream)
                for first in codes.nonzero()[0]:
                    raise refuse(int(first), int(codes[first]))

        return run

    def error(self, name: str, text: str) -> Callable[[int, int], Exception]:
        """LinAlgError for the first matrix that failed."""
        stacked = len(self.a.sizes) > 2
        return lambda number, code: LinAlgError(f"{name}: {f'(Batch element {number}): ' * stacked}{text.format(code)}")


@launched_by(CHOLESKY)
def _(call: ExternCall, resources: Resources) -> Launch:
    stacks = Stacks(call, resources)
    library, element, n = stacks.library, stacks.element, stacks.a.sizes[-1]

    def factor(places: list[int], stream: StreamHandle) -> None:
        _, out, info = places
        library.potrf(element, n, out, info, stream)

    return stacks.launch({0: 1}, factor, stacks.error("linalg.cholesky", NOT_DEFINITE))


@launched_by(LU_FACTOR)
def _(call: ExternCall, resources: Resources) -> Launch:
    """Of a singular matrix, too: U has a zero on its diagonal then."""
    stacks = Stacks(call, resources)
    library, element, (m, n) = stacks.library, stacks.element, stacks.a.sizes[-2:]

    def factor(places: list[int], stream: StreamHandle) -> None:
        _, out, pivots, info = places
        library.getrf(element, m, n, out, pivots, info, stream)

    return stacks.launch({0: 1}, factor, None)


@launched_by(SOLVE)
def _(call: ExternCall, resources: Resources) -> Launch:
    """The second code, of what is solved with factors, is always good."""
    stacks = Stacks(call, resources)
    library, element, n, columns = stacks.library, stacks.element, stacks.a.sizes[-1], call.inputs[1].sizes[-1]

    def solve(places: list[int], stream: StreamHandle) -> None:
        _, _, out, factors, pivots, info = places
        library.getrf(element, n, n, factors, pivots, info, stream)

    def substitute(places: list[int], stream: StreamHandle) -> None:
        _, _, out, factors, pivots, info = places
        library.getrs(element, n, columns, factors, pivots, out, info, stream)

    factored = stacks.launch({0: 3, 1: 2}, solve, stacks.error("torch.linalg.solve", SINGULAR))
    substituted = stacks.launch({}, substitute, None)

    def run(addresses: Sequence[int], stream: StreamHandle) -> None:
        factored(addresses, stream)
        substituted(addresses, stream)

    return run


@launched_by(SOLVE_TRIANGULAR)
def _(call: ExternCall, resources: Resources) -> Launch:
    stacks, (upper, unitriangular) = Stacks(call, resources), call.parameters
    library, element, n, columns = stacks.library, stacks.element, stacks.a.sizes[-1], call.inputs[1].sizes[-1]

    def solve(places: list[int], stream: StreamHandle) -> None:
        a, _, out = places
        library.trsm(element, upper, unitriangular, n, columns, a, out, stream)

    return stacks.launch({1: 2}, solve, None)


@launched_by(QR)
def _(call: ExternCall, resources: Resources) -> Launch:
    """Q is made of the reflections that are in the first columns below R."""
    stacks = Stacks(call, resources)
    library, element, (m, n) = stacks.library, stacks.element, stacks.a.sizes[-2:]
    k, columns = min(m, n), call.outputs[0].sizes[-1]
    nbytes = m * min(n, columns) * stacks.a.buffer.dtype.itemsize

    def factor(places: list[int], stream: StreamHandle) -> None:
        _, q, factors, scales, info = places
        library.geqrf(element, m, n, factors, scales, info, stream)
        stacks.copy(q, factors, nbytes, stream)
        library.orgqr(element, m, columns, k, q, scales, info, stream)

    return stacks.launch({0: 2}, factor, None)


@launched_by(EIGH)
def _(call: ExternCall, resources: Resources) -> Launch:
    stacks, (upper,) = Stacks(call, resources), call.parameters
    library, element, n = stacks.library, stacks.element, stacks.a.sizes[-1]

    def factor(places: list[int], stream: StreamHandle) -> None:
        _, values, vectors, info = places
        library.syevd(element, upper, n, vectors, values, info, stream)

    return stacks.launch({0: 2}, factor, stacks.error("linalg.eigh", NOT_FINITE))


@launched_by(SVD)
def _(call: ExternCall, resources: Resources) -> Launch:
    stacks, (full,) = Stacks(call, resources), call.parameters
    library, element, (m, n) = stacks.library, stacks.element, stacks.a.sizes[-2:]

    def factor(places: list[int], stream: StreamHandle) -> None:
        _, u, s, vh, work, info = places
        if m < n:
            library.gesvd(element, full, n, m, work, (s, vh, u, info), stream)
        else:
            library.gesvd(element, full, m, n, work, (s, u, vh, info), stream)

    return stacks.launch({0: 4}, factor, stacks.error("linalg.svd", NOT_FINITE))
