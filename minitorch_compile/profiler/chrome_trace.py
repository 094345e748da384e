"""Events as JSON in the trace event format, which chrome://tracing and Perfetto show.

>>> from minitorch_compile.profiler.events import FunctionEvent, Interval
>>> event = FunctionEvent("aten::add", 1, thread=1)
>>> event.time_range = Interval(2.0, 5.0)
>>> as_json([event])["traceEvents"][-1]["dur"]
3.0

Source: the "Trace Event Format" document of Chrome's developers; PyTorch's categories.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write(path: Path, events: Sequence[Any], metadata: Mapping[str, Any] | None = None) -> None:
    """Writes the file, compressed if its name ends in .gz."""
    text = json.dumps(as_json(events, metadata) | {"traceName": str(path)})
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def as_json(events: Sequence[Any], metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The object that is written: one row a thread, an entry an event."""
    process = os.getpid()
    name = os.path.basename(sys.executable)
    rows: list[dict[str, Any]] = [_label(process, 0, "process_name", name=name)]
    rows.append(_label(process, 0, "process_labels", labels="CPU"))
    rows += [
        _label(process, thread, "thread_name", name=f"thread {thread} ({name})")
        for thread in sorted({event.thread for event in events})
    ]
    rows += [_entry(process, number, event) for number, event in enumerate(events)]
    return {
        "schemaVersion": 1,
        "deviceProperties": [],
        "trace_id": uuid.uuid4().hex.upper(),
        "host_name": socket.gethostname(),
        **(metadata or {}),
        "displayTimeUnit": "ms",
        "traceEvents": rows,
    }


def _label(process: int, thread: int, kind: str, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "ts": 0.0, "pid": process, "tid": thread, "args": args}


def _entry(process: int, number: int, event: Any) -> dict[str, Any]:
    args: dict[str, Any] = {"External id": event.id, "Ev Idx": number}
    if event.sequence_nr >= 0:
        args["Sequence number"] = event.sequence_nr
    if event.input_shapes:
        args["Input Dims"] = event.input_shapes
    if event.stack:
        args["Call stack"] = ";".join(event.stack)
    start = event.time_range.start
    return {
        "ph": "X",
        "cat": event.category,
        "name": event.trace_name,
        "pid": process,
        "tid": event.thread,
        "ts": round(start, 3),
        "dur": round(event.time_range.elapsed_us(), 3),
        "args": args | event.details,
    }
