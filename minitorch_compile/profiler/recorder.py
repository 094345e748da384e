"""The recorder: what is open in each thread, what has ended, and which memory came and went.

>>> recorder = Recorder()
>>> with recorder.event("outer"):
...     with recorder.event("inner"):
...         pass
>>> [(event.name, event.cpu_parent and event.cpu_parent.name) for event in recorder.finished()]
[('outer', None), ('inner', 'outer')]
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from minitorch_compile.profiler.events import FunctionEvent, Interval
from minitorch_compile.profiler.probes import PROBES
from minitorch_compile.tensor.tensor_base import TensorBase

MEMORY = "[memory]"
FOLDER = str(Path(__file__).parents[1]) + os.sep  # of this package, whose own frames nobody asked for


class _InThread(threading.local):
    """What is open in a thread, outermost first, and how many stages of the compiler are."""

    def __init__(self) -> None:
        self.open: list[FunctionEvent] = []
        self.stages = 0
        self.number = 0


class Recorder:
    """Notes events from `start` to `stop`. The options are those of `profile`."""

    def __init__(
        self,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
    ) -> None:
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops = with_stack, with_flops
        self.events: list[FunctionEvent] = []
        self.here = _InThread()
        self._threads = itertools.count(1)
        self._ids = itertools.count(1)
        self._undo: list[Callable[[], None]] = []
        self._watched: dict[int, weakref.ref[Any]] = {}  # memory that is known, by the id of the array that owns it
        self._began = time.perf_counter_ns()
        self._ended: float | None = None
        self.is_paused = False

    # ------------------------------------------------------------------------------------------ from when to when

    def start(self) -> None:
        """Puts all probes in place. RuntimeError while another recorder is at work."""
        if active:
            raise RuntimeError("Profiler is already enabled on this thread.")
        active.append(self)
        try:
            for install in PROBES:
                self._undo.append(install(self))
        except BaseException:
            self.stop()
            raise
        self._began = time.perf_counter_ns()

    def stop(self) -> None:
        """Takes the probes away. What is open now ends now."""
        while self._undo:
            self._undo.pop()()
        if self in active:
            active.remove(self)
        self._ended = self.now()
        self._watched.clear()

    def now(self) -> float:
        """Microseconds since the start."""
        return (time.perf_counter_ns() - self._began) / 1e3

    # ------------------------------------------------------------------------------------------ events

    def begin(self, name: str, scope: int = 0, is_user_annotation: bool = False) -> FunctionEvent:
        """A new event within the one that is open."""
        here = self.here
        if not here.number:
            here.number = next(self._threads)
        event = FunctionEvent(name, next(self._ids), here.number, scope, is_user_annotation)
        if name.startswith("ProfilerStep#"):
            event.name = "ProfilerStep*"  # averages have one row for all steps
        if here.open:
            here.open[-1].append_cpu_child(event)
        if self.with_stack:
            event.stack = python_stack(sys._getframe(1))
        here.open.append(event)
        self.events.append(event)
        event.time_range = Interval(self.now(), -1.0)
        return event

    def end(self, event: FunctionEvent) -> None:
        """The event is over, and so is what is still open within it."""
        now, stack = self.now(), self.here.open
        if event not in stack:
            return
        while True:
            last = stack.pop()
            last.time_range = Interval(last.time_range.start, now)
            if stack:
                stack[-1].cpu_memory_usage += last.cpu_memory_usage
            if last is event:
                return

    @contextmanager
    def event(self, name: str, **options: Any) -> Iterator[FunctionEvent]:
        """An event from here to the end of the block."""
        event = self.begin(name, **options)
        try:
            yield event
        finally:
            self.end(event)

    @contextmanager
    def stage(self, name: str) -> Iterator[FunctionEvent]:
        """The same for a stage of the compiler: operations on tensors without data are not noted in it."""
        with self.event(name) as event:
            event.category = "compiler"
            self.here.stages += 1
            try:
                yield event
            finally:
                self.here.stages -= 1

    @property
    def is_quiet(self) -> bool:
        """Whether operations of this thread are not noted: it is in a stage of the compiler, or the program said so."""
        return self.here.stages > 0 or self.is_paused

    def finished(self) -> list[FunctionEvent]:
        """All events in the order in which they began; an only child of its own name is its parent."""
        end = self._ended if self._ended is not None else self.now()
        for event in self.events:
            if event.time_range.end < 0:
                event.time_range = Interval(event.time_range.start, end)
        return without_doubles(self.events)

    # ------------------------------------------------------------------------------------------ memory

    def watch(self, values: Any, count: bool) -> None:
        """Notes when the memory of these tensors is freed; with `count`, new memory is the open event's."""
        for value in values:
            if isinstance(value, TensorBase):
                owner = memory_of(value)
                if owner is None or id(owner) in self._watched:
                    continue
                gone = functools.partial(self._freed, id(owner), owner.nbytes)
                self._watched[id(owner)] = weakref.ref(owner, gone)
                if count:
                    self._count(owner.nbytes)
            elif isinstance(value, (list, tuple)):
                self.watch(value, count)

    def _freed(self, key: int, size: int, reference: Any) -> None:
        if self._watched.pop(key, None) is not None:
            self._count(-size)

    def _count(self, size: int) -> None:
        stack = self.here.open
        if not stack:
            with self.event(MEMORY) as event:
                event.category, event.cpu_memory_usage = "cpu_instant_event", size
        else:
            stack[-1].cpu_memory_usage += size


active: list[Recorder] = []  # the one at work, if any


def memory_of(tensor: TensorBase) -> np.ndarray | None:
    """The array that owns a tensor's memory; None for a tensor without data."""
    array = tensor._array if tensor._array is not None else tensor.storage.memory.buffer
    while array is not None and isinstance(array.base, np.ndarray):
        array = array.base
    return array


def without_doubles(events: list[FunctionEvent]) -> list[FunctionEvent]:
    """The events without only children that have their parent's name: one call that passed two doors."""
    kept = []
    for event in events:
        parent = event.cpu_parent
        if parent is not None and parent.name == event.name and len(parent.cpu_children) == 1:
            parent.cpu_children = event.cpu_children
            for child in event.cpu_children:
                child.cpu_parent = parent
        else:
            kept.append(event)
    return kept


def python_stack(frame: FrameType | None) -> list[str]:
    """The program's own lines that led here, innermost first."""
    lines = []
    while frame is not None:
        if not frame.f_code.co_filename.startswith(FOLDER):
            lines.append(f"{frame.f_code.co_filename}({frame.f_lineno}): {frame.f_code.co_name}")
        frame = frame.f_back
    return lines
