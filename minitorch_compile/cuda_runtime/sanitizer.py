"""The sanitizer over streams: finds work on two streams that uses the same memory, with nothing that orders the two.

Such a program works nearly always. So each access of device memory, and of pinned memory of the host, is checked when
the work is put into its stream: a read must come after the last write of these bytes, and a write after all reads
since then, too. What comes after what is a matter of events and waits (`vector_clocks.py`), not of what ran first.

Memory that the allocator hands out again keeps its story. So a block that was freed too early, without `record_stream`,
is found as well, which PyTorch's CUDA Sanitizer (torch/cuda/_sanitizer.py), whose idea this is, forgets at the free.

>>> sanitizer, first, second = Sanitizer(), StreamHandle(0, 1), StreamHandle(0, 2)
>>> sanitizer.access(first, "fill", writes=[(0x1000, 64)])
>>> sanitizer.order.record(17, first)
>>> sanitizer.order.wait(second, 17)
>>> sanitizer.access(second, "sum", reads=[(0x1000, 64)])
>>> try:
...     sanitizer.access(first, "fill", writes=[(0x1020, 4)])
... except CUDASanitizerErrors as error:
...     print(str(error.errors[0]).splitlines()[0])
Unordered accesses of 4 bytes at 0x1020: `fill` writes on stream 1, `sum` reads on stream 2.

`MTC_CUDA_SANITIZER=1` turns it on.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from traceback import StackSummary, walk_stack
from types import FrameType

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.shadow_memory import Access, ShadowMemory
from minitorch_compile.cuda_runtime.trace import TraceEntry
from minitorch_compile.cuda_runtime.vector_clocks import HOST, Order
from minitorch_compile.user_warnings import NOT_THE_USERS

Span = tuple[int, int]
"""An address, and how many bytes from there on."""

ADVICE = "Nothing orders the two: record an event behind the earlier one, and let the stream of the other wait for it."
ADVICE_ON_THE_HOST = "Nothing orders the two: the host has to wait for an event behind the work, or for its stream."


class SynchronizationError(Exception):
    """What the sanitizer finds."""


class UnsynchronizedAccessError(SynchronizationError):
    """Two accesses of the same bytes which nothing orders."""

    def __init__(self, span: Span, current: Access, previous: Access, allocated: StackSummary | None) -> None:
        super().__init__(span, current, previous, allocated)
        self.span, self.current, self.previous, self.allocated = span, current, previous, allocated

    def __str__(self) -> str:
        address, nbytes = self.span
        by_the_host = HOST in (self.current.moment.stream, self.previous.moment.stream)
        parts = [
            f"Unordered accesses of {nbytes} bytes at {address:#x}: {_told(self.current)}, {_told(self.previous)}.",
            ADVICE_ON_THE_HOST if by_the_host else ADVICE,
            f"`{self.current.name}`:\n{_formatted(self.current.stack)}",
            f"`{self.previous.name}`, before it in the program:\n{_formatted(self.previous.stack)}",
        ]
        if self.allocated is not None:
            parts.append(f"The memory was allocated here:\n{_formatted(self.allocated)}")
        return "\n".join(parts)


class CUDASanitizerErrors(Exception):
    """What one piece of work does wrong: `errors`, each with both places in the program."""

    def __init__(self, errors: list[UnsynchronizedAccessError]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        return f"detected {len(self.errors)} errors"


Recorded = tuple[str, list[Span], list[Span]]  # the name of work, what it reads and writes


class Sanitizer:
    """Is told of each access; the waits are told to its `order`. All threads share it."""

    def __init__(self) -> None:
        self.order, self._memory = Order(), ShadowMemory()
        self._allocated: dict[int, tuple[int, StackSummary]] = {}  # blocks, by address: bytes, and where
        self.recorded: dict[StreamHandle, list[Recorded]] = {}  # of streams that record: nothing is done there
        self.lock = threading.RLock()

    def access(self, stream: StreamHandle, name: str, reads: Iterable[Span] = (), writes: Iterable[Span] = ()) -> None:
        """Work on the stream. CUDASanitizerErrors, each printed, if what must be over before it may not be."""
        if stream in self.recorded:
            self.recorded[stream].append((name, list(reads), list(writes)))
            return
        with self.lock:
            moment, stack = self.order.step(stream), _stack_of(sys._getframe(1))
            errors = [
                *self._touch(reads, Access(moment, False, name, stack)),
                *self._touch(writes, Access(moment, True, name, stack)),
            ]
        if errors:
            for error in errors:
                print(error, file=sys.stderr)
            raise CUDASanitizerErrors(errors)

    def host_access(self, name: str, reads: Iterable[Span] = (), writes: Iterable[Span] = ()) -> None:
        """The host itself reads or writes pinned memory."""
        self.access(HOST, name, reads, writes)

    def _touch(self, spans: Iterable[Span], access: Access) -> Iterator[UnsynchronizedAccessError]:
        for address, nbytes in spans:
            for before in self._memory.touch(address, address + nbytes, access) if nbytes else ():
                if not self.order.is_before(before.moment, access.moment.stream):
                    yield UnsynchronizedAccessError((address, nbytes), access, before, self._allocation_of(address))

    def _allocation_of(self, address: int) -> StackSummary | None:
        starts = [start for start, (nbytes, _) in list(self._allocated.items()) if start <= address < start + nbytes]
        return self._allocated[starts[0]][1] if starts else None

    def observe(self, entry: TraceEntry) -> None:
        """An observer of the allocator: notes where blocks are allocated."""
        with self.lock:
            if entry.action == "alloc":
                self._allocated[entry.address] = entry.size, _stack_of(sys._getframe(1))
            elif entry.action == "free_requested":
                self._allocated.pop(entry.address, None)

    def forget(self, address: int, nbytes: int) -> None:
        """The driver has taken the memory back; it waits for the device first."""
        with self.lock:
            self._memory.forget(address, address + nbytes)


def _stack_of(frame: FrameType | None) -> StackSummary:
    """The program's frames, the innermost last; not those of the package within them. Lines are looked for later."""
    while frame is not None and frame.f_code.co_filename.startswith(NOT_THE_USERS):
        frame = frame.f_back
    if frame is None:
        return StackSummary()
    stack = StackSummary.extract(walk_stack(frame), lookup_lines=False)
    stack.reverse()
    return stack


def _formatted(stack: StackSummary) -> str:
    return "".join(stack.format()).rstrip("\n")


def _told(access: Access) -> str:
    stream: StreamHandle = access.moment.stream
    verb = "writes" if access.is_write else "reads"
    if stream == HOST:
        return f"the host {verb} in `{access.name}`"
    return f"`{access.name}` {verb} on stream {stream.handle}" + (f" of GPU {stream.device}" if stream.device else "")
