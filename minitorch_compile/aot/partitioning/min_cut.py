"""The partition that saves the fewest bytes.

Which values to save is a minimum cut. Everything the backward pass needs of the forward pass flows to it through
values; the pipe of a value is as wide as the value is large, and cutting it means saving it. What lies behind the cut
is computed again in the backward pass. Three things can't be: what costs much to compute (matrix products,
convolutions, reductions), which elements equal the largest, and the arguments. So they are where the flow begins.

>>> from minitorch_compile.aot.joint_graph import trace_joint
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> x, w = empty_fake((8, 8)), empty_fake((8, 8))
>>> w.requires_grad = True
>>> joint = trace_joint(trace(lambda x, w: ((x @ w).sin().exp().cos(),), [x, w]), [True])
>>> [node.name for node in min_cut_partition(joint).saved]
['mm', 'x']

A checkpointed region is computed again, whatever it costs, for its own backward pass. What it hands to others is not:
for them it is as if it cost much.

Source: the rematerialisation pass of PyTorch's AOTAutograd (`torch/_functorch/partitioners.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from minitorch_compile.aot.joint_graph import JointGraph
from minitorch_compile.aot.partitioning.max_flow import INFINITE, FlowNetwork
from minitorch_compile.aot.partitioning.partition import Partition, Sides, cut
from minitorch_compile.aot.partitioning.recomputation import (
    is_cheap,
    is_constant,
    is_size,
    is_view,
    read_within_region,
    region_of,
    tells_equals,
    total_bytes,
)
from minitorch_compile.aot.subgraph import ancestors
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import SymFloat

SOURCE, SINK = "forward", "backward"
BYTE = 2**20  # so much that no sum of preferences weighs as much


def min_cut_partition(
    joint: JointGraph, not_again: Callable[[Sides], Collection[Node]] = lambda sides: ()
) -> Partition:
    """Saves what takes the fewest bytes, computing cheap things again; not those that `not_again` names."""
    sides = Sides(joint)
    dear = not_again(sides)
    network = FlowNetwork()
    needed = ancestors(sides.gradients)
    computable = [n for n in sides.order if n in needed and n not in sides.backward and not is_size(n)]
    for node in computable:
        network.add_edge((node, "in"), (node, "out"), _width(node, sides))
        is_dear = tells_equals(node) or node in dear or (node in sides.forward and not _can_be_made_again(node))
        if node in sides.inputs or is_dear:
            network.add_edge(SOURCE, (node, "in"), INFINITE)
        if node in sides.gradients:  # of no tangent, such as the gradient of what is multiplied with zeros
            network.add_edge((node, "out"), SINK, INFINITE)
        readers = [user for user in node.users if user in needed and user.op != "output"]
        others = [user for user in readers if _is_handed_on(node, user, sides)]
        if others:
            network.add_edge(SOURCE, (node, "handed on"), _cost(node, sides))
        for user in readers:
            start = (node, "handed on" if user in others else "out")
            network.add_edge(start, SINK if user in sides.backward else (user, "in"), INFINITE)
    edges = network.minimum_cut(SOURCE, SINK) if SINK in network.residual else set()
    return cut(joint, sides, {end[0] if start == SOURCE else start[0] for start, end in edges})


def _is_handed_on(node: Node, user: Node, sides: Sides) -> bool:
    """Whether a value leaves its region here."""
    in_region = region_of(node) is not None and node in sides.forward and not is_constant(node)
    return in_region and not read_within_region(node, user)


def _width(node: Node, sides: Sides) -> float:
    """What saving the value costs, where that is possible: within a region nothing is saved, and tuples and
    floats can't be."""
    if isinstance(node.meta.get("val"), (tuple, SymFloat)) or node.op == "get_attr" or region_of(node) is not None:
        return INFINITE
    return _cost(node, sides)


def _cost(node: Node, sides: Sides) -> int:
    """The value's bytes. Of equal ones the best to save is one that outlives the forward pass anyway, the worst a view;
    of others the one that is nearest to its use."""
    outlives = node in sides.inputs or node in sides.outputs
    preference = 0 if outlives else 2 if is_view(node) else 1
    return BYTE * total_bytes([node]) + preference


def _can_be_made_again(node: Node) -> bool:
    return region_of(node) is not None or is_cheap(node)
