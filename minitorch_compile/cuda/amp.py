"""torch.cuda.amp: the older names for mixed precision on a GPU, which say that torch.amp has the newer ones.

>>> import warnings
>>> with warnings.catch_warnings(record=True) as told:
...     _ = custom_bwd(lambda ctx, grad: grad)
>>> told[0].category.__name__, str(told[0].message).partition(". ")[0]
('FutureWarning', '`torch.cuda.amp.custom_bwd(args...)` is deprecated')
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import amp
from minitorch_compile.tensor.numerics.dtype import dtype, float16
from minitorch_compile.user_warnings import warn_user


def _deprecated(name: str, instead: str) -> None:
    warn_user(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{instead}` instead.", FutureWarning
    )


class autocast(amp.autocast):
    """torch.autocast for "cuda"."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        _deprecated("autocast", "autocast('cuda', args...)")
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
        _deprecated("GradScaler", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """torch.amp.custom_fwd for "cuda"."""
    _deprecated("custom_fwd", "custom_fwd(args..., device_type='cuda')")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """torch.amp.custom_bwd for "cuda"."""
    _deprecated("custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return amp.custom_bwd(bwd, device_type="cuda")


__all__: list[Any] = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
