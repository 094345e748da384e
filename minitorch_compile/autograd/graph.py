"""torch.autograd.graph: the recorded graph from outside.

>>> from minitorch_compile.tensor import ones
>>> y = ones(2, requires_grad=True).exp()
>>> get_gradient_edge(y)
GradientEdge(node=<ExpBackward0>, output_nr=0)
>>> isinstance(y.grad_fn, Node), y.grad_fn.name()
(True, 'ExpBackward0')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.hooks import register_hook
from minitorch_compile.autograd.node import Node
from minitorch_compile.autograd.removable_handle import RemovableHandle
from minitorch_compile.autograd.saved_tensors_hooks import disable_saved_tensors_hooks, saved_tensors_hooks


class GradientEdge(NamedTuple):
    """Where a gradient of a tensor goes: to which node, as the gradient of which of its outputs."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The edge of a tensor. RuntimeError unless it requires grad."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node, index = gradient_edge(tensor)
    assert node is not None
    return GradientEdge(node, index)


class save_on_cpu(saved_tensors_hooks):
    """Keeps saved tensors in main memory, as PyTorch does for those of a GPU. Here they are copied, and no more."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda x: x.clone(), lambda x: x)


def increment_version(tensor: Any) -> None:
    """Says that a tensor, or each of several, was written to in a way that nothing here could see."""
    for x in tensor if isinstance(tensor, (list, tuple)) else (tensor,):
        x.storage.version += 1


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[..., Any], *, mode: str = "all") -> RemovableHandle:
    """Calls `fn(grads)` when the gradients of all `tensors` are there (None for those that get none in that pass), or
    with mode="any" `fn(grad)` once for the first one."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    collector = _Collector(len(tensors), fn, mode)
    handles = [register_hook(x, collector.hook(i)) for i, x in enumerate(tensors)]
    return _Handles(handles)


class _Collector:
    """The gradients of one backward pass, as they come in."""

    def __init__(self, count: int, fn: Callable[..., Any], mode: str) -> None:
        self.grads: list[Any] = [None] * count
        self.seen: set[int] = set()
        self.fn = fn
        self.mode = mode

    def hook(self, index: int) -> Callable[[Any], None]:
        def on_gradient(grad: Any) -> None:
            first = not self.seen
            self.seen.add(index)
            self.grads[index] = grad
            if self.mode == "any" and first:
                self.fn(grad)
            complete = len(self.seen) == len(self.grads)
            if complete:
                grads = list(self.grads)
                self.grads, self.seen = [None] * len(grads), set()
                if self.mode == "all":
                    self.fn(grads)

        return on_gradient


class _Handles(RemovableHandle):
    """Several handles as one."""

    def __init__(self, handles: Iterable[RemovableHandle]) -> None:
        super().__init__({})
        self.handles = list(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
