"""torch.backends.cudnn: switches of the library that convolves on a GPU.

>>> is_available(), benchmark      # there is no GPU here
(False, False)
>>> from minitorch_compile.backends import cudnn
>>> with cudnn.flags(enabled=True, benchmark=True):
...     cudnn.benchmark
True
>>> cudnn.benchmark
False
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from minitorch_compile.backends.fp32_precision import OperatorPrecision
from minitorch_compile.cuda_runtime.cudnn import version_of
from minitorch_compile.cuda_runtime.errors import CudaLibraryMissingError
from minitorch_compile.cuda_runtime.library_bindings import bindings
from minitorch_compile.tensor.dispatch.accelerators import accelerators

enabled = True  # else convolutions are matrix products, as where cuDNN isn't installed
benchmark = False  # whether algorithms are timed, and the quickest is kept
benchmark_limit: int | None = None  # how many are; None: 10, 0: all
deterministic = False  # whether only those are used whose sums have one order
allow_tf32 = True
fp32_precision = "none"
conv, rnn = OperatorPrecision(), OperatorPrecision()


def is_available() -> bool:
    """Whether cuDNN is there, and a GPU for it."""
    return accelerators["cuda"].is_available() and version() is not None


def version() -> int | None:
    """The version of cuDNN, such as 91900; None if it isn't installed."""
    try:
        return version_of(bindings("cudnn"))
    except CudaLibraryMissingError:
        return None


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Sets the switches inside a `with`."""
    module = sys.modules[__name__]
    wanted = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    before = {name: getattr(module, name) for name in wanted}
    try:
        for name, value in wanted.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)
