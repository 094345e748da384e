"""A profile as a picture: time goes to the right, and what is called lies below what called it.

>>> from minitorch_compile import ones
>>> from minitorch_compile.profiler import profile
>>> timeline(profile(lambda x: x.exp())(ones(3)).events())[:4]
'<svg'
"""

from __future__ import annotations

import html
import zlib
from collections.abc import Sequence
from typing import Any

from minitorch_compile.profiler.table import formatted_time

WIDTH, ROW, GAP, HEAD = 960, 20, 2, 26
CHARACTER = 6.2  # the width of one, on average
SMALLEST = 0.4  # what is narrower can't be seen
COLORS = {"kernel": "#7fb77e", "compiler": "#e8b460", "user_annotation": "#b7a3d9", "guards": "#d98880"}
BLUES = ("#9ec5e8", "#8bb8e0", "#b3d1ec", "#a5c9dd")


def timeline(events: Sequence[Any]) -> str:
    """The events as an SVG element. Each thread has rows of its own; a box says more when pointed at."""
    if not events:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"></svg>'
    start = min(event.time_range.start for event in events)
    span = max(event.time_range.end for event in events) - start or 1.0
    depths = {id(event): _depth(event) for event in events}
    first_row, rows = {}, 0
    for thread in sorted({event.thread for event in events}):
        first_row[thread] = rows
        rows += 1 + max(depths[id(event)] for event in events if event.thread == thread)
    height = HEAD + rows * ROW
    boxes = []
    for event in events:
        x = (event.time_range.start - start) / span * WIDTH
        width = event.cpu_time_total / span * WIDTH
        if width >= SMALLEST:
            boxes.append(_box(event, x, HEAD + (first_row[event.thread] + depths[id(event)]) * ROW, width))
    ticks = "".join(_tick(n, span) for n in range(5))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        f' style="max-width: 100%; height: auto" font-family="Helvetica, Arial, sans-serif" font-size="11">'
        f"{ticks}{''.join(boxes)}</svg>"
    )


def _depth(event: Any) -> int:
    depth = 0
    while event.cpu_parent is not None:
        event, depth = event.cpu_parent, depth + 1
    return depth


def _box(event: Any, x: float, y: float, width: float) -> str:
    room = int((width - 6) / CHARACTER)
    label = (
        event.trace_name if len(event.trace_name) <= room else event.trace_name[: room - 1] + "…" if room > 3 else ""
    )
    told = [
        event.trace_name,
        formatted_time(event.cpu_time_total),
        *(f"{name}: {v}" for name, v in event.details.items()),
    ]
    color = COLORS.get(event.category) or BLUES[zlib.crc32(event.trace_name.encode()) % len(BLUES)]
    return (
        f'<g><title>{html.escape(chr(10).join(told))}</title><rect x="{x:.2f}" y="{y}" width="{width:.2f}"'
        f' height="{ROW - GAP}" rx="2" fill="{color}"/>'
        f'<text x="{x + 3:.2f}" y="{y + 13}">{html.escape(label)}</text></g>'
    )


def _tick(number: int, span: float) -> str:
    x = number * WIDTH / 5
    return (
        f'<line x1="{x}" y1="{HEAD - 8}" x2="{x}" y2="{HEAD - 2}" stroke="#888"/>'
        f'<text x="{x + 3}" y="{HEAD - 8}" fill="#888">{formatted_time(span * number / 5)}</text>'
    )
