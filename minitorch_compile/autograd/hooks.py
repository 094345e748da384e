"""Functions that are called with a gradient when it is complete, and the handle that takes them away again.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, requires_grad=True)
>>> y = x * 3
>>> handle = register_hook(y, lambda grad: grad * 10)
>>> retain_grad(y)
>>> y.sum().backward()
>>> y.grad, x.grad
(tensor([10., 10.]), tensor([30., 30.]))
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import AccumulateGrad, Grad, Node, TensorHook, replaced
from minitorch_compile.autograd.removable_handle import RemovableHandle
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.memory.memory_format import contiguous_format


class _Replace(TensorHook):
    """A hook on one output of a node: what it returns, if not None, takes the place of the gradient."""

    def __init__(self, hook: Callable[[Any], Any], index: int) -> None:
        self.hook = hook
        self.index = index

    def __call__(self, grads: list[Grad]) -> None:
        if grads[self.index] is not None:
            replacement = self.hook(grads[self.index])
            if replacement is not None:
                grads[self.index] = replaced(grads[self.index], replacement, self.hook)


class _Retain(TensorHook):
    """Stores the gradient of one output of a node in the `.grad` of that tensor: a copy, since others read it too."""

    def __init__(self, x: Any) -> None:
        self.x = weakref.ref(x)
        self.index = x.output_index

    def __call__(self, grads: list[Grad]) -> None:
        x, grad = self.x(), grads[self.index]
        if x is not None and grad is not None:
            x.grad = _copied(grad) if x.grad is None else ops.add(x.grad, grad)


def _copied(grad: Any) -> Any:
    return ops.clone(grad) if grad.is_sparse_layout else ops.clone(grad, contiguous_format)


def _add(x: Any, hook: Callable[[list[Grad]], None]) -> RemovableHandle:
    """Puts a hook on the node of `x`. Those that store the gradient come last, to store what the others made of it."""
    node, _ = gradient_edge(x)
    assert node is not None
    hooks = node.hooks = {} if node.hooks is None else node.hooks
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    for key, retain in [(k, h) for k, h in hooks.items() if isinstance(h, _Retain)]:
        del hooks[key]
        hooks[key] = retain
    return handle


def register_hook(x: Any, hook: Callable[[Any], Any]) -> RemovableHandle:
    """`hook(grad)` is called with every complete gradient of `x`; what it returns, if not None, takes its place."""
    if not x.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return _add(x, _Replace(hook, gradient_edge(x)[1]))


def retain_grad(x: Any) -> None:
    """Keeps the gradient of a tensor that isn't a leaf in its `.grad` too; does nothing for a leaf."""
    if not x.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if gradient_edge(x)[0] is x.grad_fn is not None and not x.retains_grad:
        x.retains_grad = True
        _add(x, _Retain(x))


def retain_grad_at(x: Any, old: Node | None) -> None:
    """After an in-place operation gave a tensor another node: its gradient is kept there, and no longer at the old one.

    Other hooks stay with the value that they were registered on.
    """
    hooks = {} if old is None or old.hooks is None else old.hooks
    for key, hook in list(hooks.items()):
        if isinstance(hook, _Retain) and hook.x() is x:
            del hooks[key]
    _add(x, _Retain(x))


def register_post_accumulate_grad_hook(x: Any, hook: Callable[[Any], None]) -> RemovableHandle:
    """`hook(x)` is called after a gradient was added to `x.grad`. RuntimeError unless `x` is a leaf."""
    node, _ = gradient_edge(x)
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not isinstance(node, AccumulateGrad):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    handle = RemovableHandle(node.post_hooks)
    node.post_hooks[handle.id] = hook
    return handle
