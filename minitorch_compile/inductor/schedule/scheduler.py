"""The scheduler: which loops become one kernel, and in which order the kernels run.

Fusing saves memory traffic: a value that one loop writes and the next reads never leaves the processor, and a buffer
that two loops read is read once. Starting from one group a loop, the pair that saves most bytes is fused, and again,
until no pair is left that fits (`fit.py`). Then groups that read the result of an extern kernel become its epilogue,
where the target has blocks for it (`fused_call`). Why a pair did not fit is kept, for every edge: `schedule.why_not`.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y, z = (Buffer.contiguous(name, (4, 8), float32) for name in "xyz")
>>> first = Loop(y, (4, 8), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))))
>>> second = Loop(z, (4, 8), lambda ops, at: ops.apply("neg", ops.load(y, y.address(at))))
>>> schedule(LoopGraph([x], [first, second], [whole(z)]))
kernel 0: z = neg(exp(x))  [i0:32]  reads x; writes z; keeps y to itself
1 kernel, 256 bytes moved
"""

from __future__ import annotations

from collections.abc import Iterator

from minitorch_compile import logs
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import live_operations
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.ir.printer import print_graph
from minitorch_compile.inductor.schedule.epilogues import add_epilogues
from minitorch_compile.inductor.schedule.fit import Limits, fit
from minitorch_compile.inductor.schedule.group import Group, WhyNot
from minitorch_compile.inductor.schedule.reasons import unfused_edges
from minitorch_compile.inductor.schedule.schedule import Edge, Schedule, ScheduleStep, reads_of
from minitorch_compile.inductor.schedule.text import describe_step

log_ir, log_fused_ir = logs.artifact("ir_pre_fusion"), logs.artifact("ir_post_fusion")
log_fusion, log_schedule = logs.artifact("fusion"), logs.artifact("schedule")


class Node:
    """A step while groups are being fused, and where its operations stand in the original order: `first` is the first
    of its own, `latest` the last of its own and of all that it needs, directly or through other steps. (A step that
    was fused from an early and a late operation makes the late one a need of all that reads the early one.)
    """

    def __init__(self, step: ScheduleStep, first: int, latest: int) -> None:
        self.step = step
        self.first, self.latest = first, latest
        self.reads = reads_of(step)

    @property
    def name(self) -> str:
        return "+".join(buffer.name for buffer in self.step.outputs)


class Scheduler:
    """Fuses groups greedily. `nodes` are those alive; `producer` says which of them writes a buffer."""

    def __init__(self, graph: LoopGraph, limits: Limits = Limits()) -> None:
        self.graph = graph
        self.limits = limits
        self.nodes: dict[Node, None] = {}
        self.producer: dict[Buffer, Node] = {}
        self.readers: dict[Buffer, dict[Node, None]] = {}
        self.refused: dict[tuple[Node, Node], WhyNot] = {}
        self.results = {view.buffer for view in graph.outputs}
        for number, operation in enumerate(live_operations(graph)):
            step = operation if isinstance(operation, ExternCall) else Group.of(operation)
            self.enter(Node(step, number, number))

    def enter(self, node: Node) -> None:
        self.nodes[node] = None
        for buffer in node.step.outputs:
            self.producer[buffer] = node
        for buffer in node.reads:
            self.readers.setdefault(buffer, {})[node] = None

    def leave(self, node: Node) -> None:
        del self.nodes[node]
        for buffer in node.reads:
            del self.readers[buffer][node]

    def run(self) -> Schedule:
        while self.fuse_round():
            pass
        why_not: list[Edge] = []
        if len(self.nodes) > 1:
            add_epilogues(self, self.limits.blocks_of)
            why_not = unfused_edges(self)
        return Schedule(self.graph, [finished(node.step) for node in self.in_order()], why_not)

    def fuse_round(self) -> bool:
        """Tries every pair once, most bytes first; whether any was fused."""
        fused_into: dict[Node, Node] = {}
        for first, second in self.candidates():
            a, b = _latest(first, fused_into), _latest(second, fused_into)
            if a is b or (a, b) in self.refused:
                continue
            result = fit(self, a, b)
            if isinstance(result, WhyNot):
                self.refused[a, b] = result
                continue
            fused_into[a] = fused_into[b] = self.replace(a, b, result)
        return bool(fused_into)

    def replace(self, a: Node, b: Node, fused: ScheduleStep) -> Node:
        """Puts one step in the place of two."""
        node = Node(fused, min(a.first, b.first), max(a.latest, b.latest))
        self.leave(a)
        self.leave(b)
        self.enter(node)
        self.tell_readers(node)
        return node

    def tell_readers(self, node: Node) -> None:
        """What reads the node, directly or through others, needs its latest operation, too."""
        stack = [node]
        while stack:
            node = stack.pop()
            for reader in (reader for buffer in node.step.outputs for reader in self.readers.get(buffer, ())):
                if reader.latest < node.latest:
                    reader.latest = node.latest
                    stack.append(reader)

    def candidates(self) -> list[tuple[Node, Node]]:
        """Pairs of groups that touch a common buffer, those that would save most bytes first."""
        saved: dict[tuple[Node, Node], int] = {}
        for buffer, readers in self.readers.items():
            users = [*([self.producer[buffer]] if buffer in self.producer else []), *readers]
            groups = sorted({u: None for u in users if isinstance(u.step, Group)}, key=lambda node: node.first)
            for number, first in enumerate(groups):
                for second in groups[number + 1 : number + 9]:  # far readers meet when near ones have been fused
                    pair = (first, second)
                    saved[pair] = saved.get(pair, 0) + buffer.nbytes
        return sorted(saved, key=lambda pair: (-saved[pair], pair[1].first - pair[0].first))

    def inputs(self, node: Node) -> Iterator[Node]:
        for buffer in node.reads:
            producer = self.producer.get(buffer)
            if producer is not None and producer is not node:
                yield producer

    # ------------------------------------------------------------------------------------------ afterwards

    def in_order(self) -> list[Node]:
        """The nodes, each after those it needs, otherwise in the original order."""
        order: dict[Node, None] = {}

        def visit(node: Node) -> None:
            stack: list[tuple[Node, Iterator[Node]]] = [(node, self.inputs(node))]
            while stack:
                current, sources = stack[-1]
                missing = next((source for source in sources if source not in order), None)
                if missing is None:
                    order[stack.pop()[0]] = None
                    continue
                assert all(missing is not below for below, _ in stack), f"{missing.name} would need itself"
                stack.append((missing, self.inputs(missing)))

        for node in sorted(self.nodes, key=lambda node: node.first):
            if node not in order:
                visit(node)
        return list(order)


def _latest(node: Node, fused_into: dict[Node, Node]) -> Node:
    while node in fused_into:
        node = fused_into[node]
    return node


def finished(step: ScheduleStep) -> ScheduleStep:
    return step.merged() if isinstance(step, Group) and step.is_fusible else step


def schedule(graph: LoopGraph, limits: Limits = Limits()) -> Schedule:
    """Fuses the loops of a graph and puts the kernels in order."""
    if log_ir.is_on:
        log_ir(print_graph(graph))
    result = Scheduler(graph, limits).run()
    if log_fusion.is_on:
        log_fusion("\n".join(map(repr, result.why_not)) or "every edge was fused")
    if log_fused_ir.is_on:
        log_fused_ir("\n\n".join(describe_step(number, step, result) for number, step in enumerate(result.steps)))
    if log_schedule.is_on:
        log_schedule(repr(result))
    return result
