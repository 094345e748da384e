"""What compilation would make of a call: how many graphs, where they break and why, what is guarded.

>>> from minitorch_compile.tensor import tensor
>>> def step(x):
...     y = x * 2
...     print("halfway")
...     return y + 1
>>> report = explain(step)(tensor([1.0]))
halfway
>>> report.graph_count, report.graph_break_count, report.op_count
(2, 1, 2)
>>> print(report)                                                                         # doctest: +ELLIPSIS
2 graphs, 1 graph break, 2 operations
<BLANKLINE>
graph 1: 1 operation
    mul
graph 2: 1 operation
    add
<BLANKLINE>
Graph break 1 of 1 in `step`, <doctest ...>:3
...

The fields are those of PyTorch's ExplainOutput.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.cache.region import Region
from minitorch_compile.dynamo.errors import GraphBreak
from minitorch_compile.dynamo.eval_frame import optimize_in
from minitorch_compile.dynamo.explaining.frame_view import FrameView
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.testing import eager
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.targets import target_name
from minitorch_compile.user_warnings import warn_user


@dataclass
class ExplainOutput:
    """The result of `explain(fn)(*args)`."""

    graphs: list[GraphModule]
    graph_count: int
    graph_break_count: int
    break_reasons: list[GraphBreak]
    op_count: int
    ops_per_graph: list[list[Any]]
    out_guards: list[Guard]
    frames: list[FrameView] = field(repr=False)  # lines, instructions and nodes of each compiled frame, linked
    compile_times: dict[str, float] = field(repr=False)  # seconds for each function, tracing and backend together

    def __str__(self) -> str:
        lines = [self._summary(), ""]
        for number, operations in enumerate(self.ops_per_graph, 1):
            lines += [f"graph {number}: {_counted(len(operations), 'operation')}", "    " + _names(operations)]
        for number, broken in enumerate(self.break_reasons, 1):
            lines += ["", broken.describe(number, self.graph_break_count)]
        return "\n".join(lines)

    def _summary(self) -> str:
        counts = (self.graph_count, "graph"), (self.graph_break_count, "graph break"), (self.op_count, "operation")
        return ", ".join(_counted(count, noun) for count, noun in counts)

    def guards_text(self) -> str:
        """One guard a line."""
        return "\n".join(map(str, self.out_guards))

    def _repr_html_(self) -> str:
        """For notebooks: the summary, a table of the graphs, the breaks, the guards folded away."""
        head = "<tr><th>graph</th><th>operations</th><th>which</th></tr>"
        rows = "".join(_row(number, operations) for number, operations in enumerate(self.ops_per_graph, 1))
        texts = [broken.describe(number, self.graph_break_count) for number, broken in enumerate(self.break_reasons, 1)]
        breaks = "".join(f"<pre style='{BREAK_STYLE}'>{html.escape(text)}</pre>" for text in texts)
        guards = _folded(_counted(len(self.out_guards), "guard"), f"<pre>{html.escape(self.guards_text())}</pre>")
        frames = "".join(_folded(f"instructions of {html.escape(f.name)}", f._repr_html_()) for f in self.frames)
        return f"<p><b>{self._summary()}</b></p><table>{head}{rows}</table>{breaks}{guards}{frames}"


BREAK_STYLE = "border-left:3px solid #c33;padding-left:8px"


def _folded(title: str, inside: str) -> str:
    return f"<details><summary>{title}</summary>{inside}</details>"


def _row(number: int, operations: list[Any]) -> str:
    names = f"<td style='text-align:left'><code>{_names(operations)}</code></td>"
    return f"<tr><td>{number}</td><td>{len(operations)}</td>{names}</tr>"


def _names(operations: list[Any]) -> str:
    return ", ".join(target_name(op).rpartition(".")[2] for op in operations)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """`explain(f)(*args)` calls the function once, compiled with the plainest backend, and reports: an ExplainOutput.

    The call has the effects of a plain call. Functions compiled before are not affected. Arguments of the call given
    right here, the older way, are taken with a warning.
    """

    def run(*args: Any, **kwargs: Any) -> ExplainOutput:
        region = Region(eager)
        optimize_in(region, f)(*args, **kwargs)
        return report(region)

    if extra_args or extra_kwargs:
        warn_user("explain(f, *args, **kwargs) is deprecated, use explain(f)(*args, **kwargs) instead.", FutureWarning)
        return run(*extra_args, **extra_kwargs)
    return run


def report(region: Region) -> ExplainOutput:
    """What a region has compiled so far."""
    operations = [
        [node.target for node in module.graph.nodes if node.op.startswith("call")] for module in region.graph_modules
    ]
    frames = [FrameView(decode(cache.code), entry) for cache in region.caches for entry in cache.entries]
    times: dict[str, float] = {}
    for frame in frames:
        times[frame.name] = times.get(frame.name, 0.0) + frame.entry.seconds
    return ExplainOutput(
        graphs=list(region.graph_modules),
        graph_count=len(region.graph_modules),
        graph_break_count=len(region.breaks),
        break_reasons=list(region.breaks),
        op_count=sum(map(len, operations)),
        ops_per_graph=operations,
        out_guards=[guard for frame in frames for guard in frame.entry.guards],
        frames=frames,
        compile_times=times,
    )
