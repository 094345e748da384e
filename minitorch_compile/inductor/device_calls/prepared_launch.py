"""A kernel that waits for its addresses: the buffer that CUDA's driver reads its parameters from.

Parameters are bare pointers, 64-bit sizes and numbers. Each has eight bytes in the buffer, which is filled when a
launch is prepared; a launch writes the pointers, and is one call of the driver. A call of many kernels has one buffer
for all of them (`launch_row.py`).
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.launch_loop import LaunchSizes
from minitorch_compile.inductor.device_calls.launcher import (
    Open,
    Reach,
    is_array,
    is_pointer,
    number_of,
)

WORD = 8  # bytes of the buffer for each parameter
ARRAY_ADDRESS = 4  # the word of it: before it come two owners, elements, bytes of each; after it size and stride


class LoadedKernel:
    """A kernel's machine code, and its handle on each device where it was launched. `shared`: bytes of memory that its
    launches ask for."""

    def __init__(self, driver: Any, image: bytes, entry: bytes, threads: int, shared: int = 0) -> None:
        self.driver, self.image, self.entry, self.threads, self.shared = driver, image, entry, threads, shared
        self.handles: dict[int, Any] = {}

    def handle(self, device: int) -> Any:
        if device not in self.handles:
            self.handles[device] = self.driver.load_kernel(device, self.image, self.entry)
            if self.shared:
                self.driver.allow_shared_memory(self.handles[device], self.shared)
        return self.handles[device]


class PreparedLaunch:
    """The buffer that a kernel's parameters are read from: numbers are in it already, a call writes the pointers.

    A parameter is a word. One whose elements are changed by atomic operations is an array of Numba's, since these want
    one: seven words, the fifth of which is its address. Arrays come behind all other pointers.
    """

    def __init__(
        self,
        loaded: LoadedKernel,
        blocks: int,
        parameters: Sequence[str],
        reaches: Sequence[Reach],
        numbers: Sequence[Any],
    ) -> None:
        self.loaded, self.sizes = loaded, LaunchSizes(blocks, loaded.threads, loaded.shared)
        words: list[int] = []
        self.arrays: list[int] = []  # where their addresses go
        self.open: list[tuple[int, Any, int]] = []  # where a launch's own numbers go, what makes them, and which
        reach, number = iter(reaches), iter(numbers)
        for kind in parameters:
            if not is_pointer(kind):
                value = next(number)
                if isinstance(value, Open):
                    self.open.append((WORD * len(words), number_of(kind), value.place))
                    value = 0
                words.append(int.from_bytes(number_of(kind)(value).tobytes(), "little"))
                continue
            length, element = next(reach)
            if is_array(kind):
                self.arrays.append(WORD * (len(words) + ARRAY_ADDRESS))
                words += [0, 0, length, element.itemsize, 0, length, element.itemsize]
            else:
                words.append(0)
        self.plain = len(reaches) - len(self.arrays)
        self.pack = struct.Struct(f"{self.plain}Q").pack_into
        self.is_simple = not self.arrays and not self.open
        self.buffer = ctypes.create_string_buffer(struct.pack(f"{len(words)}Q", *words), WORD * len(words))
        self.words = words
        start = ctypes.addressof(self.buffer)
        self.table = (ctypes.c_void_p * len(words))(*(start + WORD * place for place in range(len(words))))
        self.where = ctypes.addressof(self.table)
        self.turn = threading.Lock()
        self.launches: dict[int, Callable[[int], None]] = {}  # by device

    def __call__(self, addresses: Sequence[int], stream: StreamHandle, given: Sequence[Any] = ()) -> None:
        device, handle = stream
        launch = self.launches.get(device) or self.prepared(device)
        if self.is_simple:
            with self.turn:  # the driver has read the buffer when it returns
                self.pack(self.buffer, 0, *addresses)
                launch(handle)
            return
        with self.turn:
            for start, make, which in self.open:
                number = make(given[which]).tobytes()
                self.buffer[start : start + len(number)] = number
            if self.arrays:
                for place, address in zip(self.arrays, addresses[self.plain :], strict=True):
                    struct.pack_into("Q", self.buffer, place, address)
                addresses = addresses[: self.plain]
            self.pack(self.buffer, 0, *addresses)
            launch(handle)

    def prepared(self, device: int) -> Callable[[int], None]:
        """What puts the kernel into a stream of a device."""
        loaded = self.loaded
        made = loaded.driver.prepared_launch(device, loaded.handle(device), self.sizes, self.where)
        return self.launches.setdefault(device, made)  # one for all threads, which take turns

    @property
    def pointers(self) -> list[int]:
        """The words that hold addresses, in the order in which these are given."""
        return [*range(self.plain), *(start // WORD for start in self.arrays)]

    @property
    def numbers(self) -> list[int]:
        """All other words."""
        pointers = set(self.pointers)
        return [word for place, word in enumerate(self.words) if place not in pointers]

    def words_of(self, places: Sequence[int], first: int) -> list[int]:
        """Where each parameter is in a buffer that has the addresses at these places, and `numbers` from `first` on."""
        at, number = dict(zip(self.pointers, places, strict=True)), iter(range(first, first + len(self.words)))
        return [at[word] if word in at else next(number) for word in range(len(self.words))]
