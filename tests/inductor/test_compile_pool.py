"""Kernels that other processes compile: found on disk, refused if they are not the same, done without if need be."""

import os
import signal
import time
from itertools import count

import pytest

from minitorch_compile import config
from minitorch_compile.inductor.runtime import code_cache, compile_pool, compile_worker, kernel_function
from minitorch_compile.inductor.runtime.compile_pool import CompilePool, Worker, helpers_for, wanted_threads

numbers = count(time.time_ns())  # no kernel of an earlier run may be on disk


def large_graph(kernels=6):
    """A generated file with kernels that nobody has compiled, and these kernels."""
    names = [f"pool_test_{next(numbers)}" for _ in range(kernels)]
    text = (
        "from numba.types import float64\nfrom minitorch_compile.inductor.runtime.kernel_function import kernel\n\n\n"
    )
    for name in names:
        number = name.rpartition("_")[2]
        text += (
            f'@kernel("{name}", float64, float64)\ndef {name}(lo, hi, x, out):\n'
            f"    for i in range(lo, hi):\n        out[i] = x[i] + {number}.0\n\n\n"
        )
    module = run(text, names[0])
    return text + "call = NativeCall(\n    steps=[],\n)\n", [vars(module)[name] for name in names]


def run(text, name):
    return code_cache.run_module(text, code_cache.cache_folder() / f"{name}.py", f"minitorch_compile_generated_{name}")


class TakingTurns(CompilePool):
    """Whichever process is slower on a busy machine: no other one takes a second kernel before its first."""

    def __init__(self):
        super().__init__()
        self.taken = {"here": 0, "there": 0}

    def take(self):
        return self.in_turn("here", "there", super().take)

    def wait_for_job(self):
        return self.in_turn("there", "here", super().wait_for_job)

    def in_turn(self, one, other, take):
        with self.changed:
            self.changed.wait_for(lambda: self.taken[other] or not self.taken[one])
            job = take()
            self.taken[one] += job is not None
            self.changed.notify_all()
            return job


@pytest.fixture(scope="module")
def pool():
    """A pool with one process that takes kernels."""
    pool = TakingTurns()
    pool.workers.append(Worker(pool))
    yield pool
    processes = [worker.process for worker in pool.workers]
    pool.close()
    assert all(process.poll() is not None for process in processes)


def wait_until(holds):
    deadline = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def two_processes():
    with config.patch(compile_threads=2):
        yield


def test_kernels_come_from_both_processes(pool):
    source, kernels = large_graph(12)
    pool.provide(source, kernels)
    assert not any(kernel.is_missing() for kernel in kernels)
    here = sum("compiled" in vars(kernel) for kernel in kernels)
    assert 0 < here < 12 and sum(kernel.was_kept for kernel in kernels) == 12 - here


def test_what_is_on_disk_is_compiled_by_nobody(pool):
    source, kernels = large_graph()
    pool.provide(source, kernels)
    again = [kernel_function.NativeFunction(k.name, k.signature, k.python) for k in kernels]
    pool.provide(source, again)
    assert all(kernel.was_kept for kernel in again)


def test_a_function_that_the_other_process_sees_differently_is_refused():
    _, (function,) = large_graph(1)
    assert not compile_worker.compiled_here(function.name, "another key") and function.is_missing()
    assert not compile_worker.compiled_here("no such kernel", str(function.key))
    assert compile_worker.compiled_here(function.name, str(function.key)) and not function.is_missing()


def test_an_error_in_a_kernel_is_raised_here_and_nobody_waits_for_the_rest(pool):
    source, kernels = large_graph(3)
    name = f"pool_test_{next(numbers)}"
    definition = f'@kernel("{name}", float64)\ndef {name}(lo, hi, x):\n    x[lo] = undefined_name\n'
    wrong = run(source.partition("@kernel")[0] + definition, name)
    with pytest.raises(Exception, match="undefined_name"):
        pool.provide(source, [vars(wrong)[name], *kernels])
        assert vars(wrong)[name].address
    assert not pool.jobs and pool.unfinished == 0


def test_without_the_other_process_the_kernels_are_compiled_here():
    pool = CompilePool()
    pool.workers.append(worker := Worker(pool))
    os.kill(worker.process.pid, signal.SIGKILL)
    source, kernels = large_graph()
    pool.provide(source, kernels)
    assert all(kernel.address for kernel in kernels) and not pool.jobs and pool.unfinished == 0
    wait_until(lambda: not pool.workers)
    assert not pool.is_of_use  # it was never heard of, so no other one is started
    pool.provide(*large_graph(100))
    assert not pool.workers


def test_small_graphs_start_no_process():
    pool = CompilePool()
    source, kernels = large_graph(3)
    pool.provide(source, kernels)
    assert not pool.workers and all(kernel.is_missing() for kernel in kernels)


def test_how_many_processes_work_on_a_graph(monkeypatch):
    assert [helpers_for(seconds) for seconds in (0.5, 1.9, 2.0, 100.0)] == [0, 0, 1, 1]
    with config.patch(compile_threads=1):
        assert helpers_for(100.0) == 0
    with config.patch(compile_threads=None):
        monkeypatch.setenv("MTC_COMPILE_THREADS", "5")
        assert wanted_threads() == 5
        monkeypatch.delenv("MTC_COMPILE_THREADS")
        assert 1 <= wanted_threads() <= compile_pool.MOST_PROCESSES
