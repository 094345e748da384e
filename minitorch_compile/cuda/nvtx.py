"""torch.cuda.nvtx: marks for NVIDIA's profilers, which watch GPUs.

>>> range_push("forward")
Traceback (most recent call last):
RuntimeError: NVTX functions not installed: there is no GPU to profile here; ask torch.cuda.is_available() first
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """RuntimeError, PyTorch's for a build without CUDA."""
    raise RuntimeError(
        "NVTX functions not installed: there is no GPU to profile here; ask torch.cuda.is_available() first"
    )


range_push = range_pop = range_start = range_end = mark = _refuse


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """RuntimeError on entering."""
    _refuse()
    yield
