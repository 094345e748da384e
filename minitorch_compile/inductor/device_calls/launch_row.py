"""The launches of a whole call, over one buffer of arguments: a call writes its addresses there once.

    the buffer    | address of place 0 | address of place 1 | ... | a size | a number | ...
    kernel 1        reads place 0, place 2, a size
    kernel 2        reads place 2, place 1, a number

A kernel's parameters are read through a table of pointers. So parameters of two kernels that are the same memory are
one word here, and between two kernels nothing is written or looked up: those that follow each other are launched by one
native call (`cuda_runtime/launch_loop.py`). What a library does between them is told its addresses from Python.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.device_calls.launcher import Launch
from minitorch_compile.inductor.device_calls.prepared_launch import WORD, PreparedLaunch

Placed = tuple[Launch, Sequence[int]]  # a launch, and the places of its buffers in a call's memory
Step = Callable[[Sequence[int], StreamHandle, bool], None]  # told whether there are other addresses than last time


class LaunchRow:
    """Called with the address of each place of a call's memory, and a stream. One thread at a time is in it."""

    def __init__(self, launches: Sequence[Placed], places: int) -> None:
        self.places = places
        numbers: list[int] = []
        for launch, _ in launches:
            if isinstance(launch, PreparedLaunch):
                numbers += launch.numbers
        self.buffer = ctypes.create_string_buffer(WORD * (places + len(numbers)))
        struct.pack_into(f"{len(numbers)}Q", self.buffer, WORD * places, *numbers)
        self.pack = struct.Struct(f"{places}Q").pack_into
        self.turn = threading.Lock()
        self.tables: list[Any] = []  # kept, since the driver knows their addresses only
        self.parts = self._parts(launches)
        self.rows: dict[int, list[Step]] = {}  # by device
        self.last: Sequence[int] = ()  # what all steps were told, for which device
        self.last_device = -1

    def _parts(self, launches: Sequence[Placed]) -> list[list[tuple[PreparedLaunch, int]] | Placed]:
        """Kernels that follow each other, each with the address of its table of parameters; and calls of libraries."""
        start, used = ctypes.addressof(self.buffer), self.places
        parts: list[list[tuple[PreparedLaunch, int]] | Placed] = []
        for is_kernel, group in groupby(launches, lambda placed: isinstance(placed[0], PreparedLaunch)):
            if not is_kernel:
                parts += group
                continue
            row = []
            for launch, places in group:
                assert isinstance(launch, PreparedLaunch)
                words = launch.words_of(places, used)
                used += len(launch.numbers)
                self.tables.append((ctypes.c_void_p * len(words))(*(start + WORD * word for word in words)))
                row.append((launch, ctypes.addressof(self.tables[-1])))
            parts.append(row)
        return parts

    def __call__(self, memory: Sequence[int], stream: StreamHandle) -> None:
        device = stream[0]
        steps = self.rows.get(device) or self.prepared(device)
        with self.turn:  # the driver has read the buffer when it returns
            is_new = memory != self.last or device != self.last_device
            if is_new:
                self.last_device = -1  # until all were told: a step may raise
                self.pack(self.buffer, 0, *memory)
            for step in steps:
                step(memory, stream, is_new)
            self.last, self.last_device = memory, device

    def prepared(self, device: int) -> list[Step]:
        """What is done one after the other, on a device."""
        return self.rows.setdefault(device, [self._step(part, device) for part in self.parts])

    def _step(self, part: list[tuple[PreparedLaunch, int]] | Placed, device: int) -> Step:
        if isinstance(part, tuple):
            launch, places = part
            return lambda memory, stream, is_new: launch([memory[place] for place in places], stream)
        row = [(x.loaded.handle(device), x.sizes, table) for x, table in part]
        put = part[0][0].loaded.driver.prepared_row(device, row)
        return lambda memory, stream, is_new: put(stream[1], is_new)
