"""torch.random: the default generator's seed and state.

>>> state = get_rng_state()
>>> with fork_rng():            # what is drawn inside doesn't count outside
...     _ = manual_seed(0)
>>> bool((get_rng_state() == state).all())
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minitorch_compile.tensor.random.generator import default_generator, manual_seed


def seed() -> int:
    """Starts the default stream from a seed that the operating system draws, and returns it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default stream was started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the default stream of random numbers, as a uint8 tensor, for set_rng_state().

    >>> torch.get_rng_state().dtype
    torch.uint8
    """
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Continues the default stream of random numbers from `new_state`, which get_rng_state() returned.

    >>> state = torch.get_rng_state()
    >>> x = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> torch.equal(torch.rand(2), x)
    True
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Inside, random numbers are drawn as usual; at the end the default generator is back where it was."""
    before = default_generator.clone_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.graphsafe_set_state(before)


__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]
