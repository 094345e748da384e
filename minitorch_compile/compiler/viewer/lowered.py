"""A graph of prims, lowered and scheduled once more with marked origins: which nodes are in each loop and kernel.

>>> import minitorch_compile as torch
>>> seen = torch.compiler.inspect(lambda x: (x.exp() + 1).sum(), torch.ones(4))
>>> again = Lowered(seen.prim_stretches[0])
>>> [again.nodes_of(operation) for operation in again.loops.operations]
[['exp', 'full', 'add', 'sum_1']]

So nothing is spent on it while compiling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch_compile.compiler.viewer.graph_stages import origins_of
from minitorch_compile.compiler.viewer.marked_lines import MarkedPrinter, loop_lines
from minitorch_compile.compiler.viewer.report import Origins, merged
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.printer import stack_text
from minitorch_compile.inductor.codegen.cpu.wrapper import WrapperWriter, group_of
from minitorch_compile.inductor.ir.handler import Origin, names_nodes
from minitorch_compile.inductor.ir.loops import InnerFn, Loop, Operation
from minitorch_compile.inductor.ir.printer import print_operation
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.lowering.graph_lowering import input_name
from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import ScheduleStep, call_of


class Lowered:
    """`number` tells apart the stretches of a graph that has fallbacks between them, `prefix` the captured graphs."""

    def __init__(self, graph: GraphModule, prefix: str = "", number: str = "") -> None:
        self.nodes = {node.name: node for node in graph.graph.nodes}
        self.inputs = {input_name(node.name): node.name for node in graph.graph.find_nodes(op="placeholder")}
        self.position = {name: number for number, name in enumerate(self.nodes)}
        self.prefix, self.number = prefix, number
        self._lines: dict[Operation, list[tuple[str, list[str]]]] = {}
        self.loops = lower(graph)
        for operation in self.loops.operations:
            if isinstance(operation, Loop):
                operation.inner_fn = with_origin(operation.inner_fn, operation.origin)
        self.schedule = cpu_schedule(self.loops)
        with with_names_of_nodes():
            self.writer = WrapperWriter(self.schedule)
            self.file = self.writer.write()

    def origins(self, names: Sequence[str]) -> Origins:
        """Where the prims of these names came from, themselves included."""
        return merged(origins_of(self.nodes[name], self.prefix) for name in names if name in self.nodes)

    def place(self, names: Sequence[str]) -> str:
        """The user's lines of these prims."""
        texts = (stack_text(self.nodes[name]) for name in names if name in self.nodes)
        return "\n".join(filter(None, dict.fromkeys(texts)))

    def lines_of(self, operation: Operation) -> list[tuple[str, list[str]]]:
        """An operation as text, each line with the nodes that it computes."""
        if operation not in self._lines:
            self._lines[operation] = list(loop_lines(print_operation(operation, MarkedPrinter).split("\n")))
        return self._lines[operation]

    def nodes_of(self, operation: Operation) -> list[str]:
        """All nodes that an operation computes, in their order."""
        found = {node for _, nodes in self.lines_of(operation) for node in nodes}
        if operation.origin is not None:
            found.add(operation.origin.node)
        return sorted(found & self.position.keys(), key=self.position.__getitem__)

    def nodes_of_step(self, step: ScheduleStep) -> list[str]:
        """All nodes that a step computes."""
        operations = operations_of(step)
        return list(dict.fromkeys(name for operation in operations for name in self.nodes_of(operation)))


@contextmanager
def with_names_of_nodes() -> Iterator[None]:
    """Inside, what is written has marks."""
    before = names_nodes.set(True)
    try:
        yield
    finally:
        names_nodes.reset(before)


def with_origin(body: InnerFn, origin: Origin | None) -> InnerFn:
    """A loop's body, of which what has no origin of its own belongs to the node that the loop was made for."""

    def run(ops: Any, position: Any) -> Any:
        ops.origin = origin
        try:
            return body(ops, position)
        finally:
            ops.origin = None

    return run


def operations_of(step: ScheduleStep) -> list[Operation]:
    """The extern call of a step, if it has one, and its loops."""
    group = group_of(step)
    loops: list[Operation] = [member.loop for member in group.members] if group is not None else []
    return loops if isinstance(step, Group) else [call_of(step), *loops]
