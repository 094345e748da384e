"""What has happened before what, where streams, events and the host wait for each other.

A clock says how far each stream is known to have come. The work of a stream knows what the stream has waited for, and
what the host had waited for when the work was put there; an event knows what its stream knew. (Lamport 1978, Fidge and
Mattern 1988; PyTorch's torch/cuda/_sanitizer.py uses them for the same end.)

>>> order, first, second = Order(), StreamHandle(0, 1), StreamHandle(0, 2)
>>> write = order.step(first)
>>> order.is_before(write, second)
False
>>> order.record(17, first)
>>> order.wait(second, 17)
>>> order.is_before(write, second)
True
"""

from __future__ import annotations

from typing import NamedTuple

from minitorch_compile.cuda_runtime.driver import StreamHandle

HOST = StreamHandle(-1)  # in clocks, the host is one stream more

Clock = dict[StreamHandle, int]


class Moment(NamedTuple):
    """A piece of work: the how-manieth of its stream."""

    stream: StreamHandle
    number: int


class Order:
    """The clocks of all streams, of the host, and of each event when it was last recorded."""

    def __init__(self) -> None:
        self._clocks: dict[StreamHandle, Clock] = {HOST: {}}
        self._events: dict[int, Clock] = {}

    def step(self, stream: StreamHandle) -> Moment:
        """The next piece of work of a stream, or of the host."""
        clock = self._now(stream)
        clock[stream] = clock.get(stream, 0) + 1
        return Moment(stream, clock[stream])

    def is_before(self, moment: Moment, stream: StreamHandle) -> bool:
        """Whether it is over when what was last put into the stream begins."""
        return self._clocks.get(stream, {}).get(moment.stream, 0) >= moment.number

    def record(self, event: int, stream: StreamHandle) -> None:
        """The event is passed when all that the stream knows of is over."""
        self._events[event] = dict(self._now(stream))

    def forget(self, event: int) -> None:
        """The event was destroyed; another may get its number."""
        self._events.pop(event, None)

    def wait(self, stream: StreamHandle, event: int) -> None:
        """The stream (HOST: the host) goes on when the event is passed. One that was never recorded is."""
        _learn(self._now(stream), self._events.get(event, {}))

    def host_waits_for_stream(self, stream: StreamHandle) -> None:
        """The host has waited until the stream was done."""
        _learn(self._clocks[HOST], self._now(stream))

    def host_waits_for_device(self, device: int) -> None:
        """The host has waited until all streams of the device were done."""
        for stream in [stream for stream in self._clocks if stream.device == device]:
            self.host_waits_for_stream(stream)

    def _now(self, stream: StreamHandle) -> Clock:
        """What the next work of a stream knows: also all that the host knows now."""
        clock = self._clocks.setdefault(stream, {})
        if stream != HOST:
            _learn(clock, self._clocks[HOST])
        return clock


def _learn(clock: Clock, other: Clock) -> None:
    for stream, number in other.items():
        if number > clock.get(stream, 0):
            clock[stream] = number
