"""The partition that saves the fewest bytes.

Which values to save is a minimum cut. Everything the backward pass needs of the forward pass flows to it through
values; the pipe of a value is as wide as the value is large, and cutting it means saving it. What lies behind the cut
is computed again in the backward pass. Two things can't be: what costs much to compute (matrix products, convolutions,
reductions), and the arguments. So they are where the flow begins.

>>> from minitorch_compile.aot.joint_graph import trace_joint
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> x, w = empty_fake((8, 8)), empty_fake((8, 8))
>>> w.requires_grad = True
>>> joint = trace_joint(trace(lambda x, w: ((x @ w).sin().exp().cos(),), [x, w]), [True])
>>> [node.name for node in min_cut_partition(joint).saved]
['mm', 'x']

In a checkpointed region everything can be computed again, and only what leaves it can be saved.

Source: the rematerialisation pass of PyTorch's AOTAutograd (`torch/_functorch/partitioners.py`).
"""

from __future__ import annotations

from minitorch_compile.aot.joint_graph import JointGraph
from minitorch_compile.aot.max_flow import INFINITE, FlowNetwork
from minitorch_compile.aot.partition import Partition, Sides, cut
from minitorch_compile.aot.recomputation import is_cheap, is_size, is_view, read_within_region, region_of, total_bytes
from minitorch_compile.aot.subgraph import ancestors
from minitorch_compile.fx.node import Node

SOURCE, SINK = "forward", "backward"


def min_cut_partition(joint: JointGraph) -> Partition:
    """Saves what takes the fewest bytes, computing cheap things again."""
    sides = Sides(joint)
    network = FlowNetwork()
    needed = ancestors(sides.gradients)
    computable = [n for n in sides.order if n in needed and n not in sides.backward and not is_size(n)]
    for node in computable:
        network.add_edge((node, "in"), (node, "out"), _width(node, needed))
        if node in sides.inputs or (node in sides.forward and not _can_be_made_again(node)):
            network.add_edge(SOURCE, (node, "in"), INFINITE)
        for user in node.users:
            if user in sides.backward and user in needed:
                network.add_edge((node, "out"), SINK, INFINITE)
            elif user in needed and user.op != "output":
                network.add_edge((node, "out"), (user, "in"), INFINITE)
    saved = [start[0] for start, _ in network.minimum_cut(SOURCE, SINK)] if SINK in network.residual else []
    return cut(joint, sides, saved)


def _width(node: Node, needed: set[Node]) -> float:
    """What saving the value costs; of equal ones an argument is the cheapest, a view the dearest. Tuples can't be."""
    if isinstance(node.meta.get("val"), tuple) or node.op == "get_attr":
        return INFINITE
    if all(read_within_region(node, user) for user in node.users if user in needed) and region_of(node) is not None:
        return INFINITE
    preference = 0 if node.op == "placeholder" else 2 if is_view(node) else 1
    return total_bytes([node]) + preference


def _can_be_made_again(node: Node) -> bool:
    return region_of(node) is not None or is_cheap(node)
