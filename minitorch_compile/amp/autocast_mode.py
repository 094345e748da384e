"""autocast: on a GPU, it runs matrix products in half precision. There is none here, so it is off.

>>> with autocast("cuda", enabled=False):
...     is_autocast_enabled()
False
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.numerics.dtype import dtype as Dtype
from minitorch_compile.user_warnings import warn_user


class autocast:
    """`with autocast("cuda"):` or a decorator. Warns that there is no GPU and changes nothing, as PyTorch does.

    NotImplementedError for "cpu": casting there is not offered; convert the model with .to(dtype) instead.
    """

    def __init__(
        self, device_type: str, dtype: Dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        self.device = device(device_type).type
        self.fast_dtype = dtype
        if enabled and self.device == "cpu":
            raise NotImplementedError(
                "autocast: mixed precision on the CPU is not offered; pass enabled=False, or convert the model with"
                " .to(torch.bfloat16)"
            )
        if enabled:
            warn_user(
                f"User provided device_type of '{self.device}', but {self.device.upper()} is not available. Disabling"
            )

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        return None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, run inside."""

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether operations are cast: never."""
    return False


def is_autocast_available(device_type: str) -> bool:
    """Whether a device has autocast: none that tensors can be on."""
    return False
