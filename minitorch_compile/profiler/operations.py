"""The probes of operations: each call that goes through the dispatcher's door, or a composite op's, is an event.

>>> from minitorch_compile import ones
>>> from minitorch_compile.profiler import profile
>>> with profile(record_shapes=True, profile_memory=True) as recorded:
...     x = ones(2, 3).exp()
>>> [(e.name, e.input_shapes, e.cpu_memory_usage) for e in recorded.events()][-2]
('aten::exp', [[2, 3]], 24)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.profiler.events import FunctionEvent
from minitorch_compile.profiler.flops import flops_of
from minitorch_compile.profiler.probes import PROBES
from minitorch_compile.profiler.recorder import Recorder
from minitorch_compile.tensor.functions import before_calls
from minitorch_compile.tensor.tensor_base import TensorBase


def name_of(op: Any) -> str:
    """What PyTorch calls the op in a profile."""
    return f"aten::{op.name.removeprefix('F.')}"


def shapes_of(args: tuple[Any, ...]) -> list[Any]:
    """The sizes of the tensors among the arguments; of numbers, which have none, an empty list."""
    return [
        list(x.sizes) if isinstance(x, TensorBase) else shapes_of(tuple(x)) if _has_tensors(x) else [] for x in args
    ]


def _has_tensors(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(x, TensorBase) for x in value)


def _install(recorder: Recorder) -> Callable[[], None]:
    """Makes each call an event."""

    def noted(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Callable[..., Any]) -> Any:
        if recorder.is_quiet:
            return call(*args, **kwargs)
        if recorder.profile_memory:
            recorder.watch(args, count=False)
        event: FunctionEvent = recorder.begin(name_of(op))
        if recorder.record_shapes:
            event.input_shapes = shapes_of((*args, *kwargs.values()))
            event.concrete_inputs = [[] if isinstance(x, (TensorBase, list, tuple)) else x for x in args]
        if recorder.with_flops:
            event.flops = flops_of(name_of(op).removeprefix("aten::"), args)
        try:
            result = call(*args, **kwargs)
            if recorder.profile_memory:
                recorder.watch(result if isinstance(result, tuple) else (result,), count=True)
            return result
        finally:
            recorder.end(event)

    before_calls.enter(noted, before_calls.PROFILER)
    return lambda: before_calls.leave(noted)


PROBES.append(_install)
