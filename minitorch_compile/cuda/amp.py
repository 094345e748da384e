"""torch.cuda.amp: mixed precision on a GPU. Without one it is off, as in PyTorch: everything stays as it is.

>>> with autocast():
...     scaler = GradScaler()
>>> scaler.is_enabled()
False
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import amp
from minitorch_compile.tensor.numerics.dtype import dtype, float16


class autocast(amp.autocast):
    """torch.autocast for "cuda"."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler for "cuda"."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """torch.amp.custom_fwd for "cuda"."""
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """torch.amp.custom_bwd for "cuda"."""
    return amp.custom_bwd(bwd, device_type="cuda")


__all__: list[Any] = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
