"""The steps of function transforms in a graph: functions that are one node each, though they are no operations.

`vmap` is Python around a few steps such as "this tensor is one example of a batch from now on". A step is run while
tracing, on fakes, as the graph will run it: so what it changes (the stack of transforms) is changed for the rest of
the trace, too. A step that gives no tensor, but an answer, is answered while tracing.

>>> from minitorch_compile.control import graph_step
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> @graph_step
... def halved(x):
...     return x / 2
>>> @graph_step
... def is_matrix(x):
...     return x.dim() == 2
>>> print(captured(lambda x: halved(x) if is_matrix(x) else x, ones(2, 2)))
x -> halved = halved(x); (halved,)

What a transform makes for itself means nothing outside of it: an example of a batch, a tensor that is watched. The
graph must not give such a tensor away (`confinement`).
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.fx import Graph
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.tensor_base import TensorBase


def is_inside(graph: Graph) -> bool:
    """Whether the end of the graph, as far as it is traced, is inside a transform."""
    return bool(stacks.transforms) or any(getattr(node.meta.get("val"), "is_in_use", False) for node in graph.nodes)


def confinement(x: TensorBase) -> str:
    """Why a tensor must not leave the graph; empty if it may."""
    if x.is_confined:
        return "a tensor lives on that means something only inside the transform (vmap, grad, ...) that made it"
    if x.requires_grad and not is_followed_from_outside(x):
        return "a tensor lives on that only a transform which has ended (grad, vjp, ...) could differentiate"
    return ""


def is_followed_from_outside(x: TensorBase) -> bool:
    """Whether somebody outside of all transforms differentiates with respect to what x was computed from."""
    return any(not leaf.is_confined for leaf in _leaves(x))


def _leaves(x: TensorBase) -> list[Any]:
    """The leaves of autograd's graph that x was computed from; itself, if it is one."""
    if x.grad_fn is None:
        return [x]
    pending, seen, leaves = [x.grad_fn], {x.grad_fn}, []
    while pending:
        node = pending.pop()
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        fresh = [target for target, _ in node.next_functions if target is not None and target not in seen]
        seen.update(fresh)
        pending += fresh
    return leaves
