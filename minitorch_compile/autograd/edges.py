"""From a tensor to its place in the recorded graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd.node import NO_EDGE, AccumulateGrad, Edge, new_leaves

_renew_view: list[Callable[[Any], None]] = []


def gradient_edge(x: Any) -> Edge:
    """Where a gradient of `x` has to go: to the node that made it, or for a leaf to the node that fills `x.grad`.

    >>> from minitorch_compile.tensor import ones
    >>> x = ones(2, requires_grad=True)
    >>> gradient_edge(x), gradient_edge(x.exp()), gradient_edge(ones(2))
    ((<AccumulateGrad object at 0x...>, 0), (<ExpBackward0 object at 0x...>, 0), (None, 0))
    """
    base = x.base
    if base is not None and base.rewritten != x.base_rewritten:
        _renew_view[0](x)
    node = x.grad_fn
    if node is not None:
        return node, x.output_index
    if not x._requires_grad:
        return NO_EDGE
    edge = x.accumulator
    if edge is None:
        if x.untracked and x.storage.version != x.version_made:
            _renew_view[0](x)  # which refuses it
        edge = x.accumulator = AccumulateGrad(weakref.ref(x)), 0
        new_leaves.append(edge[0])
    return edge


def on_outdated_view(renew: Callable[[Any], None]) -> Callable[[Any], None]:
    """Registers what brings a view in step with its base, after an in-place operation gave the base a new history."""
    _renew_view[:] = [renew]
    return renew
