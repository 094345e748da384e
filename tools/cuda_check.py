"""Compiles and runs a handful of fused groups on a CUDA device, checks them against NumPy, and times them against a
copy.

    python tools/cuda_check.py                         on the GPU, sizes that take a few milliseconds
    python tools/cuda_check.py --simulate              in our simulator, tiny sizes, to try out this script

A group that moves n bytes can't be faster than a copy of n bytes; the last column says how near it comes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numba.cuda
import numpy as np

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile.aot.tracing import trace
from minitorch_compile.cuda_simulator import cuda as simulated_cuda
from minitorch_compile.inductor.codegen.cuda.program import CudaProgram
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.prims import decompose
from minitorch_compile.tensor.tensor_base import fake_like

SIMULATED = "--simulate" in sys.argv
cuda: Any = simulated_cuda if SIMULATED else numba.cuda
REPEAT = 2 if SIMULATED else 20


def pointwise(x: Any, y: Any) -> Any:
    return torch.sin(x) * torch.exp(y) + torch.tanh(x * y)


def softmax(x: Any) -> Any:
    return torch.softmax(x, -1)


def layer_norm_gelu(x: Any) -> Any:
    return F.gelu(F.layer_norm(x, (x.shape[-1],)))


def row_sum(x: Any) -> Any:
    return (x * x).sum(1)


def column_sum(x: Any) -> Any:
    return x.sum(0)


def where_and_compare(x: Any, y: Any) -> Any:
    return torch.where(x > y, x * 2 + 1, torch.floor(y) - 0.5)


def cases() -> list[tuple[str, Callable[..., Any], list[Any]]]:
    rows, columns = (6, 20) if SIMULATED else (65536, 4096)
    torch.manual_seed(0)
    x, y = torch.randn(rows, columns), torch.randn(rows, columns)
    return [
        ("pointwise", pointwise, [x, y]),
        ("where", where_and_compare, [x, y]),
        ("softmax", softmax, [x]),
        ("layernorm+gelu", layer_norm_gelu, [x]),
        ("row sum", row_sum, [x]),
        ("column sum", column_sum, [x]),
    ]


def compiled(function: Callable[..., Any], inputs: list[Any]) -> CudaProgram:
    """The function as kernels: traced, written in prims, lowered, fused."""
    traced = trace(lambda *args: (function(*args),), [fake_like(x) for x in inputs])
    return CudaProgram(schedule(lower(decompose(traced))), SIMULATED)


def seconds(action: Callable[[], Any]) -> float:
    """The median time of an action on the device, after one run to warm up."""
    times = []
    for _ in range(REPEAT + 1):
        start = time.perf_counter()
        action()
        cuda.synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def copy_seconds(nbytes: int) -> float:
    """The time to copy half of these bytes, which reads and writes all of them."""
    source = cuda.to_device(np.zeros(max(nbytes // 8, 1), np.float32))
    target = cuda.device_array_like(source)
    return seconds(lambda: target.copy_to_device(source))


def check(name: str, function: Callable[..., Any], inputs: list[Any]) -> bool:
    """Runs one case and prints its row; whether the result is right."""
    program = compiled(function, inputs)
    start = time.perf_counter()
    memory = program.upload([x.storage.buffer for x in inputs])
    program.run(memory)
    cuda.synchronize()
    first = time.perf_counter() - start
    (result,) = program.download(memory)
    reference = function(*inputs).array
    error = float(np.max(np.abs(result - reference) / np.maximum(np.abs(reference), 1.0)))
    run = seconds(lambda: program.run(memory))
    moved = program.schedule.bytes_moved
    copy = copy_seconds(moved)
    right = error < 1e-4
    print(
        f"{name:16} {len(program.steps):8} {error:10.1e} {first:10.2f} {run * 1e3:9.3f} {moved / run / 1e12:9.3f}"
        f" {copy / run:8.2f}  {'ok' if right else 'WRONG'}"
    )
    return right


def device_name() -> str:
    """The GPU's name; bytes in Numba's own CUDA package, text in numba-cuda."""
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def main() -> int:
    if not SIMULATED and not cuda.is_available():
        print("no CUDA device found; --simulate tries this script out in the simulator")
        return 1
    place = "the simulator" if SIMULATED else device_name()
    print(f"on {place}, numba.cuda from {cuda.__file__}")
    print(f"{'group':16} {'kernels':>8} {'error':>10} {'first s':>10} {'ms':>9} {'TB/s':>9} {'of copy':>8}")
    results = [check(*case) for case in cases()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
