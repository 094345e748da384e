"""A training step in one graph: what its backward pass computes again.

Values that wait for the backward pass take memory, in one graph as in two. So a graph that calls backward() itself is
cut where a joint graph would be, by the same partitioner, and put together again, with what is computed a second time
in it twice:

>>> import minitorch_compile as torch
>>> w, x = torch.ones(8, 8, requires_grad=True), torch.ones(8, 8)
>>> def step(w, x):
...     loss = (x @ w).sin().exp().sum()
...     loss.backward()
...     return loss.detach()
>>> def show(gm, inputs):
...     print(*[node.name for node in gm.graph.find_nodes(op="call_function")])
...     return gm
>>> from minitorch_compile.aot import aot_function
>>> from minitorch_compile.aot import min_cut_partition
>>> backend = lambda gm, inputs: aot_function(gm, inputs, show, partition_fn=min_cut_partition)
>>> _ = torch.compile(step, backend=backend)(w, x)
mm sin exp sum_1 cos sin_1 exp_1 mul_1 transpose mm_1
"""

from __future__ import annotations

from minitorch_compile.aot.joint_graph import JointGraph
from minitorch_compile.aot.partitioning.partition import Partition, PartitionFunction
from minitorch_compile.aot.subgraph import descendants, extract
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.tensor_base import TensorBase


def with_recomputation(module: GraphModule, partition_fn: PartitionFunction) -> GraphModule:
    """The graph with cheap work done again behind `backward`, where the partitioner then saves less than is read."""
    if not any("backward" in node.meta for node in module.graph.nodes):
        return module
    returned = list(module.graph.output_node().args[0])
    behind = descendants([node for node in module.graph.nodes if "backward" in node.meta])
    ends = [node for node in module.graph.nodes if _ends_forward(node, behind)]
    forward = list(dict.fromkeys([*(node for node in returned if node not in behind), *ends]))
    results = list(dict.fromkeys(node for node in returned if node in behind))
    partition = partition_fn(_as_joint(module, forward, results))
    return _joined(module, partition, dict(zip([*forward, *results], range(len(forward) + len(results)))))


def _ends_forward(node: Node, behind: set[Node]) -> bool:
    """Whether all that reads a value of the forward pass comes behind it."""
    is_value = node.op == "call_function" and isinstance(node.meta.get("val"), TensorBase)
    return is_value and node not in behind and all(user in behind or user.op == "output" for user in node.users)


def _as_joint(module: GraphModule, forward: list[Node], results: list[Node]) -> JointGraph:
    """A joint graph without tangents: what belongs to the backward pass begins with the nodes that say so."""
    inputs = module.graph.find_nodes(op="placeholder")
    joint = extract(module, inputs, [*forward, *results])
    starts = [node for node in joint.graph.nodes if "backward" in node.meta]
    return JointGraph(joint, len(inputs), len(forward), [False] * len(forward), [], starts=starts)


def _joined(module: GraphModule, partition: Partition, position: dict[Node, int]) -> GraphModule:
    """Both halves one after the other. `position`: where a result of the module is among the results of both."""
    graph = Graph()
    inputs = [graph.node_copy(node) for node in partition.forward.graph.find_nodes(op="placeholder")]
    first = _copied(partition.forward.graph, inputs, graph)
    count = partition.joint.output_count
    found = [*first[:count], *_copied(partition.backward.graph, first[count:], graph)]
    old = module.graph.output_node()
    output = graph.output(tuple(found[position[node]] for node in old.args[0]))
    output.meta = dict(old.meta)
    graph.eliminate_dead_code()
    return LazyGraphModule({**partition.forward.attributes, **partition.backward.attributes}, graph)


def _copied(source: Graph, arguments: list[Node], graph: Graph) -> list[Node]:
    """The nodes of a graph behind those of another one; its results."""
    counterpart = dict(zip(source.find_nodes(op="placeholder"), arguments, strict=True))
    for node in source.nodes:
        if node.op not in ("placeholder", "output"):
            counterpart[node] = graph.node_copy(node, counterpart.__getitem__)
    return [counterpart[node] for node in source.output_node().args[0]]
