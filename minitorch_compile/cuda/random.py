"""torch.cuda.random: the generators of the GPUs. Each reads the stream that the CPU's reads, from a place of its own.

So the same seed gives the same numbers on both. torch.manual_seed seeds all of them.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver()):
...     manual_seed(3)
...     initial_seed()
3

Without a GPU, seeding has no effect, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.cuda.runtime import find, in_use, required
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.random.generator import Generator, device_generators


class CudaGenerators:
    """What the tensor floor asks: the generator for a tensor on a GPU, and that torch.manual_seed seeds all."""

    def default(self, where: Device) -> Generator:
        return _generator(where)

    def manual_seed_all(self, seed: int) -> None:
        """A GPU that is used later begins with the seed that the CPU has then."""
        runtime = in_use()
        for generator in () if runtime is None else runtime.generators:
            generator.manual_seed(seed)


device_generators["cuda"] = CudaGenerators()


def _generators() -> tuple[Generator, ...]:
    runtime = find()
    return () if runtime is None else runtime.generators


def _generator(device: Any = None) -> Generator:
    runtime = required()
    return runtime.generators[runtime.index_of(device)]


def manual_seed(seed: int) -> None:
    """Seeds the current GPU's generator."""
    if _generators():
        _generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all GPUs."""
    for generator in _generators():
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seeds the current GPU's generator by chance."""
    if _generators():
        _generator().seed()


def seed_all() -> None:
    """Seeds the generators of all GPUs by chance, alike."""
    if _generators():
        manual_seed_all(_generator().seed())


def initial_seed() -> int:
    """The seed of the current GPU's generator. AssertionError if there is none."""
    return _generator().initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of a GPU's generator, a uint8 tensor in main memory. AssertionError if there is none."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all GPUs."""
    return [generator.get_state() for generator in _generators()]


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Continues from a state that get_rng_state() returned."""
    if _generators():
        _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Likewise, for all GPUs."""
    for generator, state in zip(_generators(), new_states):
        generator.set_state(state)
