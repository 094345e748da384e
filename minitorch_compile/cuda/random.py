"""torch.cuda.random: the generators of the GPUs, of which there are none. torch.manual_seed seeds the CPU's.

>>> manual_seed_all(0)
>>> get_rng_state_all()
[]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.cuda.absent import refuse


def manual_seed(seed: int) -> None:
    """Seeds the GPU's generator; without a GPU it has no effect, as in PyTorch."""


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all GPUs, of which there are none."""


def seed() -> None:
    """Seeds the GPU's generator by chance; without a GPU it has no effect, as in PyTorch."""


def seed_all() -> None:
    """Seeds the generators of all GPUs, of which there are none."""


def initial_seed() -> int:
    """AssertionError: there is no generator."""
    refuse()


def get_rng_state(device: Any = "cuda") -> Any:
    """AssertionError: there is no generator."""
    refuse()


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all GPUs: none."""
    return []


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Kept by PyTorch until a GPU is used, which never happens here."""


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Likewise, for all GPUs."""
