"""torch.mps on a machine without Apple's GPU: nothing is there to use.

>>> is_available(), device_count()
(False, 0)
>>> synchronize()
Traceback (most recent call last):
RuntimeError: torch.mps.synchronize needs Apple's GPU: tensors live on the CPU here; ...
"""

from __future__ import annotations

from typing import Any, NoReturn


def is_available() -> bool:
    """Whether tensors can be on Apple's GPU: never."""
    return False


def device_count() -> int:
    """How many there are."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds its generator; without it that has no effect, as in PyTorch."""


def seed() -> None:
    """Seeds its generator by chance; likewise."""


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(
        f"torch.mps.{name} needs Apple's GPU: tensors live on the CPU here; ask torch.backends.mps.is_available() first"
    )


def synchronize() -> None:
    """RuntimeError: there is nothing to wait for."""
    _refuse("synchronize")


def empty_cache() -> None:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse("empty_cache")


def set_per_process_memory_fraction(fraction: float) -> None:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse("set_per_process_memory_fraction")


def current_allocated_memory() -> int:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse("current_allocated_memory")


def driver_allocated_memory() -> int:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse("driver_allocated_memory")


def recommended_max_memory() -> int:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse("recommended_max_memory")


def get_rng_state(device: Any = "mps") -> Any:
    """RuntimeError: there is no generator."""
    _refuse("get_rng_state")


def set_rng_state(new_state: Any, device: Any = "mps") -> None:
    """RuntimeError: there is no generator."""
    _refuse("set_rng_state")
