"""Graphs as stages: an item for each node, in the frames of the modules that it was called in.

>>> import minitorch_compile as torch
>>> seen = torch.compiler.inspect(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), torch.ones(3, 2))
>>> for item in graph_stage("graph", "captured graph", seen.graph).items[-3:]:
...     print(item.kind, item.label, item.module)
contraction linear ('0',)
pointwise relu ('1',)
output output ()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from minitorch_compile.aot.partitioning.partition import Partition, Sides
from minitorch_compile.aot.subgraph import ancestors
from minitorch_compile.compiler.viewer.report import Item, Origins, Stage
from minitorch_compile.compiler.viewer.trails import trail_of
from minitorch_compile.fx import GraphModule, Node
from minitorch_compile.fx.draw import label_of
from minitorch_compile.fx.kinds import kind_of
from minitorch_compile.fx.passes.before_and_after import change_of
from minitorch_compile.fx.printer import format_node, stack_text, value_text

Change = tuple[str, GraphModule, GraphModule]  # the name of a pass, the graph before and after it

STAGES = ("graph", "ops", "prims", "forward", "backward")
FORWARD, BACKWARD = "forward pass", "backward pass"
SIGNS = {"removed": "-", "added": "+", "rewired": "~"}


def graph_stage(
    key: str, title: str, module: GraphModule, kinds: Callable[[Node], str] = kind_of, prefix: str = "", note: str = ""
) -> Stage:
    """A box for each node. `kinds` names their looks, `prefix` tells apart the stages of several graphs."""
    both = any("backward" in node.meta for node in module.graph.nodes)
    items = [node_item(node, kinds(node), key, prefix, both) for node in module.graph.nodes]
    count = sum(node.op not in ("placeholder", "output") for node in module.graph.nodes)
    return Stage(prefix + key, title, "graph", items, note or f"{count} operations")


def node_item(node: Node, kind: str, key: str, prefix: str, both: bool) -> Item:
    return Item(
        name=node.name,
        label=label_of(node),
        kind=kind,
        detail="" if node.op == "output" else value_text(node.meta.get("val"), strides=False),
        code=format_node(node),
        place=stack_text(node),
        module=tuple(frames_of(node, both)),
        reads=[source.name for source in node.all_input_nodes],
        origins=origins_of(node, prefix, before=key),
    )


def frames_of(node: Node, both: bool) -> Iterator[str]:
    """The pass that a node of a joint graph belongs to, then the modules."""
    if both and node.op == "call_function":
        yield BACKWARD if "backward" in node.meta else FORWARD
    yield from filter(None, node.meta.get("module", "").split("."))


def origins_of(node: Node, prefix: str = "", before: str = "") -> Origins:
    """What a node was made for: its trail up to a stage, and the user's line."""
    trail = dict.fromkeys(STAGES, node.name) if node.op == "placeholder" else {}  # an argument keeps its name
    trail |= trail_of(node)
    origins = {prefix + stage: [name] for stage, name in trail.items() if stage not in later_than(before)}
    if node.meta.get("stack"):
        origins["lines"] = [line_name(node.meta["stack"])]
    return origins


def later_than(stage: str) -> tuple[str, ...]:
    """This stage, and those behind it: all of these are made later. "" is behind all."""
    return STAGES[STAGES.index(stage) :] if stage else ()


def line_name(stack: tuple[str, int, str]) -> str:
    return f"{stack[0]}:{stack[1]}"


def kinds_in_cut(partition: Partition) -> Callable[[Node], str]:
    """How nodes of the joint graph look once it is cut: what is saved, and what is computed again, stands out."""
    sides = Sides(partition.joint)
    saved = {*partition.saved, *partition.saved_sizes}
    forward = ancestors([*sides.outputs, *saved])
    backward = ancestors([*sides.gradients], stop_at=saved) - saved
    again = {node for node in forward & backward if node.op == "call_function"}
    return lambda node: "saved" if node in saved else "recomputed" if node in again else kind_of(node)


def passes_stage(changes: Sequence[Change], prefix: str = "") -> Stage:
    """A text with, for each pass that did something, the nodes that came, went, or read something else."""
    items: list[Item] = []
    for number, (name, before, after) in enumerate(changes):
        counts = f"{len(before.graph.nodes)} -> {len(after.graph.nodes)} nodes"
        items.append(Item(f"pass{number}", f"{name}: {counts}", "heading"))
        for sign, node in changed_nodes(before, after):
            text = f"{sign} {format_node(node)}"
            item = Item(f"{number}{sign}{node.name}", text, "line", place=stack_text(node))
            item.origins = origins_of(node, prefix)
            items.append(item)
    note = "- is gone, + is new, ~ reads something else" if items else ""
    return Stage(f"{prefix}passes", "passes, before and after", "text", items, note)


def changed_nodes(before: GraphModule, after: GraphModule) -> Iterator[tuple[str, Node]]:
    """The nodes in which two graphs differ, with a sign."""
    old, new = ({node.name: node for node in module.graph.nodes} for module in (before, after))
    for node in before.graph.nodes:
        if change_of(node, new.get(node.name), "removed") == "removed":
            yield SIGNS["removed"], node
    for node in after.graph.nodes:
        change = change_of(node, old.get(node.name), "added")
        if change != "kept":
            yield SIGNS[change], node
