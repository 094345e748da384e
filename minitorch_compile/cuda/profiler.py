"""torch.cuda.profiler: starts and stops NVIDIA's profilers, which watch GPUs.

>>> start()
Traceback (most recent call last):
AssertionError: Torch not compiled with CUDA enabled: tensors live on the CPU here; ask torch.cuda.is_available() first
"""

from __future__ import annotations

from minitorch_compile.cuda.absent import refuse


def start() -> None:
    """AssertionError: there is no GPU to watch."""
    refuse()


def stop() -> None:
    """AssertionError: there is no GPU to watch."""
    refuse()
