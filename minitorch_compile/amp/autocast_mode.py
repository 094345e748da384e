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
from minitorch_compile.tensor.dispatch.accelerators import accelerators
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.numerics.dtype import bfloat16, float16
from minitorch_compile.tensor.numerics.dtype import dtype as Dtype
from minitorch_compile.user_warnings import warn_user

SUPPORTED = (bfloat16, float16)
HERE = ("cpu", "cuda")
# Other devices that PyTorch knows autocast for. Regions for them change nothing: no tensor is there.
ELSEWHERE = {"xpu": float16, "mps": float16, "mtia": float16, "hpu": bfloat16, "xla": bfloat16, "ipu": float16}
Before = tuple[str, bool, Dtype, bool]


class autocast:
    """`with autocast("cuda", dtype=torch.bfloat16):` or a decorator. Inside, ops cast their arguments as the lists for
    the device say (`autocast_lists.py`). `enabled=False` switches it off for a part. May be nested.

    For "cuda" without a GPU it warns and changes nothing, as PyTorch does. RuntimeError for a device that has no
    autocast.
    """

    def __init__(
        self, device_type: str, dtype: Dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device(device_type).type
        if not is_autocast_available(self.device):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{self.device}'")
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._before: list[Any] = []
        self._enabled = enabled and self._is_possible()

    def _is_possible(self) -> bool:
        """Whether tensors there can be cast to the dtype. If not, it is told."""
        if self.device == "cuda":
            if not accelerators["cuda"].is_available():
                warn_user("CUDA is not available or torch_xla is imported. Disabling autocast.")
                return False
            return True
        if self.fast_dtype not in SUPPORTED:
            warn_user(
                f"In {self.device.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{self.device.upper()} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
            )
            return False
        return True

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
    before = device_type, is_autocast_enabled(device_type), get_autocast_dtype(device_type), state.cache_enabled
    state.depth += 1
    state.cache_enabled = cache_enabled
    if device_type in state.switches:
        autocast_state.switch(device_type, enabled, dtype)
    return before


def _exit_autocast(before: Before) -> None:
    """The end of a region."""
    device_type, enabled, dtype, state.cache_enabled = before
    if device_type in state.switches:
        autocast_state.switch(device_type, enabled, dtype)
    autocast_state.at_depth(state.depth - 1)


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether ops of a device are cast; without an argument, those of a GPU, as in PyTorch."""
    switched = state.switches.get(_known(device_type))
    return switched is not None and switched.enabled


def is_autocast_available(device_type: str) -> bool:
    """Whether a type of device has autocast. Whether there is such a device is another question."""
    kind = device(device_type).type
    return kind in HERE or kind in ELSEWHERE


def is_autocast_cpu_enabled() -> bool:
    """Whether ops in main memory are cast."""
    return state.cpu.enabled


def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights are kept until the end."""
    return state.cache_enabled


def get_autocast_dtype(device_type: str) -> Dtype:
    """What is cast to on a device. RuntimeError for one that has no autocast."""
    kind = _known(device_type)
    return state.switches[kind].dtype if kind in state.switches else ELSEWHERE[kind]


def get_autocast_cpu_dtype() -> Dtype:
    """What is cast to in main memory."""
    return state.cpu.dtype


def get_autocast_gpu_dtype() -> Dtype:
    """What is cast to on a GPU."""
    return state.cuda.dtype


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switches casting for a device, until it is switched again; for a GPU if none is named."""
    kind, on = ("cuda", device_type) if enabled is None else (_known(str(device_type)), enabled)
    if kind in state.switches:
        autocast_state.switch(kind, bool(on), state.switches[kind].dtype)


def set_autocast_dtype(device_type: str, dtype: Dtype) -> None:
    """Says what is cast to on a device."""
    kind = _known(device_type)
    if kind in state.switches:
        autocast_state.switch(kind, state.switches[kind].enabled, dtype)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Says whether casts of weights are kept."""
    state.cache_enabled = enabled


def clear_autocast_cache() -> None:
    """Drops the casts of weights that were kept."""
    autocast_state.forget_casts()


def _known(device_type: str) -> str:
    """The type of a device. RuntimeError for one that has no autocast."""
    kind = device(device_type).type
    if not is_autocast_available(kind):
        raise RuntimeError(f"autocast: unknown device type {kind!r}; expected one of cpu, cuda, {', '.join(ELSEWHERE)}")
    return kind
