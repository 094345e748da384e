"""Captured programs that call backward() or grad() themselves: a training step as one graph.

Such a program is run under the tape, with its parameters as leaves, so that the call finds a recorded graph; what is
written down are operations, forward and backward. Nothing is left for a joint graph: no result has a history.

>>> import minitorch_compile as torch
>>> def show(gm, inputs):
...     print(sorted(differentiated_arguments(gm.graph)))
...     return gm
>>> def step(w, x):
...     (w * x).sum().backward()
>>> torch.compile(step, backend=show)(torch.ones(2, requires_grad=True), torch.ones(2))
['w']
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.dynamo.capture.traced_backward import gradients_of, run_backward
from minitorch_compile.fx.graph import Graph
from minitorch_compile.tensor.tensor_base import TensorBase

BACKWARD_CALLS: tuple[Any, ...] = (run_backward, gradients_of)


def differentiated_arguments(graph: Graph) -> frozenset[str]:
    """The names of the arguments that a program with such a call records for itself: all that require grad."""
    arguments = graph.find_nodes(op="placeholder")
    return frozenset(node.name for node in arguments if _requires_grad(node.meta.get("val")))


def _requires_grad(x: object) -> bool:
    return isinstance(x, TensorBase) and x.requires_grad
