"""Values of the forward pass that are written to memory in any case, and so cost nothing to save but their bytes.

Computing such a value again saves memory, but takes time: the backward pass writes it once more if a matrix product
reads it there, and of a chain, such as the sums that a residual stream is, all links are made again to get at one. On a
GPU, where bandwidth is what training waits for, it is saved. What stays inside of a kernel is another matter: it would
have to be written for being saved, and is computed again.

    x ──► norm ──► cast ──► mm ──► + bias ──► gelu ──► mm      in memory: what the products read, and what they make;
    └────────────────────────────────────────────────── + ──►  x, whose readers can't all be in one kernel

>>> from minitorch_compile.aot.joint_graph import trace_joint
>>> from minitorch_compile.aot.partitioning.partition import Sides
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> x, w = empty_fake((8, 8)), empty_fake((8, 8))
>>> w.requires_grad = True
>>> joint = trace_joint(trace(lambda x, w: ((x @ w).sin().exp() @ w,), [x, w]), [True])
>>> sorted(node.name for node in in_memory(Sides(joint)))
['exp', 'mm']
>>> [node.name for node in min_traffic_partition(joint).saved]
['exp', 'cos', 'x', 'w']

Source: `ban_recompute_materialized_backward` and `ban_recompute_long_fusible_chains` in PyTorch's partitioner
(`torch/_functorch/partitioners.py`), which come to the same.
"""

from __future__ import annotations

from minitorch_compile.aot.joint_graph import JointGraph
from minitorch_compile.aot.partitioning.min_cut import min_cut_partition
from minitorch_compile.aot.partitioning.partition import Partition, Sides
from minitorch_compile.aot.partitioning.recomputation import is_constant, is_size, is_view, region_of
from minitorch_compile.fx.node import Node

ALONE = frozenset({"contraction", "convolution"})  # kinds of what is computed by kernels of their own


def min_traffic_partition(joint: JointGraph) -> Partition:
    """Saves what is in memory anyway, if the backward pass needs it, and of the rest the fewest bytes."""
    return min_cut_partition(joint, in_memory)


def in_memory(sides: Sides) -> set[Node]:
    """What the forward pass writes to memory for readers of its own: those that have kernels to themselves, or that
    come behind such a reader. Regions that a user wants computed again are left out."""
    depth = _depths(sides)
    found = set()
    for node in depth:
        if node.op != "call_function" or is_view(node) or is_constant(node) or region_of(node) is not None:
            continue
        if any(is_alone(reader) or depth[reader] > depth[node] for reader in _readers(node, depth)):
            found.add(node)
    return found


def is_alone(node: Node) -> bool:
    """Whether a value is computed by a kernel of its own."""
    return getattr(node.target, "kind", None) in ALONE


def _depths(sides: Sides) -> dict[Node, int]:
    """How many kernels of their own are on the longest way to each value of the forward pass."""
    depth: dict[Node, int] = {}
    for node in sorted({*sides.forward, *sides.inputs}, key=sides.order.__getitem__):
        below = [depth[x] + is_alone(x) for x in node.all_input_nodes if x in depth and not is_size(x)]
        depth[node] = max(below, default=0)
    return depth


def _readers(node: Node, forward: dict[Node, int]) -> set[Node]:
    """Who reads a value in the forward pass, be it through views."""
    readers: set[Node] = set()
    for user in node.users:
        if user in forward:
            readers |= _readers(user, forward) if is_view(user) else {user}
    return readers
