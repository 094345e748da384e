"""Compiling the kernels of a graph for a GPU in several processes, as the CPU's are (`runtime/compile_pool.py`).

Numba takes half a second for a kernel, and a training step has dozens. Other processes make PTX (`ptx_worker.py`);
CUDA's driver makes machine code of it here, in the meantime. What a process doesn't deliver, for whatever reason, is
compiled here when it is wanted, as if nobody had been asked. This process waits for the others, so a single one would
be no gain.

>>> from minitorch_compile import config
>>> with config.patch(compile_threads=8):
...     helpers_for(3), helpers_for(5), helpers_for(12), helpers_for(100)
(0, 0, 4, 7)
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from minitorch_compile import logs
from minitorch_compile.environment_variables import COMPILE_THREADS
from minitorch_compile.inductor.device_calls.kernel_store import environment
from minitorch_compile.inductor.device_calls.ptx_worker import PtxJob
from minitorch_compile.inductor.runtime.compile_pool import wanted_threads
from minitorch_compile.own_process import start

FEWEST_JOBS = 3  # for each process: it takes two seconds to start, in which as many kernels are compiled
LONGEST = 120.0  # seconds after which a process that doesn't answer is given up
COMMAND = (sys.executable, "-m", "minitorch_compile.inductor.device_calls.ptx_worker")

log = logs.artifact("cache")

Deliver = Callable[[PtxJob, bytes], None]


def helpers_for(jobs: int) -> int:
    """How many other processes are worth their start for so many kernels."""
    count = min(wanted_threads() - 1, jobs // FEWEST_JOBS)
    return count if count > 1 else 0


class Worker:
    """One other process. `command`: what it is started by."""

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self.process = start(command, {COMPILE_THREADS.name: "1"}, pipe, pipe)
        self.is_heard_of = False
        self.last_heard = time.monotonic()

    def ptx(self, job: PtxJob) -> bytes | None:
        """OSError or ValueError if the process has ended, or is none of ours."""
        if not self.is_heard_of:
            if self.answer() != environment():
                raise ValueError("it compiles with other sources, or another version")
            self.is_heard_of = True
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        found = self.answer()
        return None if found is None else str(found).encode()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        found = json.loads(self.process.stdout.readline())  # ValueError at the end of the stream
        self.last_heard = time.monotonic()
        return found

    def end(self) -> None:
        self.process.kill()  # which no process ignores, as one does that was started by who ignores to be terminated
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # what it no longer reads
                    stream.close()


class PtxPool:
    """The processes, which stay for the next graph."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self.command = command
        self.workers: list[Worker] = []
        self.is_of_use = True  # whether all that were started have answered rightly
        self.turn = threading.Lock()  # two graphs at once would be given each other's kernels

    def provide(self, jobs: Sequence[PtxJob], deliver: Deliver) -> None:
        """Has kernels compiled, and delivers the PTX of each as it comes; of some perhaps not."""
        count = helpers_for(len(jobs))
        if not count:
            return
        with self.turn:
            self.start(count)
            left = deque(sorted(jobs, key=lambda job: -len(job.text)))  # the longest first
            asked = {
                worker: threading.Thread(target=self.work, args=(worker, left, deliver), daemon=True)
                for worker in self.workers
            }
            try:
                for thread in asked.values():
                    thread.start()
                for worker, thread in asked.items():
                    while thread.is_alive() and time.monotonic() - worker.last_heard < LONGEST:
                        thread.join(1.0)
                self.is_of_use = self.is_of_use and not any(thread.is_alive() for thread in asked.values())
            finally:
                left.clear()
                if any(thread.is_alive() for thread in asked.values()):  # it got no answer, or the user interrupts
                    log("processes that compile for the GPU were ended at their work")
                    self.close()

    def start(self, count: int) -> None:
        """Starts processes until there are so many, if they are of use."""
        for worker in [worker for worker in self.workers if worker.process.poll() is not None]:
            self.workers.remove(worker)
            worker.end()
        while self.is_of_use and len(self.workers) < count:
            try:
                worker = Worker(self.command)
            except OSError as error:  # as many as this user may have, or no interpreter to start
                log(f"no process can be started that compiles for the GPU: {error}")
                self.is_of_use = False
            else:
                self.workers.append(worker)

    def work(self, worker: Worker, left: deque[PtxJob], deliver: Deliver) -> None:
        """Hands kernels to a process while there are some."""
        worker.last_heard = time.monotonic()
        try:
            while left:
                job = left.popleft()
                ptx = worker.ptx(job)
                log(f"GPU kernel {job.name}: {'refused' if ptx is None else 'compiled'} by {worker.process.pid}")
                if ptx is not None:
                    delivered(job, ptx, deliver)
        except IndexError:  # another thread took the last one
            return
        except (OSError, ValueError) as error:
            log(f"a process that compiles for the GPU ended: {error}")
            if worker in self.workers:  # nobody here ended it
                self.is_of_use = self.is_of_use and worker.is_heard_of
                worker.end()

    def close(self) -> None:
        """Ends the processes."""
        ended, self.workers = self.workers, []
        for worker in ended:
            worker.end()

    def forget_processes(self) -> None:
        """In a forked process: the others work for the parent."""
        self.workers, self.turn = [], threading.Lock()


def delivered(job: PtxJob, ptx: bytes, deliver: Deliver) -> None:
    """Hands over what a process made. What goes wrong with it is raised when the kernel is wanted."""
    try:
        deliver(job, ptx)
    except Exception as error:  # noqa: BLE001  it is tried again by the thread that wants the kernel
        log(f"GPU kernel {job.name}: {type(error).__name__}: {error}")


POOL = PtxPool()
atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget_processes)
