"""Compiling the kernels of a graph in several processes, where that pays.

Numba compiles under the interpreter's lock and one of its own, so threads don't help. Other processes do
(`compile_worker`): each takes kernels from one list and leaves machine code on disk; this process works on the same
list meanwhile, and loads what they have made. A process takes a second to start, so small graphs start none; once
started, it waits for the next graph, ends after a minute without one, and with this process at the latest. Whatever
goes wrong there (killed, damaged, another machine's settings), this process compiles the kernel itself.

`config.compile_threads` says how many processes work on a graph, this one included. None, the default, stands for
`MTC_COMPILE_THREADS` in the environment, else for the processors that this process may use.

>>> with config.patch(compile_threads=3):
...     helpers_for(seconds=1.0), helpers_for(seconds=3.0), helpers_for(seconds=20.0)
(0, 2, 2)
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile import config, logs
from minitorch_compile.environment_variables import CACHE_DIR, COMPILE_THREADS
from minitorch_compile.inductor.machine import current
from minitorch_compile.inductor.runtime import object_store
from minitorch_compile.inductor.runtime.kernel_function import NativeFunction
from minitorch_compile.own_process import start_module
from minitorch_compile.users_cache import NOWHERE, cache_folder

MOST_PROCESSES = 8  # more would mostly wait for the largest kernel
WORTH_A_PROCESS = 1.0  # seconds of compilation for each; starting one takes about a second of another processor
LONGEST_KERNEL = 120.0  # seconds after which a process that doesn't answer is given up

log = logs.artifact("cache")


def wanted_threads() -> int:
    """How many processes may compile at once."""
    if config.compile_threads is not None:
        return max(config.compile_threads, 1)
    return COMPILE_THREADS.value() or min(current().cores, MOST_PROCESSES)


def helpers_for(seconds: float) -> int:
    """How many other processes are worth their start for so much work."""
    return max(0, min(wanted_threads() - 1, int(seconds / WORTH_A_PROCESS) - 1))


def estimated_seconds(function: NativeFunction) -> float:
    """About how long a function takes to compile: those of the package inline much, generated ones little."""
    is_generated = function.python.__module__.startswith("minitorch_compile_generated")
    return 0.05 + 2e-4 * len(function.python.__code__.co_code) if is_generated else 0.7


class Worker:
    """One other process, and a thread that hands it kernels."""

    def __init__(self, pool: CompilePool) -> None:
        self.pool = pool
        self.has_read = ""
        self.process = start_module(
            "minitorch_compile.inductor.runtime.compile_worker",
            {CACHE_DIR.name: str(cache_folder()), COMPILE_THREADS.name: "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        threading.Thread(target=self.work, name="minitorch_compile worker", daemon=True).start()

    def work(self) -> None:
        """Takes kernels until the process ends."""
        self.pool.is_of_use = False  # until the process was heard of
        try:
            if self.answer() == object_store.environment():
                self.pool.is_of_use = True
                while True:
                    job = self.pool.wait_for_job()
                    self.pool.finish(job, lambda job=job: self.compile(*job))  # type: ignore[misc]
        except (OSError, ValueError) as error:  # it was ended, or writes what is no answer
            log(f"a process that compiles ended: {error}")
        self.pool.forget(self)

    def compile(self, source: str, function: NativeFunction) -> None:
        if self.has_read != source:
            self.ask("read", source)
            self.has_read = source
        done = self.ask("compile", function.name, str(function.key))
        log(f"kernel {function.key}: {'compiled' if done else 'refused'} by process {self.process.pid}")

    def ask(self, *request: str) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())  # ValueError at the end of the stream

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


Job = tuple[str, NativeFunction]  # a generated file, and one of the functions that it defines


class CompilePool:
    """The list of kernels to compile, and the processes that take from it."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.jobs: deque[Job] = deque()
        self.unfinished = 0  # jobs that some process works on
        self.workers: list[Worker] = []
        self.is_of_use = True  # whether a process that was started has answered rightly

    def provide(self, source: str, functions: Sequence[NativeFunction]) -> None:
        """Gives every function its machine code; `source` is the generated file that defines them."""
        missing = [function for function in dict.fromkeys(functions) if function.is_missing()]
        missing.sort(key=estimated_seconds, reverse=True)
        helpers = helpers_for(sum(map(estimated_seconds, missing))) if missing else 0
        if self.workers and len(missing) > 1 and wanted_threads() > 1:
            helpers = max(helpers, 1)
        if not helpers or cache_folder() == NOWHERE:  # what others compile is handed over on disk
            return
        while len(self.workers) < helpers and (self.workers or self.is_of_use):
            try:
                self.workers.append(Worker(self))
            except OSError as error:  # as many as this user may have, or no interpreter to start
                log(f"no process can be started that compiles: {error}")
                self.is_of_use = False
                break
        if not self.workers:
            return
        with self.changed:
            self.jobs.extend((source, function) for function in missing)
            self.changed.notify_all()
        try:
            while (job := self.take()) is not None:
                self.finish(job, lambda job=job: job[1].address)  # type: ignore[misc]
        finally:
            with self.changed:
                self.jobs.clear()
                finished = self.changed.wait_for(lambda: self.unfinished == 0, LONGEST_KERNEL)
            if not finished:
                self.close()

    def take(self) -> Job | None:
        with self.changed:
            self.unfinished += bool(self.jobs)
            return self.jobs.popleft() if self.jobs else None

    def wait_for_job(self) -> Job:
        """The next job, once there is one."""
        with self.changed:
            self.changed.wait_for(lambda: self.jobs)
            self.unfinished += 1
            return self.jobs.popleft()

    def finish(self, job: Job, action: Callable[[], Any]) -> None:
        """Does what a job needs; whatever comes of it, nobody waits for the job any more."""
        try:
            action()
        finally:
            with self.changed:
                self.unfinished -= 1
                self.changed.notify_all()

    def forget(self, worker: Worker) -> None:
        worker.end()
        with self.changed:
            if worker in self.workers:
                self.workers.remove(worker)

    def close(self) -> None:
        """Ends the processes."""
        for worker in list(self.workers):
            self.forget(worker)

    def forget_processes(self) -> None:
        """In a forked process: the others work for the parent."""
        self.changed, self.workers, self.unfinished = threading.Condition(), [], 0
        self.jobs.clear()


POOL = CompilePool()
atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget_processes)
