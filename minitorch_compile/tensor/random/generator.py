"""A random generator: a seed, and how far its stream has been read.

There are two streams, and `config.random_stream` says which one is drawn from. "philox" (the default): number i is a
function of the seed and i, so that a compiled program draws the same numbers as the plain one, in any order. "mt19937":
the numbers that PyTorch draws on a CPU from the same seed.

>>> from minitorch_compile import config
>>> generator = Generator().manual_seed(3)
>>> generator.advance(10), generator.advance(1), generator.position()
((3, 0), (3, 10), (3, 11))
>>> len(generator.get_state())
16
>>> with config.patch(random_stream="mt19937"):
...     len(generator.get_state())
5056
"""

from __future__ import annotations

import copy
import secrets
import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from minitorch_compile import config
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.device import entered
from minitorch_compile.tensor.numerics.dtype import uint8
from minitorch_compile.tensor.random.mt19937 import STATE, Mt19937
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

DEFAULT_SEED = 67280421310721  # of a generator that nobody seeded: PyTorch's
POSITION_BYTES = 16


def draws_as_pytorch() -> bool:
    """Whether numbers come from PyTorch's stream, not from Philox."""
    return config.random_stream == "mt19937"


class Generator:
    """A random stream: a seed, and how many numbers have been drawn from it. `device` is where they are drawn: the
    same ones everywhere.

    >>> stream = torch.Generator().manual_seed(3)
    >>> torch.rand(2, generator=stream).shape, stream.initial_seed()
    (torch.Size([2]), 3)
    """

    def __init__(self, device: str | Device = "cpu") -> None:
        self._lock = threading.Lock()
        self.device = Device(device)
        self._seed = DEFAULT_SEED
        self._offset = 0
        self._engine: Mt19937 | None = None  # made when PyTorch's stream is first drawn from

    def __repr__(self) -> str:
        return f"<Generator seed={self._seed} offset={self._offset}>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}  # a lock belongs to its process

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def manual_seed(self, seed: int) -> Generator:
        """Starts the stream again from a seed. RuntimeError unless it is an int, ValueError beyond 64 bits."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed: expected an int, got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"manual_seed: expected a seed in [-2**63, 2**64), got {seed}; take it modulo 2**64")
        self.set_position(int(seed) % 2**64, 0)
        self._engine = None
        return self

    def seed(self) -> int:
        """Starts the stream again from a seed that the operating system draws, and returns it."""
        drawn = secrets.randbits(63)
        self.manual_seed(drawn)
        return drawn

    def initial_seed(self) -> int:
        """The seed that the stream was started from."""
        return self._seed

    # --- the two streams ----------------------------------------------------------------------------------------------

    def advance(self, count: int) -> tuple[int, int]:
        """Reserves `count` numbers of the Philox stream: the seed and the offset of the first."""
        with self._lock:
            first = self._offset
            self._offset += count
            return self._seed, first

    def engine(self) -> Mt19937:
        """PyTorch's stream, to be read on."""
        with self._lock:
            if self._engine is None:
                self._engine = Mt19937(self._seed)
            return self._engine

    # --- where it is --------------------------------------------------------------------------------------------------

    def position(self) -> tuple[int, int]:
        """(seed, offset): where in which Philox stream the next number comes from."""
        return self._seed, self._offset

    def set_position(self, seed: int, offset: int) -> None:
        """Continues from a place that `position` returned."""
        with self._lock:
            self._seed, self._offset = seed, offset

    def get_state(self) -> Any:
        """The state as a uint8 tensor, for programs that store it with their checkpoints: 16 bytes for a position in
        the Philox stream, PyTorch's 5056 for its own."""
        if draws_as_pytorch():
            return wrap(self.engine().to_bytes())
        return wrap(np.array(self.position(), np.uint64).view(np.uint8))

    def set_state(self, new_state: Any) -> None:
        """Continues from a state that get_state returned, for mt19937 also PyTorch's.

        TypeError unless it is a uint8 tensor, RuntimeError for a state of the other stream, or of none.
        """
        if not isinstance(new_state, TensorBase) or new_state.dtype is not uint8:
            raise TypeError(f"set_state: expected the uint8 tensor that get_state() returns, got {new_state!r}")
        expected = STATE.itemsize if draws_as_pytorch() else POSITION_BYTES
        if new_state.sizes != (expected,):
            raise RuntimeError(
                f"set_state: expected {expected} bytes, a state of the stream {config.random_stream!r}, got sizes"
                f" {list(new_state.sizes)}; config.random_stream chooses 'philox' (16 bytes) or 'mt19937' (5056)"
            )
        if draws_as_pytorch():
            self._engine = Mt19937.from_bytes(new_state.array)
            self._seed = self._engine.seed
        else:
            self.set_position(*map(int, np.ascontiguousarray(new_state.array).view(np.uint64)))

    def clone_state(self) -> Generator:
        """Another generator at the same place."""
        other = Generator(self.device)
        other.graphsafe_set_state(self)
        return other

    def graphsafe_set_state(self, state: Generator) -> None:
        """Continues from where another generator is."""
        self.set_position(*state.position())
        self._engine = copy.deepcopy(state._engine)


default_generator = Generator()


class DeviceGenerators(Protocol):
    """The default generators of a kind of device."""

    def default(self, where: Device) -> Generator:
        """That of one of them; of the current one if it has no number."""

    def manual_seed_all(self, seed: int) -> None:
        """Starts all of them again."""


device_generators: dict[str, DeviceGenerators] = {}  # by the type of device; filled by a floor above


def checked_generator(generator: Any) -> Generator:
    """The default one for None: that of the device on which factories make their tensors. TypeError for what isn't
    one."""
    if generator is None:
        where = entered.devices[-1] if entered.devices else None
        if where is None or where.type not in device_generators:
            return default_generator
        return device_generators[where.type].default(where)
    if not isinstance(generator, Generator):
        raise TypeError(f"generator: expected a torch.Generator or None, got {type(generator).__name__}")
    return generator


def generator_of(where: Device) -> Callable[[], Generator]:
    """Gives the default generator of a device, as it is when it is asked for."""
    if where.type in device_generators:
        return lambda: device_generators[where.type].default(where)
    return lambda: default_generator


def manual_seed(seed: int) -> Generator:
    """Starts the default stream of random numbers again from `seed`, an int, and returns its Generator.

    >>> first = torch.manual_seed(7).get_state()
    >>> numbers = torch.rand(2)
    >>> torch.equal(torch.manual_seed(7).get_state(), first), torch.equal(torch.rand(2), numbers)
    (True, True)
    """
    for generators in device_generators.values():
        generators.manual_seed_all(int(seed))
    return default_generator.manual_seed(int(seed))
