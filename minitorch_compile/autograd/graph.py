"""torch.autograd.graph: the recorded graph from outside.

>>> from minitorch_compile.tensor import ones
>>> y = ones(2, requires_grad=True).exp()
>>> get_gradient_edge(y)
GradientEdge(node=<ExpBackward0 object at 0x...>, output_nr=0, ownership_token=None)
>>> isinstance(y.grad_fn, Node), y.grad_fn.name()
(True, 'ExpBackward0')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.engine import BackwardPass, running
from minitorch_compile.autograd.hooks import register_hook
from minitorch_compile.autograd.node import AccumulateGrad, Node
from minitorch_compile.autograd.reachable import below
from minitorch_compile.autograd.removable_handle import RemovableHandle
from minitorch_compile.autograd.saved_tensors_hooks import disable_saved_tensors_hooks, saved_tensors_hooks
from minitorch_compile.tensor.dispatch.accelerators import accelerators


class GradientEdge(NamedTuple):
    """Where a gradient of a tensor goes: to which node, as the gradient of which of its outputs."""

    node: Node
    output_nr: int
    ownership_token: Any = None  # what keeps PyTorch's nodes alive; here the node itself does


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The edge of a tensor. RuntimeError unless it requires grad."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node, index = gradient_edge(tensor)
    assert node is not None
    return GradientEdge(node, index)


class save_on_cpu(saved_tensors_hooks):
    """Keeps saved tensors in main memory, from where they go back to their GPU when they are needed.

    `pin_memory`: in pinned memory, so that the program goes on while they do. `device_type` has no effect: each tensor
    goes back to where it came from.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        pins = pin_memory and any(accelerator.is_available() for accelerator in accelerators.values())

        def pack(x: Any) -> tuple[Any, Any]:
            copy = x.clone() if x.is_cpu else x.cpu()
            return x.device, copy.pin_memory() if pins else copy

        super().__init__(pack, lambda packed: packed[1].to(packed[0], non_blocking=pins))


def increment_version(tensor: Any) -> None:
    """Says that a tensor, or each of several, was written to in a way that nothing here could see."""
    for x in tensor if isinstance(tensor, (list, tuple)) else (tensor,):
        x.storage.version += 1


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[..., Any], *, mode: str = "all") -> RemovableHandle:
    """Calls `fn(grads)` when all gradients of `tensors` that a backward pass computes are there (None for the others),
    or with mode="any" `fn(grad)` once in each backward pass, for the first one."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    collector = _Collector([_node_of(x) for x in tensors], fn)
    hook = collector.one_of_all if mode == "all" else collector.first
    return _Handles([register_hook(x, partial(hook, i)) for i, x in enumerate(tensors)])


def _node_of(x: Any) -> Node:
    node = gradient_edge(x)[0]
    if node is None:
        raise AssertionError("Expected gradient function to be set: a tensor does not require grad")
    return node


class _Collector:
    """The gradients of one backward pass, as they come in."""

    def __init__(self, nodes: Sequence[Node], fn: Callable[..., Any]) -> None:
        self.nodes = nodes
        self.fn = fn
        self.arrived: WeakKeyDictionary[BackwardPass, dict[int, Any]] = WeakKeyDictionary()
        self.coming: WeakKeyDictionary[BackwardPass, int] = WeakKeyDictionary()

    def one_of_all(self, index: int, grad: Any) -> None:
        """Keeps a gradient; the last one that this pass computes is followed by the call."""
        walk = running.walks[-1]
        grads = self.arrived.setdefault(walk, {})
        grads[index] = grad
        if walk not in self.coming:
            self.coming[walk] = _coming(walk, self.nodes)
        if len(grads) == self.coming[walk]:
            del self.arrived[walk]
            self.fn([grads.get(i) for i in range(len(self.nodes))])

    def first(self, index: int, grad: Any) -> None:
        """Calls with the first gradient of a pass."""
        if running.walks[-1] not in self.arrived:
            self.arrived[running.walks[-1]] = {index: grad}
            self.fn(grad)


def _coming(walk: BackwardPass, nodes: Sequence[Node]) -> int:
    """At how many of the nodes a gradient may arrive in this walk. RuntimeError for a leaf if no `.grad` is filled."""
    if not walk.accumulates and any(isinstance(node, AccumulateGrad) for node in nodes):
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This"
            " is currently not supported."
        )
    visited = below(walk.roots) if walk.needed is None else walk.needed
    return sum(node in visited for node in nodes)


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
