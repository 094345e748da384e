"""torch.cuda.profiler: starts and stops NVIDIA's profilers, which watch GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from minitorch_compile.cuda.runtime import required


def start() -> NoReturn:
    """AssertionError without a GPU to watch, NotImplementedError with one."""
    required()
    raise NotImplementedError("torch.cuda.profiler: can't start NVIDIA's profiler; torch.profiler tells the times")


def stop() -> NoReturn:
    """Likewise."""
    start()


@contextmanager
def profile() -> Iterator[None]:
    """Start and stop around a `with`: likewise."""
    start()
    yield
