"""torch.backends.cudnn: cuDNN is not used, so its switches are remembered and have no effect.

>>> is_available(), version(), benchmark
(False, None, False)
>>> with flags(benchmark=True):
...     pass
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from minitorch_compile.backends.fp32_precision import OperatorPrecision

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True
fp32_precision = "none"
conv, rnn = OperatorPrecision(), OperatorPrecision()


def is_available() -> bool:
    """Whether cuDNN is there."""
    return False


def version() -> int | None:
    """The version of cuDNN."""
    return None


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Sets the switches inside a `with`, where they have no effect either."""
    yield
