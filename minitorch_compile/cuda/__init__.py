"""torch.cuda on a machine without a GPU: programs ask is_available() and stay on the CPU.

Tensors live in main memory. That `compile` can make CUDA kernels is another matter.

>>> is_available(), device_count()
(False, 0)
>>> current_device()
Traceback (most recent call last):
AssertionError: Torch not compiled with CUDA enabled: tensors live on the CPU here; ask torch.cuda.is_available() first
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn

from minitorch_compile.cuda import amp


def is_available() -> bool:
    """Whether tensors can be on a GPU: never."""
    return False


def is_initialized() -> bool:
    """Whether a GPU is in use: never."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes in bfloat16: there is none."""
    return False


def device_count() -> int:
    """How many GPUs there are."""
    return 0


def empty_cache() -> None:
    """Frees unused GPU memory, of which there is none."""


def manual_seed(seed: int) -> None:
    """Seeds the GPU's generator; without a GPU it has no effect, as in PyTorch. torch.manual_seed seeds the CPU's."""


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all GPUs, of which there are none."""


def seed_all() -> None:
    """Seeds the generators of all GPUs, of which there are none."""


def memory_allocated(device: Any = None) -> int:
    """Bytes of GPU memory that tensors take."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of GPU memory that tensors took."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes of GPU memory that are kept for tensors."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes of GPU memory that were kept."""
    return 0


def _refuse() -> NoReturn:
    raise AssertionError(
        "Torch not compiled with CUDA enabled: tensors live on the CPU here; ask torch.cuda.is_available() first"
    )


def current_device() -> int:
    """AssertionError: there is none."""
    _refuse()


def set_device(device: Any) -> None:
    """AssertionError: there is none."""
    _refuse()


def synchronize(device: Any = None) -> None:
    """AssertionError: there is nothing to wait for."""
    _refuse()


def get_device_name(device: Any = None) -> str:
    """AssertionError: there is none."""
    _refuse()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """AssertionError: there is none."""
    _refuse()


def get_device_properties(device: Any = None) -> Any:
    """AssertionError: there is none."""
    _refuse()


def reset_peak_memory_stats(device: Any = None) -> None:
    """AssertionError: there is none."""
    _refuse()


class device:
    """`with torch.cuda.device(0)`: chooses a GPU, of which there is none, so it has no effect, as in PyTorch."""

    def __init__(self, device: Any) -> None:
        self.idx = device

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        return None
