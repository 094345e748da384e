"""Which tangents each gradient of a joint graph is computed from: without them it is a zero, or None.

>>> from minitorch_compile.aot.joint_graph import trace_joint
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake
>>> x, y = empty_fake((2,)), empty_fake((2,))
>>> x.requires_grad = y.requires_grad = True
>>> joint = trace_joint(trace(lambda x, y: (x.exp(), x * y), [x, y]), [True, True])
>>> tangents_of_gradients(joint)
[frozenset({0, 1}), frozenset({1})]
"""

from __future__ import annotations

from minitorch_compile.aot.joint_graph import JointGraph
from minitorch_compile.fx.node import Node


def tangents_of_gradients(joint: JointGraph) -> list[frozenset[int]]:
    """For each gradient that is returned, the numbers of the tangents that it is computed from."""
    placeholders = joint.graph_module.graph.find_nodes(op="placeholder")[joint.input_count :]
    sources: dict[Node, frozenset[int]] = {node: frozenset((i,)) for i, node in enumerate(placeholders)}
    for node in joint.graph_module.graph.nodes:
        inherited = (sources[source] for source in node.all_input_nodes)
        sources.setdefault(node, frozenset().union(*inherited))
    returned = joint.graph_module.graph.output_node().args[0][joint.output_count :]
    return [sources[node] for node in returned]
