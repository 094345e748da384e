"""Which nodes of earlier stages a node was made for: its trail.

`inspect` marks each graph that it keeps. A node made later for a marked one inherits the mark (`aot/tracing.py`), so at
the end every node of prims knows its op in the joint graph and its call in the user's code:

>>> import minitorch_compile as torch
>>> seen = torch.compiler.inspect(lambda x: x.softmax(0), torch.ones(4))
>>> for node in seen.prim_graph.graph.find_nodes(op="call_function")[:3]:
...     print(node.meta["trail"])
{'code': 'i5', 'graph': 'softmax', 'ops': 'softmax', 'prims': 'amax'}
{'code': 'i5', 'graph': 'softmax', 'ops': 'softmax', 'prims': 'reshape'}
{'code': 'i5', 'graph': 'softmax', 'ops': 'softmax', 'prims': 'broadcast_in_dim'}

Without `inspect` no node has one, and nothing is spent on it.
"""

from __future__ import annotations

from minitorch_compile.fx import GraphModule, Node

Trail = dict[str, str]  # stage -> name of the node there


def mark(module: GraphModule, stage: str) -> GraphModule:
    """Adds to the trail of each node that it passed through this stage, under its name there; to that of a captured one
    the instruction that made it, too. Returns the module.

    An argument is made anew in each stage, under the name that it had before.
    """
    for node in module.graph.nodes:
        instruction = {"code": f"i{node.meta['instruction']}"} if "instruction" in node.meta else {}
        node.meta["trail"] = {**instruction, **trail_of(node), stage: node.name}
    return module


def trail_of(node: Node) -> Trail:
    """The trail of a node, {} if it has none."""
    return node.meta.get("trail", {})
