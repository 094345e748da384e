"""A stream that isn't there: a queue of Python calls that run when somebody waits for them, in order.

>>> stream = FakeStream()
>>> first = stream.put(lambda: print("one"))
>>> second = stream.put(lambda: print("two"))
>>> stream.run_until(first)
one
>>> stream.is_past(second)
False
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], None]


class FakeStream:
    """Positions count the calls that were put in; `run_until(p)` runs all up to the p-th."""

    def __init__(self) -> None:
        self.end = 0
        self._passed = 0
        self._waiting: deque[Work] = deque()

    def put(self, work: Work) -> int:
        """Behind all others; its position."""
        self._waiting.append(work)
        self.end += 1
        return self.end

    def is_past(self, position: int) -> bool:
        """Whether all up to this position has run."""
        return self._passed >= position

    def run_until(self, position: int) -> None:
        """Runs what hasn't run yet, up to this position. What raises counts as run."""
        while self._passed < position:
            self.run_next()

    def run_next(self) -> None:
        """Runs the next, if there is one."""
        if self._waiting:
            work = self._waiting.popleft()
            try:
                work()
            finally:
                self._passed += 1


@dataclass
class FakeEvent:
    """A mark: the stream in which it was recorded, and its position there. One that never was is passed."""

    device: int
    timing: bool
    stream: FakeStream | None = None
    position: int = 0
    passed_at: float | None = None

    def wait(self) -> None:
        """Runs what stands before the mark."""
        if self.stream is not None:
            self.stream.run_until(self.position)
