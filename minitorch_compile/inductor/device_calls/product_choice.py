"""Which products of a graph take in what follows them: by a kernel of ours, or by cuBLASLt and a kernel behind it.

cuBLASLt multiplies faster; one kernel saves a launch, and memory that is written and read again. Which is more depends
on sizes and on the GPU: so under `mode="max-autotune"` both are timed, and the answer is kept on disk, as the CPU's are
(`tuning/autotune.py`). Without cuBLASLt there is nothing to choose: then products are ours anyway.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import ExternCall, whole
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float16
>>> x, w, product, out = (Buffer.contiguous(name, (64, 64), float16) for name in ("x", "w", "product", "out"))
>>> multiply = ExternCall("mm", [whole(x), whole(w)], [product])
>>> exp = Loop(out, (64, 64), lambda ops, at: ops.apply("exp", ops.load(product, product.address(at))))
>>> with_epilogues(LoopGraph([x, w], [multiply, exp], [whole(out)]), 300, lambda call: True).steps
[FusedCall(mm: product, then Group(i0:4096; stage 0: out), in blocks of 64 of 64)]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from minitorch_compile import logs
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.device_calls.device_limits import device_limits
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.product_launches import with_epilogues
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.inductor.schedule.step_graph import step_graph
from minitorch_compile.inductor.tuning.autotune import first_of_equals, table_of, timed
from minitorch_compile.inductor.tuning.autotune_cache import key_of, recall, remember, structure_of
from minitorch_compile.kernel_options import Options
from minitorch_compile.tensor import no_grad, randint, randn

ONE, TWO = "one kernel", "cuBLASLt and loops"
SHORTEST_TURN = 2e-3  # seconds that a candidate runs in each round
MOST_CALLS = 200

log = logs.artifact("perf_hints")

Make = Callable[[Schedule], Callable[[list[Any]], Any]]  # a schedule as a function of tensors on the device


def device_schedule(
    graph: LoopGraph, options: Options, libraries: Libraries, fastest: Callable[[Schedule, FusedCall], bool]
) -> Schedule:
    """The schedule of a graph for a GPU. `fastest(planned, step)`: whether a fused step is worth while."""
    operations, has_cores = options.max_fusion_size, libraries.has_tensor_cores
    if has_cores and libraries.products is None:
        return with_epilogues(graph, operations, lambda call: True)
    if not has_cores or not options.max_autotune:
        return schedule(graph, device_limits(operations=operations))
    planned = with_epilogues(graph, operations, lambda call: True)
    chosen = {step.result for step in planned.steps if isinstance(step, FusedCall) and fastest(planned, step)}
    return with_epilogues(graph, operations, lambda call: call.outputs[0] in chosen)


class EpilogueTimer:
    """Times both ways on a device."""

    def __init__(self, runtime: Runtime, index: int, options: Options, make: Make) -> None:
        self.runtime, self.index, self.options, self.make = runtime, index, options, make

    def __call__(self, planned: Schedule, step: FusedCall) -> bool:
        """Whether one kernel is at least as fast."""
        graph, names = step_graph(planned, step), [ONE, TWO]
        operations = self.options.max_fusion_size
        device = self.runtime.driver.properties(self.index).name
        key = key_of(f"{device}\n{structure_of(graph)}\n{names}", 0)
        known = recall(key, names)
        if known is None:
            schedules = {
                ONE: with_epilogues(graph, operations, lambda call: True),
                TWO: schedule(graph, device_limits(operations=operations)),
            }
            calls = {name: self.make(schedules[name]) for name in names}
            arguments = [self.example(buffer) for buffer in graph.inputs]
            counts = {name: self.calls_in_a_turn(call, arguments) for name, call in calls.items()}
            seconds = timed(names, lambda name: self.seconds(calls[name], arguments, counts[name]), None)
            remember(key, seconds)
        else:
            seconds = known
        if log.is_on:
            sizes = [" x ".join(map(str, view.sizes)) for view in step.call.inputs]
            title = (
                f"{step.call.kernel} of {sizes[0]} by {sizes[1]}, {step.result.dtype.name}, and what follows, {device}"
            )
            log(table_of(title, seconds, "timed" if known is None else "remembered"))
        return first_of_equals(names, seconds) == ONE

    def example(self, buffer: Buffer) -> Any:
        """Memory of random numbers: on zeros a GPU is faster than it will be."""
        with no_grad():
            whole = randn(buffer.length) if buffer.dtype.is_floating_point else randint(0, 2, (buffer.length,))
            moved = whole.to(buffer.dtype).to(self.runtime.devices[self.index])
            return moved.as_strided(buffer.sizes, buffer.strides)

    def calls_in_a_turn(self, call: Callable[..., Any], arguments: list[Any]) -> int:
        self.seconds(call, arguments, 1)  # the first loads the kernels
        return max(1, min(MOST_CALLS, round(SHORTEST_TURN / self.seconds(call, arguments, 1))))

    def seconds(self, call: Callable[..., Any], arguments: list[Any], count: int) -> float:
        """How long one of so many calls takes."""
        self.runtime.driver.synchronize_device(self.index)
        start = time.perf_counter()
        for _ in range(count):
            call(arguments)
        self.runtime.driver.synchronize_device(self.index)
        return (time.perf_counter() - start) / count
