"""torch.futures: a value that another thread will set.

>>> future = Future()
>>> doubled = future.then(lambda done: 2 * done.value())
>>> future.set_result(21)
>>> doubled.wait(), wait_all([future, doubled])
(42, [21, 42])
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Future(Generic[T]):
    """What one thread sets and others wait for. `devices` names GPUs, of which there are none."""

    def __init__(self, *, devices: Any = None) -> None:
        if devices:
            raise ValueError(f"Future: devices must be left out, there is no GPU here, got {devices}")
        self._future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def done(self) -> bool:
        """Whether there is a value, or an exception."""
        return self._future.done()

    def wait(self) -> T:
        """The value, when it is there; raises the exception if that was set."""
        return self._future.result()

    def value(self) -> T:
        """The value, which must be there. RuntimeError if it isn't."""
        if not self.done():
            raise RuntimeError("Future: value() comes when the future is done; wait() waits for it")
        return self._future.result()

    def set_result(self, result: T) -> None:
        """Ends it with a value. RuntimeError at the second time."""
        if self.done():
            raise RuntimeError("Future can only be marked completed once: set_result came after it was done")
        self._future.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        """Ends it with an exception, which wait() raises."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result!r} is of type {type(result)}, not an Exception.")
        if self.done():
            raise RuntimeError("Future can only be marked completed once: set_exception came after it was done")
        self._future.set_exception(result)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Calls it with this future when that is done, or at once."""
        self._future.add_done_callback(lambda _: callback(self))

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """The future of what `callback` returns; it is called with this future when that is done."""
        after: Future[Any] = Future()

        def finish(done: Future[T]) -> None:
            try:
                after.set_result(callback(done))
            except Exception as error:  # noqa: BLE001  whoever waits for the second future gets it
                after.set_exception(error)

        self.add_done_callback(finish)
        return after


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future that is done when all are; its value is the list of them."""
    together: Future[list[Future[Any]]] = Future()
    left = [len(futures)]

    def one_less(_: Future[Any]) -> None:
        left[0] -= 1
        if not left[0]:
            together.set_result(futures)

    for future in futures:
        future.add_done_callback(one_less)
    if not futures:
        together.set_result(futures)
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all, when they are there."""
    return [future.wait() for future in futures]


__all__ = ["Future", "collect_all", "wait_all"]
