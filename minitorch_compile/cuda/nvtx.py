"""torch.cuda.nvtx: marks for NVIDIA's profilers, which watch GPUs.

>>> range_push("forward")
Traceback (most recent call last):
RuntimeError: NVTX functions not installed: there is no GPU to profile here; ask torch.cuda.is_available() first
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


def _refuse() -> NoReturn:
    raise RuntimeError(
        "NVTX functions not installed: there is no GPU to profile here; ask torch.cuda.is_available() first"
    )


def range_push(msg: str) -> NoReturn:
    """RuntimeError, PyTorch's for a build without CUDA; so are the others."""
    _refuse()


def range_pop() -> NoReturn:
    """RuntimeError."""
    _refuse()


def range_start(msg: str) -> NoReturn:
    """RuntimeError."""
    _refuse()


def range_end(range_id: int) -> NoReturn:
    """RuntimeError."""
    _refuse()


def mark(msg: str) -> NoReturn:
    """RuntimeError."""
    _refuse()


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """RuntimeError on entering."""
    _refuse()
    yield
