"""Events as a table: PyTorch's columns, widths and units.

>>> formatted_time(12.3456), formatted_time(12345.6), formatted_time(2.5e6), formatted_time(12.3456, "ms")
('12.346us', '12.346ms', '2.500s', '0.012ms')
>>> formatted_memory(48), formatted_memory(-2048), formatted_memory(5 << 20)
('48 B', '-2.00 KB', '5.00 MB')
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from minitorch_compile.profiler.events import EventList

COLUMN, SPACE = 12, 2
UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}
FLOP_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


class Widths(NamedTuple):
    """How wide the columns with text may become."""

    name: int = 55
    source: int = 75
    shapes: int = 80


class Columns(NamedTuple):
    """Which columns there are besides those of time, in which unit times are, and whether all events are outermost."""

    memory: bool = False
    flops: bool = False
    time_unit: str | None = None
    top_level: bool = False


def formatted_time(microseconds: float, unit: str | None = None) -> str:
    """A time as text, in the unit that suits it or the one asked for."""
    if unit is None:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    return f"{microseconds / UNITS[unit]:.3f}{unit}"


def formatted_memory(count: int) -> str:
    """A number of bytes as text."""
    for power, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
        if abs(count) >= 1 << power:
            return f"{count / (1 << power):.2f} {unit}"
    return f"{count} B"


def _share(part: float, whole: float) -> str:
    if whole == 0:
        return "NaN" if part else "0.00%"
    return f"{100 * part / whole:.2f}%"


def build(
    events: EventList,
    shown: Sequence[Any],
    columns: Columns,
    widths: Widths,
    sort_by: str | None,
    row_limit: int,
    header: str | None,
) -> str:
    """The table of `shown`, with shares of the time of all `events`."""
    if not events:
        return ""
    if sort_by is not None:
        key = re.sub("cuda|xpu|privateuse1", "device", sort_by)  # PyTorch's older names
        shown = sorted(shown, key=lambda event: getattr(event, key), reverse=True)
    total = events.self_cpu_time_total
    kernels = any(getattr(event, "bytes_moved", 0) for event in events)
    scale, flops_title = _flop_unit(events) if columns.flops else (1.0, "")
    heads = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    heads += ["CPU Mem", "Self CPU Mem"] if columns.memory else []
    heads += ["# of Calls"]
    wide = {"Name": _width((event.key for event in events), widths.name)}
    if any(event.input_shapes for event in events):
        heads.append("Input Shapes")
        wide["Input Shapes"] = _width((str(event.input_shapes) for event in events), widths.shapes)
    stacks = any(event.stack for event in events)
    if stacks:
        heads.append("Source Location")
        wide["Source Location"] = _width((entry for event in events for entry in event.stack), widths.source)
    heads += [flops_title] if columns.flops else []
    heads += ["Bytes", "GB/s"] if kernels else []
    sizes = [wide.get(head, COLUMN) for head in heads]
    left = heads.index("Source Location") if stacks else -1
    rule = _row(["-" * size for size in sizes], sizes)
    lines = []
    for title in (header, "This report only display top-level ops statistics" if columns.top_level else None):
        lines += ["=" * (sum(sizes) + SPACE * (len(sizes) - 1)), title] if title is not None else []
    lines += [rule, _row(heads, sizes, left), rule]
    for event in [e for e in shown if e.key][: row_limit if row_limit >= 0 else None]:
        cells = [_shortened(event.key, widths.name), *_times(event, total, columns.time_unit)]
        if columns.memory:
            cells += [formatted_memory(event.cpu_memory_usage), formatted_memory(event.self_cpu_memory_usage)]
        cells.append(str(event.count))
        if "Input Shapes" in wide:
            cells.append(_shortened(str(event.input_shapes), widths.shapes))
        if stacks:
            cells.append(_end_of(event.stack[0], widths.source) if event.stack else "")
        if columns.flops:
            cells.append(f"{event.flops * scale:.3f}" if event.flops > 0 else "--")
        if kernels:
            moved = event.bytes_moved
            cells += [formatted_memory(moved), f"{event.gigabytes_per_second:.1f}"] if moved else ["--", "--"]
        lines.append(_row(cells, sizes, left))
        for entry in [*event.stack[1:], ""] if stacks else ():
            blank = [""] * len(sizes)
            blank[left] = _end_of(entry, widths.source)
            lines.append(_row(blank, sizes, left))
    lines += [rule, f"Self CPU time total: {formatted_time(total, columns.time_unit)}"]
    return "\n".join(lines) + "\n"


def _times(event: Any, total: float, unit: str | None) -> list[str]:
    own, whole = event.self_cpu_time_total, event.cpu_time_total
    texts = [_share(own, total), formatted_time(own, unit), _share(whole, total), formatted_time(whole, unit)]
    return [*texts, formatted_time(event.cpu_time, unit)]


def _flop_unit(events: Sequence[Any]) -> tuple[float, str]:
    """The factor and the title of the column, by the smallest number in it."""
    counts = [event.flops for event in events if event.flops > 0]
    if not counts:
        return 1.0, "Total FLOPs"
    power = min(max(0, int(math.log10(min(counts)) // 3)), len(FLOP_UNITS) - 1)
    return 1000.0**-power, f"Total {FLOP_UNITS[power]}"


def _width(texts: Any, limit: int) -> int:
    return min(max((len(text) for text in texts), default=0) + 4, limit)


def _row(cells: Sequence[str], sizes: Sequence[int], left: int = -1) -> str:
    """Cells one beside the other; all end at the right edge of their columns but the one at `left`."""
    aligned = (f"{cell:{'<' if i == left else '>'}{size}}" for i, (cell, size) in enumerate(zip(cells, sizes)))
    return "".join(text + " " * SPACE for text in aligned)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) < limit else text[: limit - 3] + "..."


def _end_of(path: str, limit: int) -> str:
    """The last part of a place in a file, from a folder's name on."""
    if len(path) <= limit:
        return path
    rest = path[len(path) - limit :]
    return "..." + rest[max(3, rest.find("/")) :]
