"""The same loops as CUDA kernels: how many blocks of how many threads, why, and what each of them does.

It needs no GPU, since nothing is compiled.

>>> import minitorch_compile as torch
>>> from minitorch_compile.compiler.viewer.lowered import Lowered
>>> seen = torch.compiler.inspect(lambda x: x.exp() + 1, torch.ones(1000))
>>> heading, *lines = gpu_items(Lowered(seen.prim_stretches[0]))
>>> print(heading.label)
kernel 0, fused_add: 1 blocks of 256 threads; 4 x 4 neighbouring elements of i0 a thread at a time
>>> next(line for line in lines if "exp" in line.label).origins["graph"]
['exp']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from minitorch_compile.compiler.viewer.lowered import Lowered, with_names_of_nodes
from minitorch_compile.compiler.viewer.marked_lines import kernel_lines
from minitorch_compile.compiler.viewer.report import Item
from minitorch_compile.inductor.codegen.cuda.kernels import write_cuda_kernel
from minitorch_compile.inductor.codegen.cuda.program import DEVICE_LAUNCH, blocks_for
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import ScheduleStep, call_of
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.inductor.targets import find_target


def gpu_items(view: Lowered) -> Iterator[Item]:
    """For each kernel a heading with its launch, then its lines, unless one before has the same; what is no kernel has
    a heading only."""
    scheduled = schedule(view.loops)
    shown: dict[str, str] = {}  # the structure of a kernel -> the first that has it
    for number, step in enumerate(scheduled.steps):
        nodes = view.nodes_of_step(step)
        name, title = f"{view.number}gpu{number}", f"kernel {view.number}{number}"
        kernel = kernel_of(step, scheduled.internal, view, nodes)
        if kernel is None:
            what = "has no CUDA kernel" if isinstance(step, Group) else f"{call_of(step).kernel}, by a library"
            yield Item(name, f"{title}: {what}", "heading", place=view.place(nodes), origins=view.origins(nodes))
            continue
        launch = f"{blocks_for(kernel, *DEVICE_LAUNCH)} blocks of {DEVICE_LAUNCH[0]} threads; {kernel.reason}"
        first = shown.setdefault(kernel.structure, title)
        heading = f"{title}, {kernel.title}: {launch}{'' if first == title else f'; as {first}'}"
        yield Item(name, heading, "heading", place=view.place(nodes), origins=view.origins(nodes))
        for line, (text, found) in enumerate(kernel_lines(kernel.body.split("\n")) if first == title else ()):
            yield Item(f"{name}.{line}", f"    {text}", place=view.place(found), origins=view.origins(found))


def kernel_of(
    step: ScheduleStep, internal: frozenset[Buffer], view: Lowered, nodes: Sequence[str]
) -> KernelSource | None:
    """The CUDA kernel of a step, with marks; None for what a library computes, and for what has none."""
    prims = {getattr(view.nodes[name].target, "name", "") for name in nodes}
    if not isinstance(step, Group) or not step.is_fusible or prims & missing_on_gpu():
        return None
    with with_names_of_nodes():
        return write_cuda_kernel(step, internal, DEVICE_LAUNCH[0])


def missing_on_gpu() -> frozenset[str]:
    """The prims that CUDA kernels can't compute."""
    return frozenset(find_target("cuda_sim").missing)
