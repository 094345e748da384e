"""SDPBackend, sdpa_kernel: which of PyTorch's attention kernels may be used.

>>> with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
...     sorted(switches.enabled)
['FLASH_ATTENTION', 'MATH']
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from minitorch_compile.backends.cuda import attention_switches as switches


class SDPBackend(IntEnum):
    """PyTorch's ways to compute scaled dot product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


class sdpa_kernel:
    """Inside, only these backends may be used. AssertionError for what is no SDPBackend.

    A context manager, and a decorator.
    """

    def __init__(self, backends: Sequence[SDPBackend] | SDPBackend, set_priority: bool = False) -> None:
        if not isinstance(backends, (list, tuple, SDPBackend)):
            raise AssertionError(
                "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got"
                f" {type(backends).__name__}"
            )
        chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
        self.names = frozenset([SDPBackend(backend).name for backend in chosen])
        self.before: list[frozenset[str]] = []

    def __enter__(self) -> None:
        self.before.append(switches.enabled)
        switches.enabled = self.names

    def __exit__(self, *error: Any) -> None:
        switches.enabled = self.before.pop()

    def __call__(self, function: Any) -> Any:
        def under_choice(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return under_choice
