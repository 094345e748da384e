"""From a tensor to its place in the recorded graph."""

from __future__ import annotations

import weakref
from typing import Any

from minitorch_compile.autograd.node import NO_EDGE, AccumulateGrad, Edge


def gradient_edge(x: Any) -> Edge:
    """Where a gradient of `x` has to go: to the node that made it, or for a leaf to the node that fills `x.grad`.

    >>> from minitorch_compile.tensor import ones
    >>> x = ones(2, requires_grad=True)
    >>> gradient_edge(x), gradient_edge(x.exp()), gradient_edge(ones(2))
    ((<AccumulateGrad>, 0), (<ExpBackward0>, 0), (None, 0))
    """
    if x.grad_fn is not None:
        return x.grad_fn, x.output_index
    if not x.requires_grad:
        return NO_EDGE
    if x.accumulator is None:
        x.accumulator = AccumulateGrad(weakref.ref(x))
    return x.accumulator, 0
