"""Small kernels that don't wait for each other are one."""

from __future__ import annotations

from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile.inductor.device_calls.split_for_device import split_for_device
from minitorch_compile.inductor.device_calls.steps_together import MOST_BUFFERS, with_steps_together
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall, whole
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.tensor.numerics.dtype import float32


def doubled(source: Buffer, name: str) -> Loop:
    target = Buffer.contiguous(name, source.sizes, float32)
    twice = lambda ops, at: ops.apply("mul", ops.load(source, source.address(at)), ops.constant(2.0, float32))
    return Loop(target, source.sizes, twice)


def planned(inputs: list[Buffer], operations: list[Any]) -> tuple[Schedule, Schedule]:
    graph = LoopGraph(inputs, operations, [whole(b) for o in operations for b in o.outputs])
    before = schedule(split_for_device(graph))
    return before, with_steps_together(before)


def test_many_counters_are_few_kernels_of_limited_size() -> None:
    inputs = [Buffer.contiguous(f"x{n}", (), float32) for n in range(100)]
    before, after = planned(inputs, [doubled(x, f"y{n}") for n, x in enumerate(inputs)])
    assert len(before.steps) == 100
    assert len(after.steps) == -(-100 // (MOST_BUFFERS // 2))
    assert {b for step in after.steps for b in step.outputs} == {b for step in before.steps for b in step.outputs}


def test_what_is_made_in_between_is_waited_for() -> None:
    x, w, z = (Buffer.contiguous(name, (8, 8), float32) for name in "xwz")
    first = doubled(x, "first")
    product = ExternCall("mm", [whole(first.buffer), whole(w)], [Buffer.contiguous("product", (8, 8), float32)])
    second, third = doubled(product.outputs[0], "second"), doubled(z, "third")
    _, after = planned([x, w, z], [first, product, second, third])
    assert [[b.name for b in step.outputs] for step in after.steps] == [["first"], ["product"], ["second", "third"]]


def test_other_sizes_and_many_points_stay_apart() -> None:
    sizes = [(7,), (8,), (1 << 20,), (1 << 20,)]
    inputs = [Buffer.contiguous(f"x{n}", size, float32) for n, size in enumerate(sizes)]
    before, after = planned(inputs, [doubled(x, f"y{n}") for n, x in enumerate(inputs)])
    assert len(after.steps) == len(before.steps) == 4


def test_sums_down_columns_of_two_arrays_are_one_kernel() -> None:
    def program(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.sum(0), y.sum(0) * 2, z.sum(1)

    arguments = [torch.randn(50, 36) for _ in range(3)]
    found = torch.compile(program)(*(x.cuda() for x in arguments))
    for one, other in zip(found, program(*arguments), strict=True):
        np.testing.assert_allclose(one.cpu().numpy(), other.numpy(), rtol=1e-5, atol=1e-5)
