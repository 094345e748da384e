"""Replace what a pattern computes, wherever it occurs, by something else.

>>> from minitorch_compile.fx import replace_pattern, symbolic_trace
>>> module = symbolic_trace(lambda x, y: (x + x.relu()) * (y + y.relu()))
>>> matches = replace_pattern(module, lambda a: a + a.relu(), lambda a: a.sin())
>>> len(matches), module.graph.compact()
(2, 'x, y -> x.sin() * y.sin()')
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from minitorch_compile.fx.symbolic_trace import symbolic_trace
from minitorch_compile.nn.module import Module

Pattern = Callable[..., Any] | Graph | GraphModule
Filter = Callable[[InternalMatch, Graph, Graph], bool]


class Match(NamedTuple):
    """Where the pattern was found: the node that it began from, and the node for each of its nodes."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A match, and the nodes that came in its place."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Pattern, replacement: Pattern) -> list[Match]:
    """Replaces all matches that don't overlap. Both functions are traced; they have the same parameters, and give the
    same number of results."""
    return [Match(each.anchor, each.nodes_map) for each in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Pattern,
    replacement: Pattern | None = None,
    match_filters: list[Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """As `replace_pattern`, where every filter says yes: it is given the match, the graph and the pattern's graph.
    `replacement_callback`, given the same, returns the graph to put in for this match."""
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    wanted, new = _graph_of(pattern), None if replacement is None else _graph_of(replacement)
    matcher = SubgraphMatcher(wanted, remove_overlapping_matches=True, ignore_literals=ignore_literals)
    matches = matcher.match(gm.graph, node_name_match=node_name_match)
    matches = [match for match in matches if all(fits(match, gm.graph, wanted) for fits in match_filters or ())]
    renewed: dict[Node, Node] = {}  # what a match needs may have been replaced with the match before
    done = []
    for match in matches:
        graph = new if replacement_callback is None else replacement_callback(match, gm.graph, wanted)
        assert graph is not None
        done.append(_replaced(gm.graph, match, wanted, graph, renewed))
    if isinstance(replacement, Module):  # those that nobody calls any more go
        gm.delete_all_unused_submodules()
    if new is not None and new.owning_module is not None:
        _bring_attributes(gm, new.owning_module)
    gm.recompile()
    return done


def _graph_of(pattern: Pattern) -> Graph:
    if isinstance(pattern, Graph):
        return pattern
    return pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph


def _replaced(
    graph: Graph, match: InternalMatch, pattern: Graph, new: Graph, renewed: dict[Node, Node]
) -> ReplacedPatterns:
    inputs = new.find_nodes(op="placeholder")
    if len(inputs) != len(match.placeholder_nodes):
        raise AssertionError(f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(inputs)}")
    for p, g in list(match.nodes_map.items()):
        if isinstance(g, Node) and p.op == "placeholder":
            match.nodes_map[p] = renewed.get(g, g)
    match.placeholder_nodes = [renewed.get(g, g) if isinstance(g, Node) else g for g in match.placeholder_nodes]
    copies: dict[Node, Any] = dict(zip(inputs, match.placeholder_nodes))
    with graph.inserting_before(_place(graph, match)):
        results = graph.graph_copy(new, copies)
    results = results if isinstance(results, (tuple, list)) else (results,)
    if len(results) != len(match.returning_nodes):
        raise AssertionError(f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(results)}")
    for old, result in zip(match.returning_nodes, results):
        old.replace_all_uses_with(result)
        renewed[old] = result
    for node in reversed(pattern.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[node])
    added = [copies[node] for node in new.nodes if node.op not in ("placeholder", "output")]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, added)


def _place(graph: Graph, match: InternalMatch) -> Node:
    """Before the first who reads what the pattern returns; if nobody does, behind the last of it."""
    users = {user for node in match.returning_nodes for user in node.users}
    for node in graph.nodes:
        if node in users:
            return node
    last = next(node for node in reversed(graph.nodes) if node in match.returning_nodes)
    return last.next


def _bring_attributes(gm: GraphModule, replacement: GraphModule) -> None:
    """The modules and tensors of the replacement, unless the module has something of the name."""
    theirs = replacement.attributes
    for node in gm.graph.nodes:
        if node.op not in ("get_attr", "call_module") or node.target in gm.attributes:
            continue
        if node.target not in theirs:
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph rewriting with target {node.target}, but the'
                " referenced attribute does not exist in the replacement GraphModule"
            )
        gm.attributes[str(node.target)] = copy.deepcopy(theirs[str(node.target)])
    gm.graph.lint()


__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]
