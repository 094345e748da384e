"""Adding a gradient to a leaf's `.grad`, copying only if it must.

The first gradient becomes `x.grad` itself, unless somebody else looks at the same storage: `z = x + y` sends one
gradient to both, and zeroing or clipping `x.grad` in place must not touch `y.grad`.

>>> from minitorch_compile.tensor import ones
>>> x, y = ones(2, requires_grad=True), ones(2, requires_grad=True)
>>> (x + y).sum().backward()
>>> x.grad.storage is y.grad.storage
False
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.node import AccumulateGrad, Grad
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.memory.strides import is_contiguous, is_dense

add_ = ops.table["add_"]


def accumulate(node: AccumulateGrad, grad: Grad, create_graph: bool, shared: set[Any]) -> None:
    """`x.grad += grad` for the leaf x of the node, as a recorded operation if `create_graph`."""
    x = node.variable
    if x is None or grad is None:
        return
    if grad.dtype.is_complex and not x.dtype.is_complex:
        grad = ops.real(grad)
    if x.grad is None:
        x.grad = _owned(grad if create_graph else _without_history(grad), x, shared)
    elif create_graph:
        x.grad = ops.add(x.grad, grad)
    else:
        add_(x.grad, grad)
    for hook in list(node.post_hooks.values()):
        hook(x)


def _without_history(grad: Any) -> Any:
    return ops.detach(grad) if grad.requires_grad else grad


def _owned(grad: Any, x: Any, shared: set[Any]) -> Any:
    """The gradient in storage that nobody else uses, and in the memory layout of `x`."""
    if grad.is_sparse_layout:  # it has no strides
        return ops.clone(grad)
    other_layout = grad.strides != x.strides and not (
        is_contiguous(x.sizes, x.strides) and is_contiguous(grad.sizes, grad.strides)
    )
    if other_layout and is_dense(x.sizes, x.strides):
        return ops.copy(x.detach(), grad)
    if grad.storage.flips or grad.storage in shared:
        return ops.clone(grad)
    shared.add(grad.storage)
    return grad
