"""Where in a graph does a pattern, a smaller graph, occur?

>>> from minitorch_compile.fx import symbolic_trace
>>> pattern = symbolic_trace(lambda a, b: (a + b).relu()).graph
>>> graph = symbolic_trace(lambda x, y: ((x + y).relu() + x).relu() * 2).graph
>>> for match in SubgraphMatcher(pattern).match(graph):
...     print(match.placeholder_nodes, "->", match.returning_nodes)
[x, y] -> [relu]
[relu, x] -> [relu_1]

The pattern's *anchors* are the values that it returns and does not use itself. Each is tried on each node of the graph
that does the same, and from there both graphs are walked towards their inputs, side by side. A placeholder of the
pattern stands for any value. A match must be self-contained: what it computes on the way nobody else may read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.passes.utils.fuser_utils import validate_partition
from minitorch_compile.tensor.tensor_base import TensorBase

FREE = ("placeholder", "output")  # nodes of a pattern that stand for nothing that is computed


@dataclass
class InternalMatch:
    """The node of the graph, or the constant, for each node of the pattern."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    @property
    def computed(self) -> dict[Node, Node]:
        """The nodes of the graph that compute what the pattern computes."""
        return {p: g for p, g in self.nodes_map.items() if p.op not in FREE}


class SubgraphMatcher:
    """Finds `pattern`. `match_output`: its output must be the graph's; `match_placeholder`: its placeholders must be
    placeholders; `ignore_literals`: constants may be others."""

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output, self.match_placeholder = match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if not node.users and node.op != "output" and not node.is_impure():
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_placeholder_nodes = pattern.find_nodes(op="placeholder")
        self.pattern_returning_nodes = output.all_input_nodes
        sinks = [node for node in output.all_input_nodes if len(node.users) == 1]
        self.pattern_anchors = [output] if match_output else sinks

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places where the pattern is found. A node whose name contains `node_name_match` fits any anchor."""
        matches = [match for match in self._all_matches(graph, node_name_match) if self._is_contained(match)]
        matches = [match for match in matches if validate_partition(list(match.computed.values()))]
        return _without_overlaps(matches) if self.remove_overlapping_matches else matches

    def _all_matches(self, graph: Graph, name: str) -> Iterator[InternalMatch]:
        nodes = list(graph.nodes)

        def extended(anchors: list[Node], found: dict[Node, Any]) -> Iterator[dict[Node, Any]]:
            if not anchors:
                yield found
                return
            for node in nodes:
                more = self._extended(anchors[0], node, found, name) if self._alike(anchors[0], node, name) else None
                if more is not None:
                    yield from extended(anchors[1:], more)

        for found in extended(self.pattern_anchors, {}) if self.pattern_anchors else ():
            if all(node in found for node in (*self.pattern_placeholder_nodes, *self.pattern_returning_nodes)):
                yield InternalMatch(
                    anchors=self.pattern_anchors,
                    nodes_map=found,
                    placeholder_nodes=[found[node] for node in self.pattern_placeholder_nodes],
                    returning_nodes=[found[node] for node in self.pattern_returning_nodes],
                )

    # ------------------------------------------------------------------------------------------ side by side

    def _extended(self, p: Node, g: Node, found: dict[Node, Any], name: str = "") -> dict[Node, Any] | None:
        """`found`, and that `p` is `g` with all that lies before them; None if it isn't."""
        if p in found:
            return found if found[p] is g else None
        if any(value is g for value in found.values()) or not self._alike(p, g, name):
            return None
        found = {**found, p: g}
        if p.op == "placeholder":
            return found
        pattern_args, graph_args = _arguments(p, g)
        return self._all_extended(pattern_args, graph_args, found)

    def _all_extended(self, ps: Any, gs: Any, found: dict[Node, Any] | None) -> dict[Node, Any] | None:
        if len(ps) != len(gs):
            return None
        for p, g in zip(ps, gs):
            if found is None:
                return None
            if isinstance(p, Node) and isinstance(g, Node):
                found = self._extended(p, g, found)
            elif isinstance(p, (list, tuple)) and isinstance(g, (list, tuple)):
                found = self._all_extended(p, g, found)
            elif not self.ignore_literals or isinstance(p, Node):
                found = self._with_literal(p, g, found)
        return found

    def _with_literal(self, p: Any, g: Any, found: dict[Node, Any]) -> dict[Node, Any] | None:
        if isinstance(p, Node):
            if p.op != "placeholder":
                return None
            same = p not in found or (type(found[p]) is type(g) and found[p] == g)
            return {**found, p: g} if same else None
        return found if not isinstance(g, Node) and type(p) is type(g) and p == g else None

    def _alike(self, p: Node, g: Node, name: str = "") -> bool:
        """Whether two nodes do the same, but for their arguments."""
        if p.op == "placeholder" and not self.match_placeholder:
            return True
        if name and name in g.name:
            return True
        if p.op != g.op:
            return False
        if p.op in FREE:
            return True
        return _same_kind_of_attribute(p, g) if p.op == "get_attr" else p.target == g.target

    def _is_contained(self, match: InternalMatch) -> bool:
        """Whether only what the pattern returns is read by others."""
        inside = {g for p, g in match.nodes_map.items() if p.op != "placeholder"}
        hidden = (
            g for p, g in match.nodes_map.items() if p.op != "placeholder" and p not in self.pattern_returning_nodes
        )
        return all(user in inside for g in hidden for user in g.users)


def _arguments(p: Node, g: Node) -> tuple[list[Any], list[Any]]:
    """The arguments of both in the same order. Of an op it doesn't matter whether they were given by name."""
    bind = getattr(p.target, "__signature__", None)
    if (
        bind is not None
        and hasattr(p.target, "kind")
        and (len(p.args), list(p.kwargs)) != (len(g.args), list(g.kwargs))
    ):
        both = [bind.bind(*node.args, **node.kwargs) for node in (p, g)]
        for bound in both:
            bound.apply_defaults()
        return list(both[0].arguments.values()), list(both[1].arguments.values())
    if list(p.kwargs) != list(g.kwargs):
        return [None], []
    return [*p.args, *p.kwargs.values()], [*g.args, *g.kwargs.values()]


def _same_kind_of_attribute(p: Node, g: Node) -> bool:
    """Constants match if they are tensors; which numbers are in them doesn't matter."""
    owners = p.graph.owning_module, g.graph.owning_module
    if owners[0] is None or owners[1] is None:
        raise AssertionError("matching get_attr nodes: both graphs must belong to a GraphModule")
    pattern_value, value = owners[0].attributes[str(p.target)], owners[1].attributes[str(g.target)]
    if type(pattern_value) is not type(value):
        return False
    if not isinstance(value, TensorBase):
        raise RuntimeError(f"Unsupported type {pattern_value} when matching attributes")
    return True


def _without_overlaps(matches: list[InternalMatch]) -> list[InternalMatch]:
    """The matches of which no earlier one has a node."""
    taken: set[Node] = set()
    kept = []
    for match in matches:
        nodes = set(match.computed.values())
        if not nodes & taken:
            kept.append(match)
            taken |= nodes
    return kept


__all__ = ["InternalMatch", "SubgraphMatcher"]
