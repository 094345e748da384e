"""A process that makes PTX of kernels' texts for another one, which asks for it over a pipe.

    python -m minitorch_compile.inductor.device_calls.ptx_worker      started by `ptx_pool`, which talks to it

A request is a line of JSON, a `PtxJob`; the answer is a line of JSON: the PTX, or null for a kernel that could not be
compiled here, which the process that asks will compile itself and see why. It uses no GPU: what it compiles for is part
of a job. The process ends with its input, or after a minute without a request.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.device_calls.kernel_store import environment
from minitorch_compile.inductor.device_calls.launcher import HEADER
from minitorch_compile.inductor.runtime.worker_answers import serve_over_pipes


class PtxJob(NamedTuple):
    """A kernel: the text of its function, its name, the kinds of its parameters, the GPU's capability, the threads of a
    block, and how many blocks a multiprocessor is to have room for."""

    text: str
    name: str
    parameters: tuple[str, ...]
    capability: tuple[int, int]
    threads: int
    together: int


def ptx_of_job(job: PtxJob) -> bytes:
    """What Numba makes of it."""
    from minitorch_compile.inductor.device_calls.numba_launcher import bounded, ptx_of

    function = function_from_source(HEADER.format(threads=job.threads) + job.text, job.name, {})
    return bounded(ptx_of(function, job.parameters, job.capability), job.threads, job.together)


def without_gpu(capability: tuple[int, int]) -> None:
    """Tells Numba what it compiles the functions that kernels call for; it would ask a GPU, and take memory there."""
    from numba.cuda import dispatcher

    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)


def answer(request: list[Any]) -> str | None:
    text, name, parameters, capability, threads, together = request
    job = PtxJob(text, name, tuple(parameters), (capability[0], capability[1]), threads, together)
    try:
        without_gpu(job.capability)
        return ptx_of_job(job).decode()
    except Exception as error:  # noqa: BLE001  whatever it is, whoever asked meets it again
        print(f"{job.name}: {type(error).__name__}: {error}", file=sys.stderr)
        return None


if __name__ == "__main__":
    serve_over_pipes(environment(), answer)
