"""The engine: walks the recorded graph backwards and adds gradients up where paths meet.

It is a loop around a heap, not a recursion, so a chain of any length works. The node with the highest number comes
next; its edges lead to lower numbers only, so by then every node that sends it a gradient has run (see node.py).

>>> from minitorch_compile.autograd.edges import gradient_edge
>>> from minitorch_compile.tensor import tensor
>>> x = tensor(3.0, requires_grad=True)
>>> walk = BackwardPass(retain_graph=False, create_graph=False)
>>> walk.start([gradient_edge(x * x + x)], [tensor(1.0)])
>>> x.grad
tensor(7.)
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from minitorch_compile.autograd.accumulate import accumulate
from minitorch_compile.autograd.anomaly_mode import anomalies, apply_watched
from minitorch_compile.autograd.node import AccumulateGrad, AfterApply, BeforeApply, Edge, Grad, Node, TensorHook
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import state


class _Running(threading.local):
    """The walks that a thread is in; the last one is innermost."""

    def __init__(self) -> None:
        self.walks: list[BackwardPass] = []


running = _Running()


class BackwardPass:
    """One walk. `needed`: the only nodes worth visiting, or None for all.

    With `captures`, the gradients that arrive at these edges are kept in `captured`, and no leaf's `.grad` is touched.
    """

    def __init__(
        self,
        retain_graph: bool | None,
        create_graph: bool,
        needed: set[Node] | None = None,
        captures: Iterable[Edge] | None = None,
    ) -> None:
        self.retain_graph = create_graph if retain_graph is None else retain_graph
        self.create_graph = create_graph
        self.needed = needed
        self.accumulates = captures is None
        self.captured: dict[Edge, Grad] = dict.fromkeys(captures or ())
        self.capturing = {node for node, _ in self.captured}
        self.roots: list[Edge] = []
        self.heap: list[tuple[int, Node]] = []
        self.arrived: dict[Node, list[Grad]] = {}
        self.shared: set[Any] = set()  # storages of gradients that someone else also looks at

    def start(self, roots: Sequence[Edge], gradients: Sequence[Any]) -> None:
        """Sends a gradient to each root, and visits what lies below."""
        self.roots = list(roots)
        for edge, gradient in zip(self.roots, gradients, strict=True):
            self.shared.add(gradient.storage)
            self.send(edge, gradient)
        self.run()

    def send(self, edge: Edge, grad: Grad) -> None:
        """Adds a gradient to what has arrived at a node so far."""
        node, index = edge
        assert node is not None
        waiting = self.arrived.get(node)
        if waiting is None:
            waiting = self.arrived[node] = [None] * node.output_count
            heapq.heappush(self.heap, (-node.number, node))
        waiting[index] = grad if waiting[index] is None else ops.add(waiting[index], grad)

    def run(self) -> None:
        """Visits nodes until no gradient is waiting."""
        was_enabled = state.enabled
        running.walks.append(self)
        try:
            state.enabled = self.create_graph
            while self.heap:
                _, node = heapq.heappop(self.heap)
                self.visit(node, self.arrived.pop(node))
        finally:
            state.enabled = was_enabled
            running.walks.pop()

    def visit(self, node: Node, grads: list[Grad]) -> None:
        """Sends the gradients of a node's outputs on to its inputs."""
        edges, needed = node.next_functions, self.needed
        wanted = [target is not None if needed is None else target in needed for target, _ in edges]
        applies = self.accumulates if isinstance(node, AccumulateGrad) else True in wanted
        if node.hooks or node in self.capturing:
            applies = self.comes_to_apply(node, grads, applies)
        if not applies:
            return
        if isinstance(node, AccumulateGrad):
            accumulate(node, grads[0], self.create_graph, self.shared)
            if node.hooks:
                self.after(node, (), grads)
            return
        gradients = apply_watched(node, grads, wanted) if anomalies.enabled else node.apply(grads, wanted)
        if node.hooks:
            gradients = self.after(node, gradients, grads)
        for edge, grad, want in zip(edges, gradients, wanted, strict=True):
            if want and grad is not None:
                if not node.new_gradients:
                    self.shared.add(grad.storage)
                self.send(edge, grad)
        if not self.retain_graph:
            node.release()

    def comes_to_apply(self, node: Node, grads: list[Grad], applies: bool) -> bool:
        """Captures what has arrived, and calls the hooks for it; whether the node still `applies` what it does."""
        if applies:  # PyTorch's order: hooks change what is captured only at the very end
            self.capture(node, grads)
        if node.hooks:
            self.call_hooks(node, grads, TensorHook)
        if not applies:
            self.capture(node, grads)
        elif node.hooks:
            self.call_hooks(node, grads, BeforeApply)
            return any(grad is not None for grad in grads)  # a hook may have taken them away
        return applies

    def capture(self, node: Node, grads: list[Grad]) -> None:
        for index, grad in enumerate(grads):
            if (node, index) in self.captured:
                self.captured[node, index] = grad

    def call_hooks(self, node: Node, grads: list[Grad], kind: type[TensorHook] | type[BeforeApply]) -> None:
        assert node.hooks is not None
        for hook in list(node.hooks.values()):
            if isinstance(hook, kind):
                hook(grads)
        self.shared.update(g.storage for g in grads if g is not None)  # a hook may have kept it

    def after(self, node: Node, gradients: Sequence[Grad], grads: list[Grad]) -> Sequence[Grad]:
        """The gradients of a node's inputs, as its hooks leave them."""
        assert node.hooks is not None
        for hook in list(node.hooks.values()):
            if isinstance(hook, AfterApply):
                gradients = hook(gradients, grads)
        self.shared.update(g.storage for g in gradients if g is not None)
        return gradients
