"""The stages of a compilation, as a profile shows them.

>>> import minitorch_compile as torch
>>> with torch.profiler.profile() as recorded:
...     _ = torch.compile(lambda x: x.exp().sum())(torch.ones(5))
>>> [event.name for event in recorded.events() if event.category == "compiler"][:4]
['torch.compile: <lambda>', 'torch.compile: backend', 'torch.compile: differentiating', 'torch.compile: decomposing']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.compiler import pipeline
from minitorch_compile.dynamo.cache import profiled_versions  # noqa: F401 (registers its probes)
from minitorch_compile.dynamo.cache.slots import slots
from minitorch_compile.profiler.probes import register_on_start, register_probe, register_stage
from minitorch_compile.profiler.recorder import Recorder

Call = Callable[..., Any]


def _loading(load: Call, recorder: Recorder) -> Call:
    """The event of machine code that is made or found says which it was."""
    from minitorch_compile.inductor.runtime import code_cache

    def loaded(source: str) -> Any:
        with recorder.stage("torch.compile: machine code") as event:
            event.details["file"] = "in memory" if code_cache.cache_key(source) in code_cache._loaded else "loaded"
            return load(source)

    return loaded


def _finding(find: Call, recorder: Recorder) -> Call:
    """A look for a kernel's machine code on disk is counted by its outcome."""

    def found(*args: Any) -> Any:
        address = find(*args)
        if recorder.here.open:
            details = recorder.here.open[-1].details
            outcome = "kernels compiled" if address is None else "kernels from disk"
            details[outcome] = details.get(outcome, 0) + 1
        return address

    return found


STAGES = (  # module, name, and what is done there
    ("dynamo.compile_frame", "call_backend", "backend"),
    ("inductor.compile_graph", "lower", "lowering"),
    ("inductor.schedule.cpu_schedule", "cpu_schedule", "scheduling"),
    ("inductor.codegen.cpu.wrapper", "write_file", "writing"),
)

register_stage(slots, "compile_frame", lambda function, *_: f"torch.compile: {function.__qualname__}")
register_stage(pipeline, "aot_function", "torch.compile: differentiating")
register_stage(pipeline.Inductor, "decompose", "torch.compile: decomposing")
register_stage(pipeline.Inductor, "partition", "torch.compile: partitioning")
register_stage(pipeline.Inductor, "compile_backward", "torch.compile: backward graph")
for _module, _name, _stage in STAGES:
    register_stage(f"minitorch_compile.{_module}", _name, f"torch.compile: {_stage}")
register_on_start("minitorch_compile.inductor.runtime.profiled_call")
register_probe("minitorch_compile.inductor.runtime.code_cache", "load", _loading)
register_probe("minitorch_compile.inductor.runtime.object_store", "find", _finding)
