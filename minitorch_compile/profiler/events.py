"""What a profiler recorded: events with their times, and averages over those of one name.

>>> outer, inner = FunctionEvent("outer", 0, thread=1), FunctionEvent("inner", 1, thread=1)
>>> outer.time_range, inner.time_range = Interval(0.0, 10.0), Interval(2.0, 5.0)
>>> outer.append_cpu_child(inner)
>>> EventList([outer, inner]).key_averages()
[<FunctionEventAvg key=outer self_cpu_time=7.000us cpu_time=10.000us ...>, <FunctionEventAvg key=inner ...>]
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from minitorch_compile.profiler import chrome_trace, table
from minitorch_compile.profiler.table import formatted_time


class DeviceType(Enum):
    """Where something ran."""

    CPU = 0
    CUDA = 1


class Interval(NamedTuple):
    """From when to when, in microseconds since the profiler began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it took."""
        return self.end - self.start


class FormattedTimes:
    """Times as text, for events and averages alike."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    device_time_total = 0.0
    self_device_time_total = 0.0
    device_memory_usage = 0
    self_device_memory_usage = 0

    @property
    def cpu_time(self) -> float:
        """Microseconds of one call, with what it calls."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Microseconds on another device: none."""
        return 0.0

    @property
    def cpu_time_str(self) -> str:
        return formatted_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        return formatted_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        return formatted_time(self.self_cpu_time_total)

    @property
    def device_time_str(self) -> str:
        return formatted_time(self.device_time)

    @property
    def self_device_time_total_str(self) -> str:
        return formatted_time(self.self_device_time_total)


class FunctionEvent(FormattedTimes):
    """One call of something. `cpu_memory_usage`: the bytes it allocated less those it freed; `details`: what else is
    known, such as the bytes that a kernel moves."""

    count = 1
    node_id = -1
    is_async = is_remote = is_legacy = False
    use_device: str | None = None
    device_type = DeviceType.CPU
    overload_name = ""

    def __init__(self, name: str, id: int, thread: int, scope: int = 0, is_user_annotation: bool = False) -> None:
        self.id, self.name, self.trace_name, self.thread, self.scope = id, name, name, thread, scope
        self.is_user_annotation = is_user_annotation
        self.time_range = Interval(0.0, 0.0)
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.input_shapes: list[Any] = []
        self.concrete_inputs: list[Any] = []
        self.kernels: list[Any] = []
        self.stack: list[str] = []
        self.cpu_memory_usage = 0
        self.flops = 0
        self.sequence_nr = -1
        self.fwd_thread: int | None = None
        self.category = "user_annotation" if is_user_annotation else "cpu_op"
        self.details: dict[str, Any] = {}

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Makes another event one that happened within this one."""
        self.cpu_children.append(child)
        child.cpu_parent = self

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """The event within which this one happened."""
        self.cpu_parent = parent

    @property
    def key(self) -> str:
        """What averages group it by."""
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Without what it calls."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Without what it calls."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        start, end = self.time_range
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name= device_type={self.device_type}"
            f" node_id={self.node_id} cpu_time={self.cpu_time_str} start_us={start:.3f} end_us={end:.3f}"
            f" cpu_children={[child.id for child in self.cpu_children]} thread={self.thread}"
            f" input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} is_async=False"
            f" is_remote=False seq_nr={self.sequence_nr} is_legacy=False>"
        )


class FunctionEventAvg(FormattedTimes):
    """The sum over events of one key; `cpu_time` is their average."""

    use_device: str | None = None
    device_type = DeviceType.CPU

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = self.flops = self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.input_shapes: Any = None
        self.overload_name = ""
        self.stack: list[str] = []
        self.scope = 0
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.is_user_annotation = self.is_async = self.is_remote = self.is_legacy = False
        self.bytes_moved = 0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Takes one more event, or the sum of several. Returns itself."""
        if self.key is None:
            self.key, self.scope, self.is_user_annotation = other.key, other.scope, other.is_user_annotation
            self.input_shapes, self.stack = other.input_shapes, other.stack
            self.cpu_children, self.cpu_parent = other.cpu_children, other.cpu_parent
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self.count += other.count
        self.flops += other.flops
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.bytes_moved += other.details.get("bytes", 0) if isinstance(other, FunctionEvent) else other.bytes_moved
        return self

    __iadd__ = add

    @property
    def gigabytes_per_second(self) -> float:
        """What kernels of this name read and wrote, by the time they took; 0 for what isn't a kernel."""
        return self.bytes_moved / self.self_cpu_time_total / 1e3 if self.self_cpu_time_total else 0.0

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str}"
            f" cpu_time={self.cpu_time_str}  self_cuda_time={self.self_device_time_total_str}"
            f" cuda_time={self.device_time_str} input_shapes={self.input_shapes}"
            f" cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage={self.device_memory_usage}>"
        )


class EventList(list[Any]):
    """Events, or averages, as a list that can be shown as a table and written to files."""

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False) -> None:
        super().__init__(events)
        self._profile_memory, self._with_flops = profile_memory, with_flops

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all."""
        return float(sum(event.self_cpu_time_total for event in self))

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as text, a row for each. `sort_by` is an attribute such as "cpu_time_total"."""
        widths = table.Widths(max_name_column_width, max_src_column_width, max_shapes_column_width)
        shown = [e for e in self if e.cpu_parent is None] if top_level_events_only else list(self)
        columns = table.Columns(self._profile_memory, self._with_flops, time_unit, top_level_events_only)
        return table.build(self, shown, columns, widths, sort_by, row_limit, header)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """One entry for each name; for each combination of sizes, if asked for, and of the innermost n callers."""
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key: tuple[Any, ...] = (event.key, event.is_user_annotation)
            key += (str(event.input_shapes),) if group_by_input_shapes else ()
            key += tuple(event.stack[:group_by_stack_n])
            groups.setdefault(key, FunctionEventAvg()).add(event)
        averages = EventList(groups.values(), profile_memory=self._profile_memory, with_flops=self._with_flops)
        for average in averages:
            average.stack = average.stack[:group_by_stack_n]
            average.input_shapes = average.input_shapes if group_by_input_shapes else ""
        return averages

    def total_average(self) -> FunctionEventAvg:
        """The sum over all."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None
            total += event
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: Any) -> None:
        """Writes the events as JSON that chrome://tracing and Perfetto show."""
        chrome_trace.write(Path(path), list(self))

    def export_stacks(self, path: Any, metric: str) -> None:
        """Writes a line for each event with a stack: the callers, outermost first, and the metric."""
        allowed = ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]
        if metric not in allowed:
            raise ValueError(f"metric should be one of: {allowed}")
        spaces = str.maketrans(" ;\t\n", "____")
        lines = []
        for event in self:
            value = int(event.self_cpu_time_total) if metric == allowed[0] else 0  # there is no other device
            if event.stack and value > 0:
                lines.append(f"{';'.join(entry.translate(spaces) for entry in reversed(event.stack))} {value}\n")
        Path(path).write_text("".join(lines), encoding="utf-8")
