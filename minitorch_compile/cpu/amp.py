"""torch.cpu.amp: mixed precision on the CPU.

>>> with autocast(enabled=False):
...     pass
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import amp
from minitorch_compile.tensor.numerics.dtype import bfloat16, dtype


class autocast(amp.autocast):
    """torch.autocast for "cpu"."""

    def __init__(self, enabled: bool = True, dtype: dtype = bfloat16, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler for "cpu"."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


__all__: list[Any] = ["GradScaler", "autocast"]
