"""Maximum flow and minimum cut.

A network of pipes carries as much from a source to a sink as fits through its narrowest cut: the cheapest set of pipes
whose removal separates the two (Ford and Fulkerson 1956).

>>> network = FlowNetwork()
>>> for start, end, capacity in [("s", "a", 3), ("s", "b", 2), ("a", "b", 1), ("a", "t", 1), ("b", "t", 4)]:
...     network.add_edge(start, end, capacity)
>>> network.maximum_flow("s", "t")
4
>>> sorted(network.minimum_cut("s", "t"))
[('a', 'b'), ('a', 't'), ('s', 'b')]

The algorithm is Dinic's (1970): find by how many steps each node is reached, send flow along shortest paths only until
none is left, repeat.
"""

from __future__ import annotations

from collections import deque
from typing import Any

INFINITE = float("inf")
Vertex = Any  # anything hashable


class FlowNetwork:
    """Directed edges with capacities. `residual[u][v]`: how much more could flow from u to v."""

    def __init__(self) -> None:
        self.residual: dict[Vertex, dict[Vertex, float]] = {}
        self.edges: list[tuple[Vertex, Vertex]] = []

    def add_edge(self, start: Vertex, end: Vertex, capacity: float) -> None:
        """An edge; capacities of edges between the same nodes add up."""
        forward = self.residual.setdefault(start, {})
        forward[end] = forward.get(end, 0) + capacity
        self.residual.setdefault(end, {}).setdefault(start, 0)
        self.edges.append((start, end))

    def maximum_flow(self, source: Vertex, sink: Vertex) -> float:
        """How much can flow; ValueError if without limit. Uses up the capacities."""
        total: float = 0
        while sink in (levels := self._levels(source)):
            while pushed := self._push(source, sink, levels):
                total += pushed
                if total == INFINITE:
                    raise ValueError("maximum_flow: a path of infinite capacity leads from the source to the sink")
        return total

    def minimum_cut(self, source: Vertex, sink: Vertex) -> set[tuple[Vertex, Vertex]]:
        """The edges of a cheapest cut: of all such cuts the one nearest to the sink."""
        self.maximum_flow(source, sink)
        behind = self._reaching(sink)
        return {(start, end) for start, end in self.edges if start not in behind and end in behind}

    def _levels(self, source: Vertex) -> dict[Vertex, int]:
        """How many steps each node is from the source, along edges with room."""
        levels, waiting = {source: 0}, deque([source])
        while waiting:
            vertex = waiting.popleft()
            for end, room in self.residual.get(vertex, {}).items():
                if room > 0 and end not in levels:
                    levels[end] = levels[vertex] + 1
                    waiting.append(end)
        return levels

    def _push(self, source: Vertex, sink: Vertex, levels: dict[Vertex, int]) -> float:
        """Sends flow along one path whose every step leads a level on; 0 if there is none left."""
        path = [source]
        while path[-1] != sink:
            end = self._next_step(path[-1], levels)
            if end is not None:
                path.append(end)
            elif len(path) == 1:
                return 0
            else:
                levels[path.pop()] = -1  # a dead end: no path leads through it any more
        steps = list(zip(path, path[1:], strict=False))
        amount = min(self.residual[start][end] for start, end in steps)
        for start, end in steps:
            self.residual[start][end] -= amount
            self.residual[end][start] += amount
        return amount

    def _next_step(self, vertex: Vertex, levels: dict[Vertex, int]) -> Vertex | None:
        for end, room in self.residual[vertex].items():
            if room > 0 and levels.get(end) == levels[vertex] + 1:
                return end
        return None

    def _reaching(self, sink: Vertex) -> set[Vertex]:
        """The nodes from which more could still flow to the sink."""
        reaching, waiting = {sink}, [sink]
        while waiting:
            vertex = waiting.pop()
            for start in self.residual[vertex]:
                if start not in reaching and self.residual[start][vertex] > 0:
                    reaching.add(start)
                    waiting.append(start)
        return reaching
