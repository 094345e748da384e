"""Cutting the joint graph in two: a forward graph that also returns what the backward graph will need.

What crosses the cut is memory that stays occupied from the forward to the backward pass, often most of what training
needs. So the partitioner saves little: what the backward pass can make again from things that are saved anyway, with
cheap elementwise work that its kernels do on the way, is not saved.

>>> from minitorch_compile.aot.joint_graph import trace_joint
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> x, w = empty_fake((2, 3)), empty_fake((4, 3))
>>> w.requires_grad = True
>>> joint = trace_joint(trace(lambda x, w: (ops.relu(ops.linear(x, w)),), [x, w]), [True])
>>> partition = default_partition(joint)
>>> print(partition.forward.graph.compact())
x, w -> relu = relu(mm(x, t(w))); (relu, relu, x)
>>> print(partition.backward.graph.compact())
relu, x, tangents_0 -> (...)
>>> print(partition.report)
saves 2 tensors, 56 bytes, 24 of them arguments ...
  relu  f32[2, 4]  32 bytes
  x     f32[2, 3]  24 bytes, an argument

The compiled graphs are called one after the other, so a partition changes speed and memory, never a result.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from minitorch_compile.aot.joint_graph import JointGraph
from minitorch_compile.aot.subgraph import ancestors, descendants, extract
from minitorch_compile.fx.draw import draw
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.printer import value_text
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor.tensor_base import nbytes

# Kinds of ops that cost so little that computing them twice is better than keeping their result.
CHEAP_KINDS = frozenset({"pointwise", "view", "copy"})


@dataclass
class Partition:
    """The forward graph returns the outputs, then the saved values; the backward graph takes them, then the tangents.

    `saved` and `saved_sizes`, all unknown sizes that are arguments, are nodes of the joint graph.
    """

    forward: GraphModule
    backward: GraphModule
    saved: list[Node]
    report: SavedReport
    joint: JointGraph
    saved_sizes: list[Node]

    def __str__(self) -> str:
        return str(self.report)

    def draw(self, **options: Any) -> GraphView:
        """The joint graph in the colours of its two passes and of what is saved between them."""
        sides = Sides(self.joint)

        def kind(node: Node) -> str:
            if node in self.saved:
                return "saved"
            return "forward" if node in sides.forward or node in sides.inputs else "backward"

        return draw(self.joint.graph_module.graph, kind=kind, **options)


@dataclass
class SavedReport:
    """What a partition saves. `bytes_if_all_saved` is what it would be if nothing was computed twice."""

    saved: list[Node]
    bytes_if_all_saved: int

    @property
    def bytes(self) -> int:
        return total_bytes(self.saved)

    @property
    def argument_bytes(self) -> int:
        return total_bytes(node for node in self.saved if node.op == "placeholder")

    def __str__(self) -> str:
        head = (
            f"saves {len(self.saved)} tensors, {self.bytes} bytes, {self.argument_bytes} of them arguments"
            f" (without recomputation {self.bytes_if_all_saved} bytes)"
        )
        names = max((len(node.name) for node in self.saved), default=0)
        sizes = max((len(value_text(node.meta["val"])) for node in self.saved), default=0)
        return "\n".join([head, *(self._row(node, names, sizes) for node in self.saved)])

    def _row(self, node: Node, names: int, sizes: int) -> str:
        argument = ", an argument" if node.op == "placeholder" else ""
        text = value_text(node.meta["val"])
        return f"  {node.name.ljust(names)}  {text.ljust(sizes)}  {total_bytes([node])} bytes{argument}"


PartitionFunction = Callable[[JointGraph], Partition]


class Sides:
    """Which nodes of a joint graph belong to the forward pass for certain, and which depend on a tangent."""

    def __init__(self, joint: JointGraph) -> None:
        graph = joint.graph_module.graph
        placeholders = graph.find_nodes(op="placeholder")
        returned = list(graph.output_node().args[0])
        self.inputs, self.tangents = placeholders[: joint.input_count], placeholders[joint.input_count :]
        self.outputs, self.gradients = returned[: joint.output_count], returned[joint.output_count :]
        self.forward = _with_items(ancestors(self.outputs))
        self.backward = descendants(self.tangents)

    def crossing(self) -> list[Node]:
        """What the backward pass reads of the forward pass if it computes nothing again, in order of execution."""
        at_hand = self.forward | set(self.inputs)
        read = ancestors(self.gradients, stop_at=at_hand) & at_hand
        nodes = self.outputs[0].graph.nodes
        return [node for node in nodes if node in read and node.op != "get_attr" and not is_size(node)]


def _with_items(nodes: set[Node]) -> set[Node]:
    """The nodes with all items of those that are tuples: tuples can't be saved, their items can."""
    items = {user for node in nodes for user in node.users if user.target is operator.getitem}
    return nodes | items


def default_partition(joint: JointGraph) -> Partition:
    """Saves what the backward pass reads, unless cheap ops can make it again from what is saved anyway."""
    sides = Sides(joint)
    crossing = sides.crossing()
    saved: dict[Node, None] = dict.fromkeys(crossing)
    made_again: set[Node] = set()
    for node in crossing:
        sources = _sources(node)
        if sources is None:
            continue
        added = [source for source in sources if source not in saved and source not in made_again]
        if total_bytes(added) < total_bytes([node]) or _is_view(node):
            del saved[node]
            made_again.add(node)
            saved.update(dict.fromkeys(added))
    return cut(joint, sides, saved, total_bytes(crossing))


def _sources(node: Node) -> list[Node] | None:
    """What has to be at hand to compute a cheap node again, looking through views. None if it isn't cheap."""
    kind = getattr(node.target, "kind", None)
    if node.op != "call_function" or (kind not in CHEAP_KINDS and not _is_constant(node)):
        return None
    sources: list[Node] = []
    for source in node.all_input_nodes:
        if not _is_constant(source) and not is_size(source):
            sources += (_sources(source) or []) if _is_view(source) else [source]
    return sources


def _is_constant(node: Node) -> bool:
    """Whether the node needs nothing to be computed from."""
    return node.op == "get_attr" or (node.op == "call_function" and not node.all_input_nodes)


def is_size(node: Node) -> bool:
    """Whether the value is a size: they cost nothing to compute, from those that are always saved."""
    return isinstance(node.meta.get("val"), SymInt)


def _is_view(node: Node) -> bool:
    return getattr(node.target, "kind", None) == "view"


def cut(joint: JointGraph, sides: Sides, saved: Iterable[Node], bytes_if_all_saved: int) -> Partition:
    """The two graphs, given what is to be saved."""
    order = {node: i for i, node in enumerate(joint.graph_module.graph.nodes)}
    # Results first: a backward graph reads better when it starts with what its forward graph computed.
    kept = sorted(saved, key=lambda node: (node.op == "placeholder", order[node]))
    sizes = [node for node in sides.inputs if is_size(node)]
    passed = [*kept, *sizes]
    layouts = joint.graph_module.graph.output_node().meta["val"]
    # An output that is also saved is one tensor, in the layout that the program's caller expects.
    returned = dict(zip(sides.outputs, layouts, strict=False))
    kept_layouts = [returned.get(node, node.meta["val"]) for node in passed]
    forward = extract(joint.graph_module, sides.inputs, [*sides.outputs, *passed])
    forward.graph.output_node().meta["val"] = (*layouts[: joint.output_count], *kept_layouts)
    backward = extract(joint.graph_module, [*passed, *sides.tangents], sides.gradients)
    for node, layout in zip(backward.graph.find_nodes(op="placeholder"), kept_layouts, strict=False):
        node.meta["val"] = layout
    backward.graph.output_node().meta["val"] = tuple(layouts[joint.output_count :])
    return Partition(forward, backward, kept, SavedReport(kept, bytes_if_all_saved), joint, sizes)


def total_bytes(nodes: Iterable[Node]) -> int:
    """The memory of these values, for the sizes that were seen if they are unknown."""
    sizes = [nbytes(node.meta["val"]) for node in nodes]
    return sum(size.hint if isinstance(size, SymInt) else size for size in sizes)
