"""torch.amp: automatic mixed precision, on the CPU and on a GPU.

Without a GPU, PyTorch warns and switches it off there, and so it is here.

>>> from minitorch_compile import bfloat16, ones
>>> with autocast("cpu", dtype=bfloat16):
...     (ones(2, 2) @ ones(2, 2)).dtype
torch.bfloat16
"""

from minitorch_compile.amp import autocast_cuda_lists  # registers them
from minitorch_compile.amp.autocast_mode import (
    autocast,
    clear_autocast_cache,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from minitorch_compile.amp.custom_functions import custom_bwd, custom_fwd
from minitorch_compile.amp.grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "clear_autocast_cache",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_available",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]
