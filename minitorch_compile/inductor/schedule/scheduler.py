"""The scheduler: which loops become one kernel, and in which order the kernels run.

Fusing saves memory traffic: a value that one loop writes and the next reads never leaves the processor, and a buffer
that two loops read is read once. Starting from one group a loop, the pair that saves most bytes is fused, and again,
until no pair is left. Two groups fit if they can share axes, if every value is read where it was written, and if no
third operation has to run between them. When no pair is left, groups that read the result of an extern kernel become
its epilogue, where the target has blocks for it (`fused_call`). Why a pair did not fit is kept, for every edge:
`schedule.why_not`.

>>> from minitorch_compile.inductor.ir.loops import Buffer, Loop, LoopGraph, whole
>>> from minitorch_compile.tensor.dtype import float32
>>> x, y, z = (Buffer.contiguous(name, (4, 8), float32) for name in "xyz")
>>> first = Loop(y, (4, 8), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))))
>>> second = Loop(z, (4, 8), lambda ops, at: ops.apply("neg", ops.load(y, y.address(at))))
>>> schedule(LoopGraph([x], [first, second], [whole(z)]))
kernel 0: z = neg(exp(x))  [i0:32]  reads x; writes z; keeps y to itself
1 kernel, 256 bytes moved
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from minitorch_compile import logs
from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.inductor.ir.dependencies import buffers_read
from minitorch_compile.inductor.ir.loops import Buffer, ExternCall, LoopGraph, Operation
from minitorch_compile.inductor.ir.printer import print_graph
from minitorch_compile.inductor.schedule.drawing import draw_schedule
from minitorch_compile.inductor.schedule.fused_call import Blocks, FusedCall, fuse_call
from minitorch_compile.inductor.schedule.group import Group, WhyNot
from minitorch_compile.inductor.schedule.text import describe_schedule, describe_step

Step = Group | ExternCall | FusedCall

log_ir, log_fused_ir = logs.artifact("ir_pre_fusion"), logs.artifact("ir_post_fusion")
log_fusion, log_schedule = logs.artifact("fusion"), logs.artifact("schedule")


@dataclass(frozen=True)
class Limits:
    """What a target can hold in one kernel. `blocks_of` says how it makes an extern call's result block by block; a
    call for which that is None gets no epilogue.
    """

    operations: int = 300
    buffers: int = 24
    blocks_of: Callable[[ExternCall], Blocks | None] = lambda call: None


@dataclass(frozen=True)
class Edge:
    """Two steps that are not one kernel though a buffer goes from the first to the second, and why."""

    producer: str
    consumer: str
    reason: str

    def __repr__(self) -> str:
        return f"{self.producer} -> {self.consumer}: {self.reason}"


class Schedule:
    """The steps in order: fused groups and extern kernels."""

    def __init__(self, graph: LoopGraph, steps: list[Step], why_not: list[Edge]) -> None:
        self.graph = graph
        self.steps = steps
        self.why_not = why_not

    @cached_property
    def internal(self) -> frozenset[Buffer]:
        """Temporary buffers that only the kernel that writes them reads: they need no memory of their own."""
        readers: dict[Buffer, set[int]] = {}
        for number, step in enumerate(self.steps):
            for buffer in reads_of(step):
                readers.setdefault(buffer, set()).add(number)
        results = {view.buffer for view in self.graph.outputs}
        kernels = [(number, step) for number, step in enumerate(self.steps) if not isinstance(step, ExternCall)]
        return frozenset(
            buffer
            for number, kernel in kernels
            for buffer in kernel.outputs
            if buffer not in results and readers.get(buffer, set()) <= {number}
        )

    @cached_property
    def made(self) -> frozenset[Buffer]:
        """The buffers that some step fills: all but the inputs."""
        return frozenset(buffer for step in self.steps for buffer in step.outputs)

    @property
    def kernel_count(self) -> int:
        return len(self.steps)

    @property
    def bytes_moved(self) -> int:
        """Bytes that the kernels read from and write to memory, counting each buffer once a kernel."""
        total = 0
        for step in self.steps:
            inputs = reads_of(step) if isinstance(step, ExternCall) else step.inputs
            total += sum(buffer.nbytes for buffer in {*inputs, *step.outputs} - self.internal)
        return total

    def draw(self) -> GraphView:
        """A picture: a frame for each kernel, with the loops in it."""
        return draw_schedule(self).view()

    def __repr__(self) -> str:
        return describe_schedule(self)


def reads_of(step: Step) -> list[Buffer]:
    """The buffers that a step reads, those that it writes itself included."""
    if isinstance(step, ExternCall):
        return buffers_read(step)
    if isinstance(step, FusedCall):
        return list(dict.fromkeys([*buffers_read(step.call), *reads_of(step.epilogue)]))
    return list(dict.fromkeys(access.buffer for member in step.members for access in member.accesses.reads))


# ------------------------------------------------------------------------------------------------ fusing


class _Node:
    """A step while groups are being fused, and where its operations stand in the original order: `first` is the first
    of its own, `latest` the last of its own and of all that it needs, directly or through other steps. (A step that
    was fused from an early and a late operation makes the late one a need of all that reads the early one.)
    """

    def __init__(self, step: Step, first: int, latest: int) -> None:
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
        self.nodes: dict[_Node, None] = {}
        self.producer: dict[Buffer, _Node] = {}
        self.readers: dict[Buffer, dict[_Node, None]] = {}
        self.refused: dict[tuple[_Node, _Node], WhyNot] = {}
        self.results = {view.buffer for view in graph.outputs}
        for number, operation in enumerate(live_operations(graph)):
            step = operation if isinstance(operation, ExternCall) else Group.of(operation)
            self.enter(_Node(step, number, number))

    def enter(self, node: _Node) -> None:
        self.nodes[node] = None
        for buffer in node.step.outputs:
            self.producer[buffer] = node
        for buffer in node.reads:
            self.readers.setdefault(buffer, {})[node] = None

    def leave(self, node: _Node) -> None:
        del self.nodes[node]
        for buffer in node.reads:
            del self.readers[buffer][node]

    def run(self) -> Schedule:
        while self.fuse_round():
            pass
        self.add_epilogues()
        order = self.in_order()
        why_not = [Edge(a.name, b.name, self.reason(a, b)) for a, b in self.edges()]
        return Schedule(self.graph, [finished(node.step) for node in order], why_not)

    def fuse_round(self) -> bool:
        """Tries every pair once, most bytes first; whether any was fused."""
        fused_into: dict[_Node, _Node] = {}
        for first, second in self.candidates():
            a, b = _latest(first, fused_into), _latest(second, fused_into)
            if a is b or (a, b) in self.refused:
                continue
            result = self.try_fuse(a, b)
            if isinstance(result, WhyNot):
                self.refused[a, b] = result
                continue
            fused_into[a] = fused_into[b] = self.replace(a, b, result)
        return bool(fused_into)

    def replace(self, a: _Node, b: _Node, fused: Step) -> _Node:
        """Puts one step in the place of two."""
        node = _Node(fused, min(a.first, b.first), max(a.latest, b.latest))
        self.leave(a)
        self.leave(b)
        self.enter(node)
        self.tell_readers(node)
        return node

    def tell_readers(self, node: _Node) -> None:
        """What reads the node, directly or through others, needs its latest operation, too."""
        stack = [node]
        while stack:
            node = stack.pop()
            for reader in (reader for buffer in node.step.outputs for reader in self.readers.get(buffer, ())):
                if reader.latest < node.latest:
                    reader.latest = node.latest
                    stack.append(reader)

    def candidates(self) -> list[tuple[_Node, _Node]]:
        """Pairs of groups that touch a common buffer, those that would save most bytes first."""
        saved: dict[tuple[_Node, _Node], int] = {}
        for buffer, readers in self.readers.items():
            users = [*([self.producer[buffer]] if buffer in self.producer else []), *readers]
            groups = sorted({u: None for u in users if isinstance(u.step, Group)}, key=lambda node: node.first)
            for number, first in enumerate(groups):
                for second in groups[number + 1 : number + 9]:  # far readers meet when near ones have been fused
                    pair = (first, second)
                    saved[pair] = saved.get(pair, 0) + buffer.nbytes
        return sorted(saved, key=lambda pair: (-saved[pair], pair[1].first - pair[0].first))

    def try_fuse(self, a: _Node, b: _Node) -> Group | WhyNot:
        """The two groups as one, or why not. `a` comes first."""
        if any(buffer in a.reads for buffer in b.step.outputs):
            a, b = b, a
        assert isinstance(a.step, Group) and isinstance(b.step, Group)
        result = a.step.fuse(b.step)
        if isinstance(result, WhyNot):
            return result
        if result.operations > self.limits.operations:
            return WhyNot(f"the kernel would have more than {self.limits.operations} operations")
        if len(result.inputs) + len(self.outputs_seen_outside(result, {a, b})) > self.limits.buffers:
            return WhyNot(f"the kernel would have more than {self.limits.buffers} buffers")
        if not _share_memory(a.step, b.step, result):
            return WhyNot("they read nothing at the same place")
        between = self.between(a, b) or self.between(b, a)
        if between is not None:
            return WhyNot(f"{between.name} must run between them")
        return result

    def outputs_seen_outside(self, fused: Group, parts: set[_Node]) -> list[Buffer]:
        """The outputs that the kernel would have to write to memory."""
        return [b for b in fused.outputs if b in self.results or not parts.issuperset(self.readers.get(b, ()))]

    def between(self, a: _Node, b: _Node) -> _Node | None:
        """A step that needs `a` and that `b` needs, directly or through others."""
        seen, stack = {b}, [(node, node) for node in self.inputs(b) if node is not a]
        while stack:
            node, entry = stack.pop()
            if node in seen or node.latest < a.first:
                continue
            seen.add(node)
            for source in self.inputs(node):
                if source is a:
                    return entry
                stack.append((source, entry))
        return None

    def inputs(self, node: _Node) -> Iterator[_Node]:
        for buffer in node.reads:
            producer = self.producer.get(buffer)
            if producer is not None and producer is not node:
                yield producer

    # ------------------------------------------------------------------------------------------ epilogues

    def add_epilogues(self) -> None:
        """Gives each extern call the first group that can be its epilogue."""
        for node in sorted(self.nodes, key=lambda node: node.first):
            blocks = self.limits.blocks_of(node.step) if isinstance(node.step, ExternCall) else None
            if blocks is None:
                continue
            readers = sorted(self.readers.get(node.step.outputs[0], ()), key=lambda reader: reader.first)
            for reader in readers:
                result = self.try_epilogue(node, reader, blocks)
                if isinstance(result, FusedCall):
                    self.replace(node, reader, result)
                    break
                self.refused[node, reader] = result

    def try_epilogue(self, node: _Node, reader: _Node, blocks: Blocks) -> FusedCall | WhyNot:
        """The call with the group that reads its result, or why not."""
        if not isinstance(reader.step, Group):
            return WhyNot(f"{reader.name} is an extern kernel ({call_of(reader.step).kernel})")
        assert isinstance(node.step, ExternCall)
        between = self.between(node, reader)
        if between is not None:
            return WhyNot(f"{between.name} must run between them")
        return fuse_call(node.step, reader.step, blocks)

    # ------------------------------------------------------------------------------------------ afterwards

    def in_order(self) -> list[_Node]:
        """The nodes, each after those it needs, otherwise in the original order."""
        order: dict[_Node, None] = {}

        def visit(node: _Node) -> None:
            stack: list[tuple[_Node, Iterator[_Node]]] = [(node, self.inputs(node))]
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

    def edges(self) -> Iterator[tuple[_Node, _Node]]:
        """Every pair of steps between which a buffer goes."""
        for node in self.nodes:
            yield from dict.fromkeys((source, node) for source in self.inputs(node))

    def reason(self, a: _Node, b: _Node) -> str:
        refused = self.refused.get((a, b)) or self.refused.get((b, a))
        for node in (a, b) if refused is None else ():
            if isinstance(node.step, FusedCall):
                return f"{node.step.result.name} has its epilogue ({node.step.call.kernel})"
            if isinstance(node.step, ExternCall):
                return f"{node.name} is an extern kernel ({node.step.kernel})"
        if refused is None:
            result = self.try_fuse(a, b)
            refused = result if isinstance(result, WhyNot) else WhyNot("they were never compared")
        return refused.reason


def _latest(node: _Node, fused_into: dict[_Node, _Node]) -> _Node:
    while node in fused_into:
        node = fused_into[node]
    return node


def _share_memory(a: Group, b: Group, fused: Group) -> bool:
    """Whether the fused group really saves traffic: it reads something at one place for both sides."""
    ours = set(a.outputs)
    first = {access[:2] for m in fused.members if m.loop.buffer in ours for access in [*m.reads, m.write]}
    second = {access[:2] for m in fused.members if m.loop.buffer not in ours for access in m.reads}
    return not first.isdisjoint(second)


def call_of(step: ExternCall | FusedCall) -> ExternCall:
    return step.call if isinstance(step, FusedCall) else step


def finished(step: Step) -> Step:
    return step.merged() if isinstance(step, Group) and step.is_fusible else step


def live_operations(graph: LoopGraph) -> Iterable[Operation]:
    """The operations whose results reach an output."""
    needed = {view.buffer for view in graph.outputs}
    live: list[Operation] = []
    for operation in reversed(graph.operations):
        if not needed.isdisjoint(operation.outputs):
            needed.update(buffers_read(operation))
            live.append(operation)
    return reversed(live)


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
