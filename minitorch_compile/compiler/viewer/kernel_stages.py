"""Loops, schedule and its reasons, generated source, memory and threads as stages.

>>> import minitorch_compile as torch
>>> seen = torch.compiler.inspect(lambda x: (x.exp() + 1).sum(), torch.ones(4))
>>> loops, *_ = kernel_stages(seen.prim_stretches, seen.source)
>>> for item in loops.items:
...     print(f"{item.label:32} {item.origins.get('graph')}")                           # doctest: +ELLIPSIS
buf0: float32[]                  ['exp', 'add', 'sum_1']
reduce r0 in 4:                  None
    t0 = load(arg_x, r0)         ['exp']
    t1 = exp(t0)                 ['exp']
...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from minitorch_compile.compiler.viewer.charts import memory_chart, threads_chart
from minitorch_compile.compiler.viewer.gpu_lines import gpu_items
from minitorch_compile.compiler.viewer.lowered import Lowered, operations_of
from minitorch_compile.compiler.viewer.report import Item, Stage, merged
from minitorch_compile.compiler.viewer.source_lines import source_items
from minitorch_compile.fx import GraphModule
from minitorch_compile.inductor.schedule.drawing import draw_schedule
from minitorch_compile.inductor.schedule.schedule import ScheduleStep
from minitorch_compile.inductor.schedule.text import describe_line


def kernel_stages(stretches: Sequence[GraphModule], source: str, prefix: str = "", half: str = "") -> list[Stage]:
    """The stages of one half of a graph: half is "" for the forward one, "backward" for the other."""
    views = [Lowered(graph, prefix, f"{number}." if number else "") for number, graph in enumerate(stretches)]
    key = lambda stage: f"{prefix}{stage}{half and '_' + half}"
    title = lambda text: f"{text}{half and ', ' + half}"
    moved = sum(view.schedule.bytes_moved for view in views)
    kernels = f"{sum(view.schedule.kernel_count for view in views)} kernels, {moved:,} bytes moved"
    block = sum(view.writer.plan.total for view in views)
    apart = sum(view.writer.plan.without_sharing for view in views)
    each = lambda items: [item for view in views for item in items(view)]
    return [
        Stage(key("loops"), title("loops"), "text", each(loop_items), "what is computed at one position"),
        Stage(key("schedule"), title("schedule"), "graph", each(lambda v: schedule_items(v, key("loops"))), kernels),
        Stage(key("reasons"), title("kernels, and why not one"), "text", each(lambda v: reasons(v, key)), kernels),
        Stage(key("source"), title("kernel source"), "text", source_items(source, views, key), "the generated file"),
        Stage(
            key("memory"),
            title("memory over time"),
            "chart",
            each(lambda v: memory_chart(v, key("loops"))),
            f"steps from left to right, addresses upwards: one block of {block:,} bytes, instead of {apart:,}",
        ),
        Stage(
            key("threads"),
            title("threads"),
            "chart",
            each(lambda v: threads_chart(v, key("reasons"))),
            "the pieces into which each kernel's range is cut; threads take one after the other",
        ),
        Stage(
            key("gpu"), title("threads and blocks of a GPU"), "text", each(gpu_items), "the same loops as CUDA kernels"
        ),
    ]


def loop_items(view: Lowered) -> Iterator[Item]:
    """For each operation a heading with what it fills, then its lines."""
    for operation in view.loops.operations:
        every = view.nodes_of(operation)
        name = view.number + operation.outputs[0].name
        heading = ", ".join(map(repr, operation.outputs))
        yield Item(name, heading, "heading", place=view.place(every), origins=view.origins(every))
        for number, (line, nodes) in enumerate(view.lines_of(operation)):
            yield Item(f"{name}.{number}", line, place=view.place(nodes), origins=view.origins(nodes))


def schedule_items(view: Lowered, loops: str) -> Iterator[Item]:
    """The boxes of the schedule's drawing, in frames that say what a kernel moves, in those of the modules."""
    drawing = draw_schedule(view.schedule)
    reads: dict[str, list[str]] = {}
    for arrow in drawing.arrows:
        reads.setdefault(arrow.target, []).append(view.number + arrow.source)
    nodes = {
        o.name: view.nodes_of(op) for step in view.schedule.steps for op in operations_of(step) for o in op.outputs
    }
    frames = {
        box.id: (*module_of(view, step), f"{view.number}{cluster.label} moves {traffic:,} bytes")
        for step, cluster, traffic in zip(view.schedule.steps, drawing.clusters, view.file.traffic)
        for box in cluster.all_boxes()
    }
    for box in drawing.all_boxes():
        about = [view.inputs[box.id]] if box.id in view.inputs else nodes.get(box.id, [])
        item = Item(view.number + box.id, box.label, box.kind, box.detail, box.tooltip, view.place(about))
        item.module = frames.get(box.id, ())
        item.reads = reads.get(box.id, [])
        item.origins = merged([view.origins(about), {loops: [item.name]}])
        yield item


def module_of(view: Lowered, step: ScheduleStep) -> tuple[str, ...]:
    """The module that a kernel finishes, as far as `blocks.3`: many a kernel begins in the one before."""
    nodes = view.nodes_of_step(step)
    path = view.nodes[nodes[-1]].meta.get("module", "") if nodes else ""
    return tuple(filter(None, path.split(".")))[:2]


def reasons(view: Lowered, key: Callable[[str], str]) -> Iterator[Item]:
    """A line for each kernel, then one for each pair that is not a single kernel."""
    for number, step in enumerate(view.schedule.steps):
        nodes = view.nodes_of_step(step)
        buffers = [view.number + buffer.name for buffer in step.outputs]
        origins = merged([view.origins(nodes), {key("loops"): buffers, key("schedule"): buffers}])
        text = (
            f"kernel {view.number}{number}: {view.file.traffic[number]:,} bytes  {describe_line(step, view.schedule)}"
        )
        yield Item(f"{view.number}kernel{number}", text, place=view.place(nodes), origins=origins)
    for number, edge in enumerate(view.schedule.why_not):
        ends = {key("loops"): [view.number + edge.producer, view.number + edge.consumer]}
        yield Item(f"{view.number}edge{number}", f"not one: {edge}", "comment", origins=ends)
