"""All stages of one inspection, in the order in which a program passes them.

>>> import minitorch_compile as torch
>>> seen = torch.compiler.inspect(lambda x: x.exp().sum(), torch.ones(4, requires_grad=True))
>>> for stage in report_of(seen).stages:
...     print(stage.form, stage.title)
text your lines
text bytecode of <lambda>
graph captured graph
text guards
graph guards, by what they look at
graph frames and breaks
graph cache versions
graph joint graph of ops
text passes, before and after
graph joint graph of prims, with its cut
graph forward graph
graph backward graph
text loops
graph schedule
text kernels, and why not one
text kernel source
chart threads
text threads and blocks of a GPU
text loops, backward
graph schedule, backward
text kernels, and why not one, backward
text kernel source, backward
chart threads, backward
text threads and blocks of a GPU, backward
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from minitorch_compile.compiler.viewer.capture_stages import (
    breaks_stage,
    code_stage,
    guard_tree_stage,
    guards_stage,
    lines_stage,
    versions_stage,
)
from minitorch_compile.compiler.viewer.graph_stages import graph_stage, kinds_in_cut, passes_stage
from minitorch_compile.compiler.viewer.kernel_stages import kernel_stages
from minitorch_compile.compiler.viewer.report import Report, Stage
from minitorch_compile.fx.kinds import kind_of

if TYPE_CHECKING:
    from minitorch_compile.compiler.inspection import Inspection, StageView


def report_of(seen: Inspection) -> Report:
    """The data behind the page."""
    stages = [*captured(seen)]
    for number, view in enumerate(seen.graphs):
        stages += stages_of(view, prefix_of(number))
    return Report(seen.name or "compilation", stages)


def prefix_of(number: int) -> str:
    """What the keys of the stages of a graph begin with: nothing for the first."""
    return f"{number + 1}." if number else ""


def captured(seen: Inspection) -> Iterator[Stage]:
    """What led to the graphs, frame by frame."""
    yield lines_stage(view.graph for view in seen.graphs)
    prefixes = {id(view.graph.graph): prefix_of(number) for number, view in enumerate(seen.graphs)}
    views = {prefix_of(number): view for number, view in enumerate(seen.graphs)}
    for number, frame in enumerate(seen.explanation.frames):
        module = frame.entry.graph_module
        prefix = prefixes.get(id(module.graph), f"frame{number}.") if module is not None else f"frame{number}."
        yield code_stage(f"{prefix}code", frame)
        if prefix in views:
            yield graph_stage("graph", f"{prefix}captured graph", views[prefix].graph, prefix=prefix)
        guards = list(frame.entry.guards)
        yield guards_stage(f"{prefix}guards", guards, module, f"{prefix}graph")
        yield guard_tree_stage(f"{prefix}guard_tree", guards, f"{prefix}guards")
    yield breaks_stage(seen.explanation.frames)
    yield versions_stage(seen.versions)


def stages_of(view: StageView, prefix: str) -> Iterator[Stage]:
    """What became of one captured graph."""
    joint = "joint graph" if view.joint_graph is not None else "functional graph"
    if view.op_graph is not None:
        yield graph_stage("ops", f"{prefix}{joint} of ops", view.op_graph, prefix=prefix)
    yield passes_stage(view.passes, prefix)
    if view.prim_graph is not None:
        cut = view.partition is not None
        kinds = kinds_in_cut(view.partition) if view.partition is not None else kind_of
        title = f"{prefix}{joint} of prims" + (", with its cut" if cut else "")
        note = str(view.partition).split("\n")[0] if cut else ""
        yield graph_stage("prims", title, view.prim_graph, kinds, prefix, note)
    if view.forward_graph is not None:
        yield graph_stage("forward", f"{prefix}forward graph", view.forward_graph, prefix=prefix)
    if view.backward_graph is not None:
        yield graph_stage("backward", f"{prefix}backward graph", view.backward_graph, prefix=prefix)
    yield from kernel_stages(view.prim_stretches, view.source, prefix)
    yield from kernel_stages(view.backward_stretches, view.backward_source, prefix, "backward")
