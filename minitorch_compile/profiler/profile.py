"""torch.profiler.profile: records what a program does in some of its steps.

>>> from minitorch_compile import ones
>>> from minitorch_compile.profiler.schedule import schedule
>>> with profile(schedule=schedule(wait=1, warmup=1, active=1, repeat=1)) as recorded:
...     for _ in range(4):
...         _ = ones(2).exp()
...         recorded.step()
>>> [(average.key, average.count) for average in recorded.key_averages()]
[('ProfilerStep*', 1), ('aten::ones', 1), ('aten::full', 1), ('aten::exp', 1)]
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from minitorch_compile.profiler import chrome_trace, legacy
from minitorch_compile.profiler.events import EventList
from minitorch_compile.profiler.record_function import record_function
from minitorch_compile.profiler.schedule import ProfilerAction, ProfilerActivity, record_always
from minitorch_compile.profiler.timeline import timeline
from minitorch_compile.user_warnings import warn_user

RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class _KinetoProfile:
    """A profiler that is started and stopped by hand."""

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.activities = {ProfilerActivity.CPU} if activities is None else set(activities)
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        if execution_trace_observer is not None:
            raise NotImplementedError("profile: execution_trace_observer is not offered; leave it out")
        self.record_shapes, self.with_flops = record_shapes or with_flops, with_flops
        self.profile_memory, self.with_stack = profile_memory, with_stack
        self.with_modules, self.acc_events = with_modules, acc_events
        self.profiler: legacy.profile | None = None
        self.metadata: dict[str, Any] = {}
        self._earlier: list[Any] = []

    def start(self) -> None:
        """Begins to record."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """Ends it."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Makes ready for recording."""
        if self.acc_events and self.profiler is not None:
            self._earlier += self.profiler.function_events
        wants_cuda = ProfilerActivity.CUDA in self.activities
        self.profiler = legacy.profile(
            use_cpu=ProfilerActivity.CPU in self.activities,
            use_device="cuda" if wants_cuda else None,
            record_shapes=self.record_shapes,
            with_flops=self.with_flops,
            profile_memory=self.profile_memory,
            with_stack=self.with_stack,
            with_modules=self.with_modules,
        )

    def start_trace(self) -> None:
        """Begins to record, when all is ready."""
        self._known("starting the trace").__enter__()

    def stop_trace(self) -> None:
        """Ends it."""
        self._known("stopping the trace").__exit__(None, None, None)

    def _known(self, purpose: str) -> legacy.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {purpose}")
        return self.profiler

    def events(self) -> EventList:
        """What was recorded, in the order of beginnings."""
        latest = self._known("accessing events").function_events
        return EventList([*self._earlier, *latest], profile_memory=self.profile_memory, with_flops=self.with_flops)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The events added up by name; by sizes and by the innermost callers too, if asked for."""
        self._known("getting key averages")
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path: Any, use_python_export: bool = False) -> None:
        """Writes the events as JSON that Perfetto shows; compressed, if the name ends in .gz. It is always Python that
        writes it."""
        self._known("exporting chrome trace")
        chrome_trace.write(Path(path), self.events(), self.metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes callers and times, as flame graph tools read them. It needs with_stack=True."""
        self._known("exporting stacks")
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.events().export_stacks(path, metric)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Stops or goes on recording while the profiler runs."""
        recorder = self._known("toggling collection").recorder
        assert recorder is not None
        recorder.is_paused = not enable

    def add_metadata(self, key: str, value: str) -> None:
        """Puts a text into the exported file."""
        self.metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Puts what this JSON says into the exported file."""
        self.metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json


class profile(_KinetoProfile):
    """`with profile(...) as p:`. With a `schedule`, `p.step()` after each step says where the next begins, and
    `on_trace_ready(p)` is called after the last step of a cycle.

    `profile(function)(*args)` runs a function once and gives the profile, which draws its timeline in a notebook; what
    the function returned is `result`.
    """

    def __init__(
        self,
        function: Callable[..., Any] | None = None,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        super().__init__(
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            execution_trace_observer=execution_trace_observer,
            acc_events=acc_events,
        )
        if use_cuda:
            warn_user("CUDA is not available, disabling CUDA profiling")
        self.function, self.result = function, None
        self.schedule = schedule or record_always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.step_rec_fn: record_function | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> profile:
        """Runs the function and records it."""
        if self.function is None:
            raise TypeError("profile(): no function was given; profile(function)(*args) runs one")
        with self:
            self.result = self.function(*args, **kwargs)
        return self

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Begins, with step 0."""
        self._go(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """Ends. What was recorded until now is ready."""
        self._end_step()
        if self.current_action in RECORDING:
            self.stop_trace()
            self._trace_ready()

    def step(self) -> None:
        """The next step begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._go(before, self.current_action)
        self._begin_step()

    def _go(self, before: ProfilerAction, now: ProfilerAction) -> None:
        """From what was done in one step to what is done in the next."""
        if before is ProfilerAction.RECORD_AND_SAVE:
            self.stop_trace()
            self._trace_ready()
        elif before is ProfilerAction.RECORD and now not in RECORDING:
            warn_user(f"Incorrect schedule: RECORD followed by {now.name}")
            self.stop_trace()
        elif before in RECORDING:
            return
        if now in RECORDING:
            self.prepare_trace()
            self.start_trace()

    def _begin_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _trace_ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _repr_html_(self) -> str:
        """The timeline."""
        return timeline(self.events())


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """An `on_trace_ready` that writes each cycle into a file in this folder, named as TensorBoard expects it."""

    def handler(profiler: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        profiler.export_chrome_trace(os.path.join(dir_name, name))

    return handler
