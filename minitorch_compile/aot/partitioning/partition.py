"""Cutting the joint graph in two: a forward graph that also returns what the backward graph will need.

What crosses the cut is memory that stays occupied from the forward to the backward pass, often most of what training
needs. The partition here is the plain one: it saves what the backward pass reads of the forward pass. It is what eager
autograd does, and PyTorch's default_partition. `min_cut_partition` saves less, and computes more.

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
from minitorch_compile.aot.partitioning.recomputation import (
    is_constant,
    is_made_again,
    is_size,
    is_view,
    total_bytes,
)
from minitorch_compile.aot.partitioning.saved_report import SavedReport, is_work
from minitorch_compile.aot.subgraph import ancestors, descendants, extract, in_order_of_need
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.fx.node import Node


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
        """Both passes, what is saved between them and what is computed again; options are those of `fx.draw.draw`."""
        from minitorch_compile.aot.partitioning.drawing import draw_partition

        return draw_partition(self, **options)


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
        self.backward = descendants([*self.tangents, *joint.starts])
        self.order = {node: i for i, node in enumerate(graph.nodes)}

    def crossing(self) -> list[Node]:
        """What the backward pass reads of the forward pass if it computes nothing again, in order of execution.

        Nothing but checkpointed regions: of them it reads what enters, and what it reads on behalf of others.
        """
        at_hand = self.forward | set(self.inputs)
        read = {node for node in self.gradients if node in at_hand}
        readers = {node for node in self.gradients if node not in at_hand}
        waiting = list(readers)
        while waiting:
            reader = waiting.pop()
            for value in reader.all_input_nodes:
                if value in at_hand and not is_made_again(value, reader):
                    read.add(value)
                elif value not in readers:
                    readers.add(value)
                    waiting.append(value)
        return sorted((n for n in read if n.op != "get_attr" and not is_size(n)), key=self.order.__getitem__)


def _with_items(nodes: set[Node]) -> set[Node]:
    """The nodes with all items of those that are tuples: tuples can't be saved, their items can."""
    items = {user for node in nodes for user in node.users if user.target is operator.getitem}
    return nodes | items


def default_partition(joint: JointGraph) -> Partition:
    """Saves what the backward pass reads; for a view its base, and nothing for a constant."""
    sides = Sides(joint)
    return cut(joint, sides, read_values(sides))


def read_values(sides: Sides) -> list[Node]:
    """The values from which the backward pass can make all that it reads at no cost."""
    return list(dict.fromkeys(value for node in sides.crossing() for value in _shown_by(node)))


def _shown_by(node: Node) -> list[Node]:
    """The values whose elements a view shows, unless they are larger than it; of other nodes, the node."""
    if is_constant(node):
        return []
    if not is_view(node):
        return [node]
    bases = [base for source in node.all_input_nodes if not is_size(source) for base in _shown_by(source)]
    return bases if total_bytes(bases) <= total_bytes([node]) else [node]


def cut(joint: JointGraph, sides: Sides, saved: Iterable[Node]) -> Partition:
    """The two graphs, given what is to be saved."""
    # Results first: a backward graph reads better when it starts with what its forward graph computed.
    read = ancestors(sides.gradients, stop_at=set(saved))
    kept = sorted(read & set(saved), key=lambda node: (node.op == "placeholder", sides.order[node]))
    sizes = [node for node in sides.inputs if is_size(node)]
    passed = [*kept, *sizes]
    layouts = joint.graph_module.graph.output_node().meta["val"]
    # An output that is also saved is one tensor, in the layout that the program's caller expects.
    returned = dict(zip(sides.outputs, layouts, strict=False))
    kept_layouts = [returned.get(node, node.meta["val"]) for node in passed]
    forward = extract(joint.graph_module, sides.inputs, [*sides.outputs, *passed])
    forward.graph.output_node().meta["val"] = (*layouts[: joint.output_count], *kept_layouts)
    # What is computed again is computed when it is needed: until then, it would take the memory that was to be saved.
    order = in_order_of_need(sides.order, sides.backward, sides.gradients, given=set(passed))
    backward = extract(joint.graph_module, [*passed, *sides.tangents], sides.gradients, order)
    for node, layout in zip(backward.graph.find_nodes(op="placeholder"), kept_layouts, strict=False):
        node.meta["val"] = layout
    backward.graph.output_node().meta["val"] = tuple(layouts[joint.output_count :])
    needed = ancestors(sides.gradients, stop_at=set(passed)) - set(passed)
    again = sorted(filter(is_work, needed & sides.forward), key=sides.order.__getitem__)
    report = SavedReport(kept, total_bytes(read_values(sides)), again)
    return Partition(forward, backward, kept, report, joint, sizes)
