"""torch.mtia on a machine without Meta's accelerator: nothing is there to use.

>>> is_available(), device_count()
(False, 0)
>>> synchronize()
Traceback (most recent call last):
AssertionError: Torch not compiled with MTIA enabled: tensors live on the CPU here; ask torch.mtia.is_available() first
"""

from __future__ import annotations

from typing import Any, NoReturn


def is_available() -> bool:
    """Whether tensors can be on Meta's accelerator: never."""
    return False


def is_initialized() -> bool:
    """Whether it is in use: never."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether it computes in bfloat16: there is none."""
    return False


def device_count() -> int:
    """How many there are."""
    return 0


def empty_cache() -> None:
    """Frees its unused memory, of which there is none."""


def manual_seed(seed: int) -> None:
    """Seeds its generator; without it that has no effect, as in PyTorch."""


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all; likewise."""


def _refuse() -> NoReturn:
    raise AssertionError(
        "Torch not compiled with MTIA enabled: tensors live on the CPU here; ask torch.mtia.is_available() first"
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


def get_device_properties(device: Any = None) -> Any:
    """AssertionError: there is none."""
    _refuse()
