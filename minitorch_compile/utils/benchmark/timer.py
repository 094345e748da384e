"""Timer: runs a statement often enough, with one thread unless told otherwise, after a first run that isn't counted.

>>> Timer("sum(range(10))").blocked_autorange(min_run_time=0.01).median < 0.01
True
"""

from __future__ import annotations

import enum
import sys
import textwrap
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from minitorch_compile.tensor.cpu.thread_count import get_num_threads, set_num_threads
from minitorch_compile.utils.benchmark.measurement import ENOUGH, Measurement, TaskSpec


def timer() -> float:
    """The time in seconds, as a clock that only goes forwards says it."""
    return perf_counter()


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


def _from_the_margin(text: str) -> str:
    """A statement of several lines as it stood in a function, without the newline and the indentation that brought."""
    return textwrap.dedent(text).removeprefix("\n").rstrip()


class Timer:
    """Measures the time of a Python statement.

    stmt, setup: source text, indented as a whole or not; `globals` are the names it knows, besides `torch`. label,
    sub_label, description, env: how tables call it. num_threads: how many threads operations use meanwhile. timer: a
    function that gives the time in seconds.
    ValueError for a statement in C++: language, global_setup.

    >>> torch.utils.benchmark.Timer("x + 1", globals={"x": torch.ones(2)}).timeit(10).number_per_run
    10
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Timer: statements are in Python here, not in {language!r}")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        self._globals = {"torch": sys.modules[__name__.partition(".")[0]], **(globals or {})}
        stmt, setup = _from_the_margin(stmt), _from_the_margin(setup)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)
        self._timer = timeit.Timer(stmt, setup, timer, self._globals)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        before = get_num_threads()
        set_num_threads(self._task_spec.num_threads)
        try:
            yield
        finally:
            set_num_threads(before)

    def _time(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of `number` runs, after a tenth as many (two at most a hundred) that aren't counted."""
        with self._threads():
            self._time(max(number // 100, 2))
            return Measurement(number, [self._time(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """NotImplementedError, as in PyTorch: `blocked_autorange` repeats."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], None] | None = None) -> None:
        """NotImplementedError, as in PyTorch: use `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measures blocks of runs, large enough that the clock doesn't matter, for that many seconds."""
        with self._threads():
            number = self._block_size(min_run_time)
            return Measurement(number, self._blocks(number, callback, min_run_time), self._task_spec)

    def _blocks(self, number: int, callback: Callable[[int, float], Any] | None, seconds: float) -> list[float]:
        times: list[float] = []
        while sum(times) < seconds or not times:
            times.append(self._time(number))
            if callback is not None:
                callback(number, times[-1])
        return times

    def _block_size(self, seconds: float) -> int:
        """How many runs take a thousandth of the time, or a thousand times what the clock itself costs."""
        overhead = float(sorted(self._time(0) for _ in range(5))[2])
        number = 1
        while True:
            spent = self._time(number)
            if spent >= seconds / 1000 and overhead / spent <= 1e-4 or spent >= seconds:
                return number
            number *= 10

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Measures until the times spread less than that share of their median, or for `max_run_time` seconds."""
        with self._threads():
            number, times = self._block_size(0.05), []
            while True:
                times += self._blocks(number, callback, min_run_time)
                measured = Measurement(number, times, self._task_spec)
                if (len(times) >= ENOUGH and measured.meets_confidence(threshold)) or sum(times) > max_run_time:
                    return measured
