"""A pass as a class: what it requires of a graph module, what it does, and what holds afterwards.

>>> from minitorch_compile.fx import symbolic_trace
>>> class DropDeadCode(PassBase):
...     def call(self, graph_module):
...         return PassResult(graph_module, graph_module.graph.eliminate_dead_code())
>>> DropDeadCode()(symbolic_trace(lambda x: (x + 1, x)[1])).modified
True
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from minitorch_compile.fx.graph_module import GraphModule


class PassResult(NamedTuple):
    """The graph module after a pass, and whether the pass changed it."""

    graph_module: Any
    modified: bool


class PassBase(abc.ABC):
    """Subclasses say in `call` what the pass does, and may check the graph module before and after."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """The pass."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises if the pass can't be run."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises if the pass did wrong."""


__all__ = ["PassBase", "PassResult"]
