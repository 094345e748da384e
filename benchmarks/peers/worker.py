"""A process that runs one row on one library, whenever it is asked to.

    python -m benchmarks.peers.worker minitorch_compile "softmax small" cpu all      reads requests, one JSON a line

Two libraries in one process would slow each other down, since the threads of each wait for work by spinning. A request
is `[name, argument, ...]`, the name that of a method of `Server`; the answer is one JSON line.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import versions
from benchmarks.peers.row import ROWS, Step
from benchmarks.timing import seconds_of

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


class Server:
    """The steps of one row at a time, made when first asked for, on a device."""

    def __init__(self, library: str, row: str, device: str, isa: str) -> None:
        self.library, self.torch = library, import_torch(library)
        self.device = device
        if isa == "avx2" and library == "torch":
            importlib.import_module("torch._inductor.config").cpp.simdlen = 256  # no variable says so
        self.row = ROWS[row]
        self.steps: dict[str, Step] = {}

    def open(self, row: str, threads: int) -> None:
        """Another row, or another number of threads."""
        self.torch.set_num_threads(threads)
        self.row = ROWS[row]
        self.drop()

    def drop(self) -> None:
        """Forgets the steps, and what they have held."""
        self.steps = {}
        self.torch.compiler.reset()
        gc.collect()

    def prepare(self) -> None:
        """Lets a library make what it makes once a machine: by compiling something small; ours writes eager kernels."""
        self.torch.compile(lambda x: (x * 2).sum())(self.torch.ones(8, requires_grad=True)).backward()
        if self.library != "torch":
            importlib.import_module("minitorch_compile.inductor.library_writer.write_library").write_library()

    def versions(self) -> dict[str, str]:
        """What the figures of this library depend on; `processor` is what it writes machine code for."""
        if self.library == "torch":
            processor = self.torch.backends.cpu.get_cpu_capability()
        else:
            processor = str(importlib.import_module("minitorch_compile.inductor.machine").current())
        return {"version": str(self.torch.__version__), **versions.of_parts(), "processor": processor}

    def wait(self) -> None:
        """Until the device has done all that it was given."""
        if self.device != "cpu":
            self.torch.cuda.synchronize()

    def first(self, way: str, file: str) -> float:
        """Seconds of the first call, "eager" or "compiled"; its results go into a file."""
        with nullcontext() if self.device == "cpu" else self.torch.device(self.device):
            step = self.row.step(self.torch, self.torch.compile if way == "compiled" else lambda function: function)
        self.wait()
        start = time.perf_counter()
        result = step()
        self.wait()
        seconds = time.perf_counter() - start
        self.steps[way] = step
        np.savez(file, *map(array_of, flatten(result)))
        return seconds

    def time(self, way: str, calls: int, clock: str) -> float:
        """Seconds a call, after one that isn't counted."""
        step, now = self.steps[way], CLOCKS[clock]
        step()
        self.wait()
        start = now()
        for _ in range(calls):
            step()
        self.wait()
        return (now() - start) / calls

    def estimate(self, way: str) -> float:
        """Seconds of a call, roughly; the calls before it let a compiler finish what it left for later."""
        for _ in range(3):
            self.steps[way]()
        self.wait()

        def call() -> None:
            self.steps[way]()
            self.wait()

        return seconds_of(call, 1)

    def peak(self, way: str) -> int:
        """Bytes resident at most while stepping, above those of a process that has loaded everything."""
        self.drop()
        give_back_memory()
        baseline = resident("VmRSS")
        step = self.row.step(self.torch, self.torch.compile if way == "compiled" else lambda function: function)
        for _ in range(3):
            step()
        gc.collect()
        give_back_memory()  # what compiling left behind isn't the program's
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak counts from now on
        for _ in range(3):
            step()
        return resident("VmHWM") - baseline


def import_torch(library: str) -> Any:
    """The library under the name torch, and the rows."""
    if library != "torch":
        from minitorch_compile import as_torch

        as_torch.install()
    from benchmarks.peers import programs

    programs.enter_all()
    return importlib.import_module("torch")


def flatten(value: Any) -> list[Any]:
    return [tensor for item in value for tensor in flatten(item)] if isinstance(value, (list, tuple)) else [value]


def array_of(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def give_back_memory() -> None:
    """Freed memory goes back to the system, or it would be resident still."""
    ctypes.CDLL(None).malloc_trim(0)


def resident(field: str) -> int:
    """A figure of /proc/self/status, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def serve(library: str, row: str, device: str, isa: str) -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # a library may print
    server = Server(library, row, device, isa)
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(getattr(server, name)(*arguments)), file=answers, flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
