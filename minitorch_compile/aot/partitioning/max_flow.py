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
            total += self._fill(source, sink, levels)
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

    def _fill(self, source: Vertex, sink: Vertex, levels: dict[Vertex, int]) -> float:
        """Sends flow along paths whose every step leads a level on, until there are none left."""
        total: float = 0
        path = [source]
        untried: dict[Vertex, list[Vertex]] = {}
        while path:
            if path[-1] == sink:
                amount, full = self._push(path)
                total += amount
                del path[full + 1 :]  # what leads up to the full edge may be of use to the next path
            elif (end := self._next_step(path[-1], levels, untried)) is not None:
                path.append(end)
            else:
                levels[path.pop()] = -1  # a dead end: no path leads through it any more
        return total

    def _push(self, path: list[Vertex]) -> tuple[float, int]:
        """Sends as much along a path as fits; says how much, and from where on the path the first full edge begins."""
        steps = list(zip(path, path[1:], strict=False))
        amount = min(self.residual[start][end] for start, end in steps)
        if amount == INFINITE:
            raise ValueError("maximum_flow: a path of infinite capacity leads from the source to the sink")
        for start, end in steps:
            self.residual[start][end] -= amount
            self.residual[end][start] += amount
        return amount, next(at for at, (start, end) in enumerate(steps) if not self.residual[start][end])

    def _next_step(
        self, vertex: Vertex, levels: dict[Vertex, int], untried: dict[Vertex, list[Vertex]]
    ) -> Vertex | None:
        """The next vertex on a path. What is once full or a dead end stays so, and isn't looked at again."""
        rooms, next_level = self.residual[vertex], levels[vertex] + 1
        if vertex not in untried:
            untried[vertex] = [end for end in rooms if levels.get(end) == next_level]
        ends = untried[vertex]
        while ends and not (rooms[ends[-1]] > 0 and levels[ends[-1]] == next_level):
            ends.pop()
        return ends[-1] if ends else None

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
