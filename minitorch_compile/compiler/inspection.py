"""All stages of a compilation, to look at: `inspect(fn, *args)`.

The function is compiled apart from any compilation of the user's, called once, and differentiated once if its result
requires grad; what passes between the stages is kept. Gradients and the random stream are left as they were.

>>> import minitorch_compile as torch
>>> x = torch.ones(2, 3, requires_grad=True)
>>> seen = inspect(lambda x: (x.sin() * 2).sum(), x)
>>> print(seen.graph.graph.compact())
x -> ((x.sin() * 2).sum(),)
>>> print(seen.joint_graph.graph.compact())
x, tangents_0 -> (sum(mul(sin(x), 2)), mul(mul(expand(view(tangents_0, (1, 1)), (2, 3)), 2), cos(x)))
>>> seen.schedule.kernel_count, seen.backward_schedule.kernel_count
(1, 1)
>>> x.grad is None
True
>>> print(seen.memory)
arguments 24 bytes, results 4, temporaries 0 (0 if none shared memory), scratch 0 a thread
>>> print(seen.partition)
saves 1 tensors, 24 bytes, 24 of them arguments (without recomputation 24 bytes)
  x  f32[2, 3]  24 bytes, an argument

`seen.partition.draw()` shows the same as a picture: both passes, and the cut between them. `seen.save("report.html")`
writes everything to one page, on which a node can be followed through all stages; a notebook shows it below the cell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minitorch_compile import autograd
from minitorch_compile.aot import JointGraph, Partition
from minitorch_compile.aot.passes.pass_list import watchers
from minitorch_compile.compiler.fallback import with_fallbacks
from minitorch_compile.compiler.pipeline import Compiled, Inductor
from minitorch_compile.compiler.viewer.trails import mark
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.cache.region import Region
from minitorch_compile.dynamo.errors import GraphBreak
from minitorch_compile.dynamo.eval_frame import optimize_in, region_of
from minitorch_compile.dynamo.explaining.explain import ExplainOutput, report
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.resuming.resume import shown_name
from minitorch_compile.fx import GraphModule
from minitorch_compile.picture_files import save_form
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.source_place import source_place
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.random.generator import default_generator

Versions = list[tuple[str, list[Entry]]]

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cpu.wrapper import GeneratedFile
    from minitorch_compile.inductor.schedule.memory_report import MemoryReport
    from minitorch_compile.inductor.schedule.schedule import Schedule


@dataclass
class StageView:
    """What became of one captured graph. The backward entries are None if nothing requires grad."""

    graph: GraphModule  # as captured: one node for each call in the user's code
    joint_graph: GraphModule | None = None  # forward and backward together, in ops
    prim_graph: GraphModule | None = None  # the same in prims
    forward_graph: GraphModule | None = None  # the two halves, in prims
    backward_graph: GraphModule | None = None
    partition: Partition | None = None
    schedule: Schedule | None = None  # which loops became one kernel
    backward_schedule: Schedule | None = None
    source: str = ""  # the generated file
    backward_source: str = ""
    memory: MemoryReport | None = None  # the bytes that one call needs
    backward_memory: MemoryReport | None = None
    seconds: dict[str, float] = field(default_factory=dict, repr=False)
    arguments: list[Any] = field(default_factory=list, repr=False)
    op_graph: GraphModule | None = None  # what is decomposed: the joint graph, or the forward pass if it is alone
    passes: list[tuple[str, GraphModule, GraphModule]] = field(default_factory=list, repr=False)  # name, before, after
    prim_stretches: list[GraphModule] = field(default_factory=list, repr=False)  # what became kernels, forward
    backward_stretches: list[GraphModule] = field(default_factory=list, repr=False)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the duration of the block to `seconds[stage]`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start


class _Watched(Inductor):
    """The inductor backend for one graph, keeping what passes through."""

    def __init__(self, view: StageView, options: Mapping[str, Any]) -> None:
        super().__init__("cpu", options)
        self.view = view

    def decompose(self, graph: GraphModule) -> GraphModule:
        if any(node.name.startswith("tangents") for node in graph.graph.find_nodes(op="placeholder")):
            self.view.joint_graph = graph
        self.view.op_graph = mark(graph, "ops")
        with self.view.timed("prims"):
            self.view.prim_graph = mark(super().decompose(graph), "prims")
        return self.view.prim_graph

    def partition(self, joint: JointGraph) -> Partition:
        with self.view.timed("partition"):
            self.view.partition = super().partition(joint)
        return self.view.partition

    def compile_forward(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        self.view.forward_graph = mark(graph, "forward")
        self.stretch_graphs = self.view.prim_stretches
        self.view.schedule, self.view.source, self.view.memory, compiled = self._compiled(graph, example_inputs)
        return compiled

    def compile_backward(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        view = self.view
        view.backward_graph = mark(graph, "backward")
        self.stretch_graphs = view.backward_stretches
        view.backward_schedule, view.backward_source, view.backward_memory, compiled = self._compiled(
            graph, example_inputs
        )
        return compiled

    def _compiled(
        self, graph: GraphModule, example_inputs: list[Any]
    ) -> tuple[Schedule | None, str, MemoryReport | None, Compiled]:
        """Of a graph with fallbacks, schedule and memory are those of its longest stretch; the sources are of all."""
        self.stretches: list[tuple[Schedule, GeneratedFile]] = []
        compiled = with_fallbacks(graph, example_inputs, self.compile_prims, self.found_target())
        sources = "\n\n".join(file.source for _, file in self.stretches)
        if not self.stretches:
            return None, sources, None, compiled
        longest, file = max(self.stretches, key=lambda stretch: stretch[0].kernel_count)
        return longest, sources, file.memory, compiled

    def compile_prims(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        from minitorch_compile.inductor.codegen.cpu.wrapper import write_file
        from minitorch_compile.inductor.lowering import lower
        from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule

        self.stretch_graphs.append(graph)
        with self.view.timed("schedule"):
            scheduled = cpu_schedule(lower(graph))
        with self.view.timed("codegen"):
            self.stretches.append((scheduled, write_file(scheduled)))
        with self.view.timed("numba"):
            return super().compile_prims(graph, example_inputs)


class Inspection:
    """The result of `inspect`: one StageView a captured graph, the guards and the graph breaks.

    The fields of the first graph can be read directly: `seen.joint_graph` is `seen.graphs[0].joint_graph`.
    """

    def __init__(
        self, graphs: list[StageView], explanation: ExplainOutput, name: str = "", versions: Versions | None = None
    ) -> None:
        self.graphs = graphs
        self.explanation = explanation
        self.name = name
        self._versions = versions

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not self.graphs:
            raise AttributeError(
                f"Inspection has no attribute {name!r}" + ("" if self.graphs else ": no graph was captured")
            )
        return getattr(self.graphs[0], name)

    @property
    def guards(self) -> list[Guard]:
        """What must hold for the compiled code to be used again."""
        return self.explanation.out_guards

    @property
    def versions(self) -> Versions:
        """The compiled versions of each function, the oldest first: those that a compiled function has, if it was
        called before, else those made here."""
        if self._versions:
            return self._versions
        found: dict[str, list[Entry]] = {}
        for frame in self.explanation.frames:
            found.setdefault(f"{frame.name}, {frame.place}", []).append(frame.entry)
        return list(found.items())

    @property
    def breaks(self) -> list[GraphBreak]:
        """Why the function became more than one graph."""
        return self.explanation.break_reasons

    def save(self, path: str | Path) -> Path:
        """Writes all stages to one HTML file, which needs no network; ValueError for a path with another suffix.

        In a browser, the page zooms, searches, compares two stages, and follows a node through all of them. Where
        scripts are off, and on paper, it shows plain pictures and texts.
        """
        from minitorch_compile.compiler.viewer.page import report_page

        return save_form("Inspection.save", path, {".html": lambda: report_page(self)})

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """In a notebook: the page that `save` writes, below the cell."""
        from minitorch_compile.compiler.viewer.in_notebook import notebook_html

        return {"text/plain": repr(self), "text/html": notebook_html(self)}

    def __repr__(self) -> str:
        counts = f"{self.explanation.graph_count} graphs, {len(self.breaks)} breaks, {len(self.guards)} guards"
        return f"Inspection({counts})"


def inspect(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Inspection:
    """Compiles a call of `function` with the inductor backend and shows every stage.

    A function that is already compiled is compiled with the options that it was compiled with.
    """
    views: list[StageView] = []
    options = _options_of(function)

    def backend(graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        view = StageView(graph)
        views.append(view)
        mark(graph, "graph")
        with view.timed("backend"), _passes_kept(view):
            compiled = _Watched(view, options)(graph, example_inputs)

        def call(*arguments: Any) -> Any:
            view.arguments = [x for x in arguments if x.requires_grad]
            return compiled(*arguments)

        return call

    region = Region(backend)
    random_state = default_generator.get_state()
    try:
        result = optimize_in(region, getattr(function, "_orig_mod", function))(*args, **kwargs)
        _differentiate(result, [x for view in views for x in view.arguments])
    finally:
        default_generator.set_state(random_state)
    name = getattr(function, "__qualname__", type(function).__name__)
    return Inspection(views, report(region), name, _versions_of(function))


@contextmanager
def _passes_kept(view: StageView) -> Iterator[None]:
    """Inside, every pass that changes a graph leaves its name and both graphs."""

    def keep(*change: Any) -> None:
        view.passes.append(change)

    watchers.append(keep)
    try:
        yield
    finally:
        watchers.remove(keep)


def _versions_of(function: Callable[..., Any]) -> Versions:
    """The versions that a compiled function has; none of a plain one."""
    try:
        caches = region_of(function).caches
    except TypeError:
        return []
    places = ((source_place(cache.code.co_filename, cache.code.co_firstlineno), cache) for cache in caches)
    return [(f"{shown_name(cache.code)}, {place}", cache.entries) for place, cache in places if cache.entries]


def _options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The options of a compiled function; none of a plain one."""
    try:
        backend = region_of(function).backend
    except TypeError:
        return {}
    return {**backend.pass_options, **backend.options} if isinstance(backend, Inductor) else {}


def _differentiate(result: Any, inputs: list[Tensor]) -> None:
    """One backward pass through everything in `result` that requires grad, so that backward graphs get compiled."""
    outputs = [x for x in tree_leaves(result) if isinstance(x, Tensor) and x.requires_grad]
    if outputs and inputs:
        autograd.grad([x.sum() for x in outputs], inputs, allow_unused=True)
