"""A native call under the profiler: its steps run one by one, and each is an event with the bytes that it moves.

>>> import minitorch_compile as torch
>>> double = torch.compile(lambda x: x + x)
>>> x = torch.ones(1000)
>>> _ = double(x)
>>> with torch.profiler.profile() as recorded:
...     _ = double(x)
>>> [(e.name, e.details["bytes"]) for e in recorded.events() if e.category == "kernel"]
[('fused_add_0', 8000)]
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config

from minitorch_compile.inductor.runtime.call_steps import InTurns
from minitorch_compile.inductor.runtime.native_call import NativeCall
from minitorch_compile.profiler.probes import Probe
from minitorch_compile.profiler.recorder import Recorder

Steps = list[tuple[str, int, NativeCall]]  # of each step its name, the bytes that it moves, and a call that is only it

_steps: weakref.WeakKeyDictionary[NativeCall, Steps] = weakref.WeakKeyDictionary()


def steps_of(call: NativeCall) -> Steps:
    """The steps as calls of their own, which share the block of temporaries: it is an array that is passed to each."""
    if call not in _steps:
        tensors = call.tensors if "block" in call.tensors else (*call.tensors, "block")
        traffic = [*getattr(call, "traffic", ()), *[0] * len(call.steps)]
        _steps[call] = [
            (_name(step), moved, NativeCall(tensors, [step], 0, call.temporaries, call.scratch, call.blas))
            for step, moved in zip(call.steps, traffic)
        ]
    return _steps[call]


def _name(step: Any) -> str:
    """The names of the functions that a step calls."""
    functions = [kernel[0] for kernel in (step.kernels if isinstance(step, InTurns) else (step,))]
    return " + ".join(getattr(f, "python", f).__name__ for f in functions)


def _step_by_step(run: Callable[..., None], recorder: Recorder) -> Callable[..., None]:
    def profiled(call: NativeCall, arrays: tuple[np.ndarray, ...]) -> None:
        if "block" not in call.tensors:
            arrays = (*arrays, np.empty(call.block, np.uint8))
        for name, moved, step in steps_of(call):
            if not config.DISABLE_JIT:
                assert step.address  # made before the clock runs
            with recorder.event(name) as event:
                event.category = "kernel"
                event.details["bytes"] = moved
                run(step, arrays)

    return profiled


PROBE = Probe(NativeCall, "__call__", _step_by_step)
