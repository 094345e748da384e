"""Grad mode in a captured graph: a node for each switch, none that is idle, and the mode back where the graph raises.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import grad_mode, ones
>>> def f(x):
...     with grad_mode.no_grad():
...         y = x * 2
...     return y
>>> print(captured(f, ones(2)))
x -> switch_grad_mode = switch_grad_mode(False); switch_grad_mode_1 = switch_grad_mode(True); (x * 2,)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.dynamo.variables.tracer import Output
from minitorch_compile.fx import Graph
from minitorch_compile.fx.effects import has_side_effect
from minitorch_compile.tensor import grad_mode


@has_side_effect
def switch_grad_mode(enabled: bool) -> None:
    """Turns grad mode on or off; the node that `with no_grad():` leaves in a graph."""
    grad_mode.state.enabled = enabled


class GradSwitches(Output):
    """What the tracer does when the program switches."""

    def switch_grad_mode(self, enabled: bool) -> None:
        """Grad mode changes now, for the fakes, and in the graph when it runs."""
        node = self.graph.call_function(switch_grad_mode, (enabled,))
        node.meta.update(val=None, stack=self.tracer.user_line())
        grad_mode.state.enabled = enabled


def drop_idle_switches(graph: Graph, enabled_before: bool) -> None:
    """A switch directly followed by another has no effect; nor has one to the mode that holds already."""
    for node in reversed(graph.nodes):
        if node.target is switch_grad_mode and node.next.target is switch_grad_mode:
            graph.erase_node(node)
    mode = enabled_before
    for node in graph.nodes:
        if node.target is switch_grad_mode:
            before, mode = mode, bool(node.args[0])
            if before == mode:
                graph.erase_node(node)


def restoring_grad_mode(graph: Callable[..., Any]) -> Callable[..., Any]:
    """A graph that switches grad mode: if it raises in between, the switch goes back."""

    def run(*args: Any) -> Any:
        before = grad_mode.state.enabled
        try:
            return graph(*args)
        except BaseException:
            grad_mode.state.enabled = before
            raise

    return run
