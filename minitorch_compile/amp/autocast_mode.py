"""autocast: matrix products and convolutions run in half precision, what needs more in float32.

>>> from minitorch_compile import ones
>>> x = ones(2, 2)
>>> with autocast("cpu"):
...     (x @ x).dtype, (x + x).dtype
(torch.bfloat16, torch.float32)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

from minitorch_compile.amp import autocast_state
from minitorch_compile.amp.autocast_state import state
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.numerics.dtype import bfloat16, float16
from minitorch_compile.tensor.numerics.dtype import dtype as Dtype
from minitorch_compile.user_warnings import warn_user

SUPPORTED = (bfloat16, float16)
Before = tuple[bool, Dtype, bool]


class autocast:
    """`with autocast("cpu", dtype=torch.bfloat16):` or a decorator. Inside, ops cast their arguments as their list says
    (`autocast_lists.py`). `enabled=False` switches it off for a part. May be nested.

    For "cuda" it warns that there is none and changes nothing, as PyTorch does.
    """

    def __init__(
        self, device_type: str, dtype: Dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device(device_type).type
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._before: list[Any] = []
        if self.device == "cpu":
            if enabled and self.fast_dtype not in SUPPORTED:
                warn_user(
                    "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                    "CPU Autocast only supports dtype of torch.bfloat16, torch.float16 currently."
                )
                enabled = False
        elif enabled:
            warn_user(
                f"User provided device_type of '{self.device}', but {self.device.upper()} is not available. Disabling"
            )
            enabled = False
        self._enabled = enabled

    def __enter__(self) -> autocast:
        self._before.append(_enter_autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled))
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        _exit_autocast(self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, run inside."""

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


def _enter_autocast(device_type: str, dtype: Dtype, enabled: bool, cache_enabled: bool) -> Before:
    """A region begins. What was before, for its end. In captured graphs a call of it is a node, as in PyTorch."""
    before = state.enabled, state.dtype, state.cache_enabled
    state.depth += 1
    state.cache_enabled = cache_enabled
    if device_type == "cpu":
        autocast_state.switch(enabled, dtype)
    return before


def _exit_autocast(before: Before) -> None:
    """The end of a region."""
    autocast_state.become((*before, state.depth - 1))


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether ops of a device are cast. Without an argument PyTorch asks for "cuda", which there is none of."""
    return state.enabled if device_type == "cpu" else False


def is_autocast_available(device_type: str) -> bool:
    """Whether a device has autocast: the CPU does."""
    return device(device_type).type == "cpu"


def is_autocast_cpu_enabled() -> bool:
    """Whether ops are cast."""
    return state.enabled


def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights are kept until the end."""
    return state.cache_enabled


def get_autocast_dtype(device_type: str) -> Dtype:
    """What is cast to on a device."""
    return state.dtype if device(device_type).type == "cpu" else float16


def get_autocast_cpu_dtype() -> Dtype:
    """What is cast to."""
    return state.dtype


def get_autocast_gpu_dtype() -> Dtype:
    """What would be cast to on a GPU."""
    return float16


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Switches casting for a device, until it is switched again."""
    if device(device_type).type == "cpu":
        autocast_state.switch(enabled, state.dtype)


def set_autocast_dtype(device_type: str, dtype: Dtype) -> None:
    """Says what is cast to on a device."""
    if device(device_type).type == "cpu":
        autocast_state.switch(state.enabled, dtype)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Says whether casts of weights are kept."""
    state.cache_enabled = enabled


def clear_autocast_cache() -> None:
    """Drops the casts of weights that were kept."""
    autocast_state.forget_casts()
