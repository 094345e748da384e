"""The process of one library, as the one who asks sees it: which Python, in which environment, and its answers.

>>> variables(threads=2, cache=Path("caches"), avx2=True)["NUMBA_CPU_NAME"]
'znver3'
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS, THEIRS = "minitorch_compile", "torch"
LIBRARIES = (OURS, THEIRS)

# What holds each part of both libraries to vectors of 32 bytes; PyTorch's compiler is told so by the worker.
ONLY_AVX2 = {
    "NUMBA_CPU_NAME": "znver3",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Haswell",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
}


@dataclass(frozen=True)
class Settings:
    """How to measure, and where. `folder` keeps the caches from run to run, so first calls are not cold then."""

    theirs: str
    threads: Sequence[int] = (1,)
    rounds: int = 9
    seconds: float = 0.02
    clock: str = "wall"
    folder: str = ""
    memory: bool = True
    warm: bool = False
    device: str = "cpu"
    avx2: bool = False

    @property
    def most_threads(self) -> int:
        return max(self.threads)


class Worker:
    """A process that has a row of one library. ChildProcessError, with what it said last, if it ends.

    Its first answer is that it is ready.
    """

    def __init__(self, library: str, row: str, settings: Settings, cache: Path) -> None:
        self.library = library
        python = settings.theirs if library == THEIRS else sys.executable
        isa = "avx2" if settings.avx2 else "all"
        command = [python, "-m", "benchmarks.peers.worker", library, row, settings.device, isa]
        environment = {**os.environ, **variables(settings.most_threads, cache, settings.avx2)}
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (open as long as the process runs)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self.errors, encoding="utf-8", env=environment
        )

    def ask(self, *request: Any) -> Any:
        self.send(*request)
        return self.answer()

    def send(self, *request: Any) -> None:
        """A request whose answer is read later."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.errors.seek(0)
            last = (self.errors.read().strip().splitlines() or [""])[-1]
            raise ChildProcessError(f"{self.library} ended with status {status}: {last}")
        return json.loads(line)

    def close(self) -> None:
        self.process.communicate()
        self.errors.close()


Requests = Mapping[str, Sequence[Any]]


def same(*request: Any) -> Requests:
    """This request to each library."""
    return dict.fromkeys(LIBRARIES, request)


class Pair:
    """A process of each library, with the same row open."""

    def __init__(self, row: str, settings: Settings, cache: Path) -> None:
        self.workers = {library: Worker(library, row, settings, cache) for library in LIBRARIES}
        for worker in self.workers.values():  # both begin at the same time
            worker.answer()

    def ask(self, library: str, *request: Any) -> Any:
        return self.workers[library].ask(*request)

    def ask_in_turn(self, requests: Requests) -> dict[str, Any]:
        """Each library's answer, one after the other: what is timed disturbs nobody, and is disturbed by nobody."""
        return {library: self.ask(library, *request) for library, request in requests.items()}

    def ask_together(self, requests: Requests) -> dict[str, Any]:
        """Each library's answer; both work at the same time, which is for what isn't timed."""
        for library, request in requests.items():
            self.workers[library].send(*request)
        return {library: self.workers[library].answer() for library in requests}

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def variables(threads: int, cache: Path, avx2: bool) -> dict[str, str]:
    """The environment in which a library has up to this many threads and this cache folder."""
    counts = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    caches = {"MTC_CACHE_DIR": str(cache / OURS), "TORCHINDUCTOR_CACHE_DIR": str(cache / THEIRS)}
    quiet = {"MTC_EAGER_KERNELS": "on_disk"}  # they are written beforehand, and never while something is timed
    return {**counts, **caches, **quiet, **(ONLY_AVX2 if avx2 else {})}
