"""torch.autograd.profiler: the profiler without a plan, and ranges for NVIDIA's and Intel's own tools.

>>> from minitorch_compile import ones
>>> with profile() as recorded:
...     _ = ones(2) + 1
>>> [average.key for average in recorded.key_averages()]
['aten::ones', 'aten::full', 'aten::add']
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from minitorch_compile.profiler import chrome_trace
from minitorch_compile.profiler.events import EventList, FunctionEventAvg
from minitorch_compile.profiler.recorder import Recorder
from minitorch_compile.profiler.roofline import gigabytes_per_second
from minitorch_compile.user_warnings import warn_user


class profile:
    """`with profile() as p:` notes the operations inside. `enabled=False` does nothing. The options for other devices
    warn that there are none."""

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Any = None,
    ) -> None:
        self.enabled = enabled
        if not enabled:
            return
        if use_cuda or use_device == "cuda":
            warn_user("CUDA is not available, disabling CUDA profiling")
        elif use_device not in (None, "cpu"):
            raise AssertionError(f"use_device: there is no device {use_device!r} to profile; leave it out")
        if not use_cpu:
            raise AssertionError("No activities specified for the profiler")
        self.record_shapes = record_shapes or with_flops
        self.profile_memory, self.with_stack, self.with_flops = profile_memory, with_stack, with_flops
        self.with_modules, self.acc_events = with_modules, acc_events
        self.entered = False
        self.recorder: Recorder | None = None
        self._events: EventList | None = None

    def __enter__(self) -> Any:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self.recorder = Recorder(self.record_shapes, self.profile_memory, self.with_stack, self.with_flops)
        self.recorder.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self.enabled and self.recorder is not None:
            self.recorder.stop()

    @property
    def function_events(self) -> EventList:
        """What was recorded. RuntimeError before the end."""
        recorder = self.recorder if self.enabled else None
        if recorder is None or recorder._ended is None:
            raise RuntimeError("Profiler didn't finish running")
        if self._events is None:
            events = recorder.finished()
            _say_how_near_the_roof(events)
            self._events = EventList(events, profile_memory=self.profile_memory, with_flops=self.with_flops)
        return self._events

    def __repr__(self) -> str:
        recorder = self.recorder if self.enabled else None
        done = recorder is not None and recorder._ended is not None
        return repr(self.function_events) if done else "<unfinished torch.autograd.profile>"

    def __str__(self) -> str:
        recorder = self.recorder if self.enabled else None
        done = recorder is not None and recorder._ended is not None
        return str(self.function_events) if done else "<unfinished torch.autograd.profile>"

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as a table."""
        return self.function_events.table(
            sort_by=sort_by,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            top_level_events_only=top_level_events_only,
        )

    def export_chrome_trace(
        self, path: Any, metadata: dict[str, Any] | None = None, use_python_export: bool = False
    ) -> None:
        """Writes the events as JSON for Perfetto, `metadata` at its top. It is always Python that writes it."""
        chrome_trace.write(Path(path), list(self.function_events), metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes the callers of each event. It needs with_stack=True."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events added up by name."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """All events added up."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all."""
        return self.function_events.self_cpu_time_total


def _say_how_near_the_roof(events: list[Any]) -> None:
    """For each kernel whose bytes are known, how fast it moved them, and which part that is of what the machine can.

    What lies in caches can be more than all of it."""
    for event in events:
        moved, time = event.details.get("bytes", 0), event.cpu_time_total
        if moved and time:
            speed = moved / time / 1e3
            event.details["GB/s"] = round(speed, 2)
            event.details["of roofline"] = round(speed / gigabytes_per_second(), 3)


class _EmitRanges:
    """Each operation inside is a range that another tool shows, by a library of that tool's maker."""

    tool, library = "", ""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes = enabled, record_shapes
        self.entered = False
        self._stop: Callable[[], None] | None = None

    def __enter__(self) -> Any:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(f"{self.tool} annotation context manager is not reentrant")
        recorder = _ForwardingRecorder(*self._ends(), record_shapes=self.record_shapes)
        self.entered = True
        recorder.start()
        self._stop = recorder.stop
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._stop is not None:
            self._stop()
            self._stop = None

    def _ends(self) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        """The library's functions that begin and end a range. RuntimeError without the library."""
        try:
            library = importlib.import_module(self.library)
        except ImportError:
            self._refuse()
        return self._functions(library)

    def _refuse(self) -> NoReturn:
        raise RuntimeError(
            f"emit_{self.tool.lower()}: the library {self.library!r}, by which {self.tool} ranges are made, is not"
            f" installed; install it, or use torch.profiler.profile"
        )

    def _functions(self, library: Any) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        raise NotImplementedError


class emit_nvtx(_EmitRanges):
    """Ranges for NVIDIA Nsight, by the library nvtx."""

    tool, library = "NVTX", "nvtx"

    def _functions(self, library: Any) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        return library.push_range, library.pop_range


class emit_itt(_EmitRanges):
    """Ranges for Intel VTune, by the library ittapi."""

    tool, library = "ITT", "ittapi"

    def _functions(self, library: Any) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        tasks: list[Any] = []

        def begin(name: str) -> None:
            tasks.append(library.task(name))
            tasks[-1].begin()

        return begin, lambda: tasks.pop().end()


class _ForwardingRecorder(Recorder):
    """A recorder that keeps nothing: it tells when an event begins and ends."""

    def __init__(self, push: Callable[[str], Any], pop: Callable[[], Any], record_shapes: bool) -> None:
        super().__init__(record_shapes=record_shapes)
        self.push, self.pop = push, pop

    def begin(self, name: str, scope: int = 0, is_user_annotation: bool = False) -> Any:
        event = super().begin(name, scope, is_user_annotation)
        self.events.clear()
        self.push(name)
        return event

    def end(self, event: Any) -> None:
        if event in self.here.open:
            self.pop()
        super().end(event)


__all__ = ["emit_itt", "emit_nvtx", "profile"]
