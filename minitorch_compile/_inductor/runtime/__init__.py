"""`torch._inductor.runtime`: where the kernels are kept."""

from minitorch_compile._inductor.runtime import cache_dir_utils

__all__ = ["cache_dir_utils"]
