"""Measuring where a joint graph is cut in two: for lesson 11's exercises and their checks.

>>> import minitorch_compile as torch
>>> from minitorch_compile.tensor import empty_fake
>>> x = empty_fake((1000,)).requires_grad_()
>>> joint = joint_graph(lambda x: x.sin().exp(), x)
>>> [node.name for node in read(joint)], [node.name for node in cheapest(joint)]
(['x', 'exp'], ['x'])
>>> work(joint, read(joint)), work(joint, cheapest(joint))
(3, 5)

Here the rule is as simple as in the lesson: pointwise operations and views may be made again, nothing else may, and all
that counts are bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from minitorch_compile.aot import JointGraph, trace, trace_joint
from minitorch_compile.aot.partitioning.max_flow import INFINITE, FlowNetwork
from minitorch_compile.aot.subgraph import ancestors, descendants, extract
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.tensor_base import TensorBase, nbytes

CHEAP = ("pointwise", "view")


def joint_graph(program: Callable[..., Any], *examples: TensorBase) -> JointGraph:
    """The joint graph of a program that returns one tensor and writes nowhere, for arguments like the examples."""

    @wraps(program)  # for the names of its parameters
    def of_a_tuple(*given: Any) -> tuple[Any]:
        return (program(*given),)

    return trace_joint(trace(of_a_tuple, examples), [True])


def size(node: Node) -> int:
    """The bytes of a node's value."""
    return int(nbytes(node.meta["val"]))


def arguments(joint: JointGraph) -> list[Node]:
    return joint.graph_module.graph.find_nodes(op="placeholder")[: joint.input_count]


def tangents(joint: JointGraph) -> list[Node]:
    return joint.graph_module.graph.find_nodes(op="placeholder")[joint.input_count :]


def results(joint: JointGraph) -> list[Node]:
    return list(joint.graph_module.graph.output_node().args[0][: joint.output_count])


def gradients(joint: JointGraph) -> list[Node]:
    return list(joint.graph_module.graph.output_node().args[0][joint.output_count :])


def read(joint: JointGraph) -> list[Node]:
    """What the backward pass reads of the forward pass if it makes nothing again, in order of execution."""
    forward = ancestors(results(joint)) | set(arguments(joint))
    reached = ancestors(gradients(joint), stop_at=forward)
    return [node for node in joint.graph_module.graph.nodes if node in forward & reached]


def backward_graph(joint: JointGraph, saved: Sequence[Node]) -> GraphModule:
    """The graph from what is saved, and the tangents, to the gradients. RuntimeError if too little is saved."""
    return extract(joint.graph_module, [*saved, *tangents(joint)], gradients(joint))


def work(joint: JointGraph, saved: Sequence[Node]) -> int:
    """The number of operations in the backward graph, views not counted."""
    calls = backward_graph(joint, saved).graph.find_nodes(op="call_function")
    return sum(getattr(call.target, "kind", None) != "view" for call in calls)


def cheapest(joint: JointGraph) -> list[Node]:
    """The values of the fewest bytes from which cheap operations can make all that the backward pass reads."""
    late, needed = descendants(tangents(joint)), ancestors(gradients(joint))
    network, given = FlowNetwork(), arguments(joint)
    early = [node for node in joint.graph_module.graph.nodes if node in needed and node not in late]
    for node in early:
        network.add_edge((node, "in"), (node, "out"), size(node))
        if node in given or not _is_cheap(node):
            network.add_edge("source", (node, "in"), INFINITE)
        for user in node.users:
            if user in needed:
                end = "sink" if user in late else (user, "in")
                network.add_edge((node, "out"), end, INFINITE)
    if "sink" not in network.residual:
        return []
    cut = {start for start, _ in network.minimum_cut("source", "sink")}
    return [node for node in early if (node, "in") in cut]


def _is_cheap(node: Node) -> bool:
    """Whether it may be made again: also what is made of nothing, such as a tensor of ones."""
    return getattr(node.target, "kind", None) in CHEAP or not node.all_input_nodes
