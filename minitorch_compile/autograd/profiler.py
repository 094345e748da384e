"""torch.autograd.profiler, and what a backward pass shows of itself: an event for each node.

>>> from minitorch_compile import ones
>>> x = ones(2, requires_grad=True)
>>> with profile() as recorded:
...     (x * x).sum().backward()
>>> [event.name for event in recorded.function_events if "Backward0" in event.name]
['autograd::engine::evaluate_function: SumBackward0', 'SumBackward0',
 'autograd::engine::evaluate_function: MulBackward0', 'MulBackward0']
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd.engine import BackwardPass
from minitorch_compile.profiler.events import DeviceType, EventList, FunctionEvent, FunctionEventAvg, Interval
from minitorch_compile.profiler.legacy import emit_itt, emit_nvtx, profile
from minitorch_compile.profiler.probes import register_probe
from minitorch_compile.profiler.record_function import record_function
from minitorch_compile.profiler.recorder import Recorder
from minitorch_compile.profiler.schedule import ProfilerActivity

BACKWARD = 1  # PyTorch's number for the scope of a backward function


def _nodes_shown(visit: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    @functools.wraps(visit)
    def visited(walk: BackwardPass, node: Any, grads: list[Any]) -> None:
        if recorder.is_quiet:
            visit(walk, node, grads)
            return
        name = node.name()
        name = f"torch::autograd::{name}" if name == "AccumulateGrad" else name
        with recorder.event(f"autograd::engine::evaluate_function: {name}"):
            with recorder.event(name, scope=BACKWARD) as event:
                event.sequence_nr = node.number
                visit(walk, node, grads)

    return visited


register_probe(BackwardPass, "visit", _nodes_shown)

__all__ = [
    "DeviceType",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "ProfilerActivity",
    "emit_itt",
    "emit_nvtx",
    "profile",
    "record_function",
]
