"""What a launch did, access after access: counts that also keep who touched which address, and where all waited.

`simulate` takes a `Recorder` wherever it takes `Counts`; it counts as they do. One block is kept, the first, or the one
that is asked for: each does the same on other addresses.

>>> from minitorch_compile.cuda_simulator import cuda, simulate
>>> def swap(x):
...     i = cuda.threadIdx.x
...     other = x[1 - i]
...     cuda.syncthreads()
...     x[i] = other
>>> recorder = Recorder()
>>> _ = simulate(swap, counts=recorder)[1, 2](np.array([1, 2], np.int32))
>>> for event in recorder.events:
...     print(event)
load x: bytes 4 and 0 by threads 0 and 1
barrier
store x: bytes 0 and 4 by threads 0 and 1
>>> recorder.total.barriers, recorder.events[1].place.text
(1, 'cuda.syncthreads()')
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from minitorch_compile.cuda_simulator.counts import Counts
from minitorch_compile.cuda_simulator.faults import Place

BARRIER = "barrier"
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Event:
    """An access of a block's threads, all at once, or a barrier. `addresses` are bytes from the array's beginning."""

    what: str  # load, store, atomic or barrier
    place: Place
    space: str = ""  # global or shared
    array: str = ""
    threads: np.ndarray = field(default_factory=lambda: NOTHING)
    addresses: np.ndarray = field(default_factory=lambda: NOTHING)
    itemsize: int = 0

    def __str__(self) -> str:
        if self.what == BARRIER:
            return BARRIER
        return f"{self.what} {self.array}: bytes {listed(self.addresses)} by threads {listed(self.threads)}"


class Recorder(Counts):
    """Counts, and in `events` what one block did, in order."""

    def __init__(self, block: int = 0) -> None:
        super().__init__()
        self.block, self.events = block, list[Event]()
        self.running = 0

    def begin_block(self, number: int) -> None:
        self.running = number

    def barrier(self, place: Place) -> None:
        super().barrier(place)
        if self.running == self.block:
            self.events.append(Event(BARRIER, place))

    def access(
        self,
        place: Place,
        space: str,
        what: str,
        lanes: np.ndarray,
        addresses: np.ndarray,
        itemsize: int,
        array: str = "",
    ) -> None:
        super().access(place, space, what, lanes, addresses, itemsize, array)
        if self.running == self.block and space in ("global", "shared"):
            self.events.append(Event(what, place, space, array, lanes.copy(), addresses.copy(), itemsize))


def listed(numbers: np.ndarray) -> str:
    """A few numbers in words: all of three, of more the first, the second and the last."""
    written = [str(number) for number in numbers.tolist()]
    if len(written) > 3:
        return f"{written[0]}, {written[1]} ... {written[-1]}"
    return " and ".join(filter(None, [", ".join(written[:-1]), *written[-1:]]))
