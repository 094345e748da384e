"""Captured programs that call backward() or grad() themselves: a training step as one graph.

Such a program is run under the tape, with its parameters as leaves, so that the call finds a recorded graph; what is
written down are operations, forward and backward. Nothing is left for a joint graph: no result has a history.
"""

from __future__ import annotations

from minitorch_compile.autograd.traced_backward import gradients_of, walk_back
from minitorch_compile.fx.graph import Graph
from minitorch_compile.tensor.tensor_base import TensorBase


def arguments_walked_back_to(graph: Graph) -> frozenset[str]:
    """The names of the arguments that a program records for itself: all that require grad, if it walks back at all."""
    if not any(graph.find_nodes(op="call_function", target=target) for target in (walk_back, gradients_of)):
        return frozenset()
    arguments = graph.find_nodes(op="placeholder")
    return frozenset(node.name for node in arguments if _requires_grad(node.meta.get("val")))


def _requires_grad(x: object) -> bool:
    return isinstance(x, TensorBase) and x.requires_grad
