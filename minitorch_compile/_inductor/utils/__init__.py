"""`torch._inductor.utils`: the code that was generated, an empty cache, and questions about the machine.

>>> import minitorch_compile as torch
>>> result, (source,) = run_and_get_code(torch.compile(lambda x: x.sin() + 1), torch.zeros(3))
>>> result, "def call" in source or "call = " in source
(tensor([1., 1., 1.]), True)
>>> is_big_gpu()
False
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from minitorch_compile import logs
from minitorch_compile.compiler.reset import forget_generated_files, reset
from minitorch_compile.environment_variables import CACHE_DIR
from minitorch_compile.tensor import manual_seed
from minitorch_compile.tensor.cpu.thread_count import get_num_threads

clear_caches = clear_inductor_caches = forget_generated_files


@contextlib.contextmanager
def fresh_cache(
    cache_entries: dict[str, int] | None = None, dir: str | None = None, delete: bool = True
) -> Iterator[None]:
    """Inside, kernels are kept in a new folder, so all are compiled; then it is removed, unless `delete` is False.

    cache_entries: an empty dict, which gets the files of the folder with their bytes. dir: where the folder is made.
    """
    clear_caches()
    folder = tempfile.mkdtemp(dir=dir)
    before = os.environ.get(CACHE_DIR.name)
    os.environ[CACHE_DIR.name] = folder
    try:
        yield
        if cache_entries is not None:
            files = (path for path in Path(folder).rglob("*") if path.is_file())
            cache_entries.update({path.name: path.stat().st_size for path in files})
    finally:
        if before is None:
            del os.environ[CACHE_DIR.name]
        else:
            os.environ[CACHE_DIR.name] = before
        clear_caches()
        if delete:
            shutil.rmtree(folder, ignore_errors=True)


fresh_inductor_cache = fresh_cache


def run_and_get_code(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
    """What the call gives, and the generated files that were compiled on its way; all is compiled anew."""
    reset()
    with logs.capture("output_code") as records:
        result = fn(*args, **kwargs)
    return result, list(dict.fromkeys(record.text for record in records))


def run_fw_bw_and_get_code(fn: Callable[[], Any]) -> tuple[Any, list[str]]:
    """The same, with the backward pass of the sum of what is given."""

    def both() -> Any:
        result = fn()
        result.sum().backward()
        return result

    return run_and_get_code(both)


def get_code(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> list[str]:
    """The generated files alone."""
    return run_and_get_code(fn, *args, **kwargs)[1]


def timed(model: Callable[..., Any], example_inputs: Sequence[Any], times: int = 1, device: str = "cuda") -> float:
    """The seconds that so many calls take, with random numbers from one place."""
    manual_seed(1337)
    started = time.perf_counter()
    for _ in range(times):
        model(*example_inputs)
    return time.perf_counter() - started


def print_performance(
    model: Callable[..., Any],
    example_inputs: Sequence[Any] = (),
    times: int = 10,
    repeat: int = 10,
    baseline: float = 1.0,
    device: str = "cuda",
) -> float:
    """Prints and gives the seconds of a call, over `baseline`: the median of `repeat` rounds of `times` calls."""
    rounds = sorted(timed(model, example_inputs, times) / times for _ in range(repeat))
    took = rounds[len(rounds) // 2]
    print(f"{took / baseline:.6f}")
    return took


def is_big_gpu(index_or_device: Any = 0) -> bool:
    """Whether there is a GPU with many processors; there is none."""
    return False


def get_gpu_type() -> str:
    """The kind of GPU that tests run on where there is one."""
    return "cuda"


def is_gpu(device: str | None) -> bool:
    """Whether the word is that of a kind of GPU."""
    return device in ("cuda", "xpu", "mps", "mtia")


def is_cpu_device(inputs: Sequence[Any]) -> bool:
    """Whether all tensors among the inputs are on the CPU."""
    return all(x.device.type == "cpu" for x in inputs if hasattr(x, "device"))


def parallel_num_threads() -> int:
    """How many threads kernels use."""
    return get_num_threads()


def ceildiv(number: int, denom: int) -> int:
    """The quotient, rounded up.

    >>> ceildiv(7, 2)
    4
    """
    return -(number // -denom)
