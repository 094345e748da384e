"""The gradients of a node that the tape finds for its formula: asked for where a kernel can't give them.

>>> x = ops.ones(2).requires_grad_()
>>> gradients_by_formula(lambda x, y: x * y, (x, x.detach() * 3), ops.ones(2))
(tensor([3., 3.]), None)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.autograd import enable_grad, grad
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import state as grad_state


def gradients_by_formula(formula: Callable[..., Any], tensors: Sequence[Any], grads: Any) -> tuple[Any, ...]:
    """For each tensor, or None, its gradient, recorded if that is asked for; None where it needs none.

    `grads`: those of what `formula(*tensors)` gives.
    """
    recorded = grad_state.enabled
    wanted = [i for i, t in enumerate(tensors) if t is not None and t.requires_grad]
    with enable_grad():
        # Where the graph goes on, views: one may come from another, and only what reaches that past it is this node's.
        given = [t if t is None else ops.view_as(t, t) if recorded else _as_leaf(t) for t in tensors]
        found = grad(formula(*given), [given[i] for i in wanted], grads, create_graph=recorded, allow_unused=True)
    return tuple(map(dict(zip(wanted, found, strict=True)).get, range(len(tensors))))


def _as_leaf(t: Any) -> Any:
    return t.detach().requires_grad_(t.requires_grad)
