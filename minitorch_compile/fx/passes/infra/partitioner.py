"""The largest parts of a graph that a backend can do, each of which may become one node.

>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.fx.passes.operator_support import create_op_support
>>> module = symbolic_trace(lambda x: ((x + 1) * 2).relu() - 3)
>>> support = create_op_support(lambda modules, node: node.op == "call_function")
>>> partitioner = CapabilityBasedPartitioner(module, support, allows_single_node_partition=True)
>>> fused = partitioner.partition_and_fuse()
>>> [node.name for node in fused.graph.nodes]
['x', 'fused_0', 'relu', 'fused_1', 'output']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.passes.operator_support import OperatorSupportBase
from minitorch_compile.fx.passes.utils.fuser_utils import fuse_by_partitions, validate_partition


class Partition:
    """Nodes that become one."""

    def __init__(
        self,
        id: int | None = None,
        nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int | None] | None = None,
    ) -> None:
        self.id = id
        self.nodes: dict[Node, int | None] = dict.fromkeys(nodes or ())
        if node_orders is not None:
            self.nodes = dict(zip(self.nodes, node_orders, strict=True))

    def __repr__(self) -> str:
        return str(list(self.nodes))

    def add_node(self, node: Node) -> None:
        self.nodes[node] = None

    def remove_node(self, node: Node) -> None:
        del self.nodes[node]

    def size(self) -> int:
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Finds them: `operator_support` says which nodes may be in one. A part of a single node is one only if allowed, or
    if the node is not among `non_compute_ops`. `skip_horizontal_fusion`: a node joins only a part that reads
    from it or that it reads from."""

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def propose_partitions(self) -> list[Partition]:
        """Each node joins the part of one that it reads or that reads it, if nothing lies between."""
        modules = dict(self.graph_module.named_modules())
        parts: list[Partition] = []
        for node in self.graph_module.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output") or not self._supported(modules, node):
                continue
            for part in reversed(parts):
                if validate_partition([*part.nodes, node]) and self._may_join(parts, part, node):
                    part.add_node(node)
                    break
            else:
                parts.append(Partition(len(parts), [node]))
        return [part for part in parts if self._worth_it(part)]

    def _supported(self, modules: dict[str, object], node: Node) -> bool:
        return self.operator_support.is_node_supported(modules, node)

    def _may_join(self, parts: list[Partition], part: Partition, node: Node) -> bool:
        """Whether no other part would have to run both before and after."""
        inside = {*part.nodes, node}
        if self.skip_horizontal_fusion and not any(n in node.all_input_nodes or n in node.users for n in part.nodes):
            return False
        for other in parts:
            if other is not part and _leads_to(inside, set(other.nodes)) and _leads_to(set(other.nodes), inside):
                return False
        return True

    def _worth_it(self, part: Partition) -> bool:
        if part.size() > 1 or self.allows_single_node_partition:
            return True
        (node,) = part.nodes
        return node._pretty_print_target(node.target) in self.allowed_single_node_partition_ops

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Each part becomes a module and a call of it."""
        return fuse_by_partitions(self.graph_module, [part.nodes for part in partitions], prefix=prefix)

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Both steps."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)


def _leads_to(start: set[Node], goal: set[Node]) -> bool:
    """Whether a value of `goal` needs one of `start`."""
    seen, waiting = set(start), list(start)
    while waiting:
        for user in waiting.pop().users:
            if user in goal:
                return True
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return False
