"""Machine code for a GPU is kept on disk: a second process compiles nothing, and trusts nothing that was damaged."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from minitorch_compile import config
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.launch_loop import LaunchSizes
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.device_calls import kernel_store, numba_launcher, ptx_worker
from minitorch_compile.inductor.device_calls.launcher import SIZE, STATUS
from minitorch_compile.inductor.device_calls.numba_launcher import NumbaLauncher
from minitorch_compile.inductor.device_calls.ptx_pool import PtxPool
from minitorch_compile.inductor.device_calls.ptx_worker import PtxJob

TEXT = "def kernel(x, n): ..."


class Driver(FakeDriver):
    """Notes what it is asked to make, to load and to launch; `handles` are the names of kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[bytes] = []
        self.loaded: list[tuple[int, bytes, bytes]] = []

    def machine_code(self, device: int, ptx: bytes) -> bytes:
        self.made.append(ptx)
        return b"cubin of " + ptx

    def load_kernel(self, device: int, image: bytes, entry: bytes) -> bytes:
        self.loaded.append((device, image, entry))
        return entry

    def prepared_launch(self, device: int, kernel: bytes, sizes: LaunchSizes, arguments: int) -> Callable[[int], None]:
        assert (device, kernel, sizes) == (0, b"_Zkernel", (2, 256, 0))
        return lambda stream: None


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, and a compiler that makes no PTX."""
    monkeypatch.setattr(kernel_store, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(numba_launcher, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(ptx_worker, "function_from_source", lambda text, name, values: name)
    monkeypatch.setattr(numba_launcher, "ptx_of", lambda *arguments: b".visible .entry _Zkernel(")
    yield tmp_path


def compiled(driver: Any, text: str = TEXT) -> Any:
    return NumbaLauncher(driver).compile(text, "kernel", ["float32", SIZE])


def test_a_second_process_compiles_nothing(folder: Path) -> None:
    first, second = Driver(), Driver()
    compiled(first)
    compiled(second)(2, [(4, np.dtype(np.float32))], [4])([4096], StreamHandle(0))
    assert len(first.made) == 1 and not second.made
    assert second.loaded == [(0, b"cubin of .visible .entry _Zkernel(", b"_Zkernel")]
    assert len(list(folder.glob("*/mtc_*.cubin"))) == 1


def test_another_text_is_another_entry(folder: Path) -> None:
    driver = Driver()
    compiled(driver)
    compiled(driver, TEXT + " ")
    assert len(driver.made) == 2 == len(list(folder.glob("*/mtc_*.cubin")))


@pytest.mark.parametrize("damage", [b"", b"more"])
def test_a_damaged_entry_is_made_again(folder: Path, damage: bytes) -> None:
    driver = Driver()
    compiled(driver)
    (path,) = folder.glob("*/mtc_*.cubin")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + damage)
    compiled(driver)
    assert len(driver.made) == 2 and path.read_bytes() == whole


def test_another_gpu_or_another_compiler_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def key(capability: tuple[int, int] = (9, 0), parameters: tuple[str, ...] = ("float32",), together: int = 0) -> str:
        return kernel_store.key_of(TEXT, parameters, capability, 256, together)

    keys = {key(), key((8, 0)), key(parameters=("float64",)), key(parameters=("float32", STATUS)), key(together=2)}
    monkeypatch.setattr(kernel_store, "environment", lambda: "another version")
    assert len(keys | {key()}) == 6


def test_a_kernel_may_be_given_more_shared_memory_than_a_text_can_ask_for() -> None:
    seen = []

    class Giving(Driver):
        def allow_shared_memory(self, kernel: bytes, nbytes: int) -> None:
            seen.append((kernel, nbytes))

        def prepared_launch(
            self, device: int, kernel: bytes, sizes: LaunchSizes, arguments: int
        ) -> Callable[[int], None]:
            return lambda stream: seen.append((kernel, sizes.shared))

    kernel = NumbaLauncher(Giving()).compile(TEXT, "kernel", ["float32", SIZE], BlockShape(shared=65536))
    launch = kernel(1, [(4, np.dtype(np.float32))], [4])
    launch([4096], StreamHandle(0))
    launch([4096], StreamHandle(0))
    assert seen == [(b"_Zkernel", 65536)] * 3


def test_a_launch_has_its_arguments_where_the_driver_reads_them() -> None:
    import ctypes

    seen = []

    class Reading(Driver):
        def prepared_launch(
            self, device: int, kernel: bytes, sizes: LaunchSizes, arguments: int
        ) -> Callable[[int], None]:
            def read(stream: int) -> None:
                table = (ctypes.c_void_p * 4).from_address(arguments)
                kinds = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int64, ctypes.c_float)
                seen.append([kind.from_address(place).value for kind, place in zip(kinds, table)])

            return read

    kernel = NumbaLauncher(Reading()).compile(TEXT, "kernel", ["float32", "float32", SIZE, "=float32"])
    launch = kernel(1, [(4, np.dtype(np.float32))] * 2, [4, 0.5])
    launch([4096, 8192], StreamHandle(0))
    launch([512, 1024], StreamHandle(0))
    assert seen == [[4096, 8192, 4, 0.5], [512, 1024, 4, 0.5]]


# Processes that stand for those with Numba: one that says what it is told, and answers so many requests.
WORKER = """
import sys
print({hello!r}, flush=True)
for number, line in zip(range({answers}), sys.stdin):
    print({ptx!r} if "refused" not in line else "null", flush=True)
"""


def worker(answers: int, hello: str = "") -> tuple[str, ...]:
    ptx, own = json.dumps(".visible .entry _Zkernel("), json.dumps(kernel_store.environment())
    return sys.executable, "-c", WORKER.format(hello=hello or own, answers=answers, ptx=ptx)


@pytest.mark.parametrize(
    ("command", "delivered"),
    [(worker(99), 7), (worker(2), 3), (worker(99, hello='"other"'), 0), ((sys.executable, "-c", ""), 0)],
)
def test_other_processes_compile_what_is_not_on_disk(
    command: tuple[str, ...], delivered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = PtxPool(command)
    monkeypatch.setattr(numba_launcher, "POOL", pool)
    driver = Driver()
    texts = [TEXT, *(f"{TEXT}  # {n}" for n in range(7)), f"{TEXT}  # refused"]
    compiled(driver)
    with config.patch(compile_threads=3):
        requests = [(text, "kernel", ["float32", SIZE], BlockShape()) for text in texts]
        NumbaLauncher(driver).compile_ahead(requests)
    assert len(driver.made) == 1 + delivered  # the first was on disk; one is refused, which is compiled here
    for text in texts:
        compiled(driver, text)
    assert len(driver.made) == len(texts) and pool.is_of_use == (delivered > 0)
    pool.close()


def jobs() -> list[PtxJob]:
    return [PtxJob(f"kernel {n}", "kernel", (), (9, 0), 256, 0) for n in range(20)]


# Answers each request with what it is asked for, after a moment.
ECHO = """
import json, sys, time
print({own!r}, flush=True)
for line in sys.stdin:
    time.sleep(0.005)
    print(json.dumps(json.loads(line)[0]), flush=True)
"""


def echo() -> PtxPool:
    return PtxPool((sys.executable, "-c", ECHO.format(own=json.dumps(kernel_store.environment()))))


def test_graphs_compiled_by_two_threads_get_their_own_kernels() -> None:
    pool, found = echo(), list[tuple[str, bytes]]()
    with config.patch(compile_threads=3):
        provide = partial(pool.provide, jobs(), lambda job, ptx: found.append((job.text, ptx)))
        threads = [Thread(target=provide) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert pool.is_of_use and len(found) == 40 and all(text.encode() == ptx for text, ptx in found)
    pool.close()


def test_who_interrupts_ends_the_processes_that_are_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(thread: Thread, seconds: float) -> None:
        raise KeyboardInterrupt

    pool = echo()
    with config.patch(compile_threads=3):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Thread, "join", interrupted)
            pool.provide(jobs(), lambda job, ptx: None)
        assert not pool.workers and pool.is_of_use


def test_what_cannot_be_started_or_delivered_is_compiled_here() -> None:
    def refused(job: PtxJob, ptx: bytes) -> None:
        raise RuntimeError("the driver refuses it")

    with config.patch(compile_threads=3):
        pool = PtxPool(("/nowhere/python",))
        pool.provide(jobs(), refused)
        assert not pool.is_of_use
        pool = echo()
        pool.provide(jobs(), refused)
        assert pool.is_of_use and len(pool.workers) == 2
    pool.close()
