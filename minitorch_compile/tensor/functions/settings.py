"""PyTorch's global switches: those that mean something here are checked, those of GPUs are remembered.

>>> set_float32_matmul_precision("high")
>>> get_float32_matmul_precision()
'high'
>>> set_float32_matmul_precision("highest")
>>> typename(3), typename(device("cpu"))
('int', 'torch.device')
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.accelerators import accelerators, located
from minitorch_compile.tensor.memory.device import CPU, device, entered, set_default
from minitorch_compile.tensor.numerics.dtype import dtype, set_default_dtype
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.tensor.tensor_class.legacy_types import LegacyTensorType, named_type, type_name
from minitorch_compile.user_warnings import warn_user

PRECISIONS = ("highest", "high", "medium")


class _Settings:
    """What was set."""

    matmul_precision = "highest"
    matmul_fp32_precision = "none"  # what torch.backends.cuda.matmul has of its own: "ieee", "tf32", or nothing
    deterministic = False
    warn_only = False


settings = _Settings()


def set_float32_matmul_precision(precision: str) -> None:
    """How a GPU may round in float32 matrix products: "high" and "medium" let it take ten bits of each factor (TF32).
    On the CPU they are float32 in each of the three cases.

    RuntimeError for another word.
    """
    if precision not in PRECISIONS:
        raise RuntimeError(f"set_float32_matmul_precision: expected one of {PRECISIONS}, got {precision!r}")
    settings.matmul_precision = precision
    settings.matmul_fp32_precision = "ieee" if precision == "highest" else "tf32"


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision was last given."""
    return settings.matmul_precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks that equal runs give equal bits. They do in any case: no operation here depends on the order of threads."""
    settings.deterministic, settings.warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether use_deterministic_algorithms(True) was called."""
    return settings.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """The `warn_only` of use_deterministic_algorithms."""
    return settings.warn_only


DEBUG_MODES = ("default", "warn", "error")


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """use_deterministic_algorithms in a word, or its place: "default" (0), "warn" (1), "error" (2).

    TypeError for another type, RuntimeError for another word or number.
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (*DEBUG_MODES, *range(len(DEBUG_MODES))):
        raise RuntimeError(f"invalid value of debug_mode, expected one of {DEBUG_MODES} or 0, 1, 2, got {debug_mode!r}")
    mode = DEBUG_MODES.index(debug_mode) if isinstance(debug_mode, str) else debug_mode
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """What set_deterministic_debug_mode would be given for the mode that holds, as a number.

    >>> torch.set_deterministic_debug_mode("warn")
    >>> torch.get_deterministic_debug_mode(), torch.is_deterministic_algorithms_warn_only_enabled()
    (1, True)
    >>> torch.set_deterministic_debug_mode("default")
    """
    return (1 if settings.warn_only else 2) if settings.deterministic else 0


def set_default_device(device: Any) -> None:
    """Where this thread makes new tensors that say nothing else: on `device`; None is the CPU. RuntimeError for a
    string that names none. Whether there is such a device, the first tensor will tell.

    >>> torch.set_default_device("meta")
    >>> torch.ones(10**6, 10**6).device
    device(type='meta')
    >>> torch.set_default_device(None)
    """
    set_default(None if device is None else _device(device))


_device = device


def get_default_device() -> device:
    """Where new tensors go.

    >>> torch.get_default_device()
    device(type='cpu')
    """
    return located(entered.devices[-1]) if entered.devices else CPU


def set_default_tensor_type(t: Any, /) -> None:
    """The older way to set the default dtype, and whether new tensors are on a GPU: by torch.DoubleTensor or its name.
    RuntimeError for a GPU's if there is none."""
    kind = named_type(t) if isinstance(t, str) else t
    if not isinstance(kind, LegacyTensorType):
        raise TypeError(f"set_default_tensor_type: expected a type such as torch.FloatTensor or its name, got {t!r}")
    on_gpu = kind.device_type == "cuda"
    if on_gpu and not accelerators["cuda"].is_available():
        raise RuntimeError(f"set_default_tensor_type: there is no GPU for {kind!r}; use set_default_dtype")
    set_default_dtype(kind.dtype)
    set_default_device("cuda" if on_gpu else None)


def set_flush_denormal(mode: bool) -> bool:
    """Whether numbers too small for float32's full precision become zero. It can't be switched: False."""
    if mode:
        warn_user("set_flush_denormal: denormal numbers are kept")
    return False


def typename(obj: Any, /) -> str:
    """The name of an object's type: 'torch.FloatTensor' for tensors, with its module for other classes."""
    if isinstance(obj, TensorBase):
        return type_name(obj.dtype, obj.device.type)
    kind = obj if isinstance(obj, type) or callable(obj) else type(obj)
    if isinstance(obj, (dtype, device)):
        return f"torch.{kind.__qualname__}"
    module = getattr(kind, "__module__", "") or ""
    name: str = getattr(kind, "__qualname__", "") or getattr(kind, "__name__", kind.__class__.__qualname__)
    return (
        name if module in ("", "builtins", "__builtin__") else f"{module.replace('minitorch_compile', 'torch')}.{name}"
    )
