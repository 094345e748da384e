"""The engine: walks the recorded graph backwards and adds gradients up where paths meet.

It is a loop around a heap, not a recursion, so a chain of any length works. The node with the highest number comes
next; its edges lead to lower numbers only, so by then every node that sends it a gradient has run (see node.py).

>>> from minitorch_compile.tensor import tensor
>>> x = tensor(3.0, requires_grad=True)
>>> backward(x * x + x)
>>> x.grad
tensor(7.)
>>> grad(x * x * x, x)
(tensor(27.),)
"""

from __future__ import annotations

import heapq
import threading
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from minitorch_compile.autograd.accumulate import accumulate
from minitorch_compile.autograd.anomaly_mode import anomalies, apply_watched
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.hooks import retain_grad
from minitorch_compile.autograd.node import (
    AccumulateGrad,
    AfterApply,
    BeforeApply,
    Edge,
    Grad,
    Node,
    TensorHook,
)
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.dispatch import refuse_in_transforms
from minitorch_compile.tensor.grad_mode import set_grad_enabled
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase


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
        self.below: set[Node] | None = None
        self.heap: list[tuple[int, Node]] = []
        self.arrived: dict[Node, list[Grad]] = {}
        self.shared: set[Any] = set()  # storages of gradients that someone else also looks at

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
        running.walks.append(self)
        try:
            with set_grad_enabled(self.create_graph):
                while self.heap:
                    _, node = heapq.heappop(self.heap)
                    self.visit(node, self.arrived.pop(node))
        finally:
            running.walks.pop()

    def comes_to(self, node: Node) -> bool:
        """Whether a gradient may arrive at a node in this walk. RuntimeError for a leaf if no `.grad` is filled."""
        if isinstance(node, AccumulateGrad) and not self.accumulates:
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This"
                " is currently not supported."
            )
        if self.needed is not None:
            return node in self.needed
        if self.below is None:
            self.below = below(self.roots)
        return node in self.below

    def visit(self, node: Node, grads: list[Grad]) -> None:
        """Sends the gradients of a node's outputs on to its inputs."""
        wanted = [
            target is not None and (self.needed is None or target in self.needed) for target, _ in node.next_functions
        ]
        applies = self.accumulates if isinstance(node, AccumulateGrad) else any(wanted)
        if node in self.capturing and applies:  # PyTorch's order: hooks change what is captured only at the very end
            self.capture(node, grads)
        if node.hooks:
            self.call_hooks(node, grads, TensorHook)
        if not applies:
            if node in self.capturing:
                self.capture(node, grads)
            return
        if node.hooks:
            self.call_hooks(node, grads, BeforeApply)
            if all(grad is None for grad in grads):  # a hook took them away
                return
        if isinstance(node, AccumulateGrad):
            accumulate(node, grads[0], self.create_graph, self.shared)
            if node.hooks:
                self.after(node, (), grads)
            return
        gradients = apply_watched(node, grads, wanted) if anomalies.enabled else node.apply(grads, wanted)
        if node.hooks:
            gradients = self.after(node, gradients, grads)
        for edge, grad, want in zip(node.next_functions, gradients, wanted, strict=True):
            if want and grad is not None:
                if not node.new_gradients:
                    self.shared.add(grad.storage)
                self.send(edge, grad)
        if not self.retain_graph:
            node.release()

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


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Adds to `.grad` of every leaf (or only of the leaves in `inputs`) the sum of the gradients of `tensors`.

    `grad_tensors` are the gradients of the tensors themselves, 1 for a tensor of one element if None. The graph is
    freed unless `retain_graph`, which is `create_graph` unless given; with `create_graph` the gradients can be
    differentiated. `inputs` may also be tensors that aren't leaves. `grad_variables` is the old name of `grad_tensors`.
    """
    refuse_in_transforms("backward")
    outputs = _sequence(tensors, "tensors")
    given = _given_gradients(outputs, grad_variables if grad_tensors is None else grad_tensors)
    if inputs is None:
        _walk_from(outputs, given, BackwardPass(retain_graph, create_graph))
        return
    wanted = _sequence(inputs, "inputs")
    if not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    for x in wanted:
        retain_grad(x)  # of one that isn't a leaf
    needed = leading_to(_roots(outputs), {gradient_edge(x)[0] for x in wanted})
    _walk_from(outputs, given, BackwardPass(retain_graph, create_graph, needed))


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs` with respect to `inputs`, a tuple; nothing is added to any `.grad`.

    `only_inputs` is deprecated in PyTorch, too: nothing but True has been possible for long.

    RuntimeError for an input that the outputs don't depend on, unless `allow_unused`: then its gradient is None, or
    zeros with `materialize_grads`.
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other"
            " parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if is_grads_batched:
        raise NotImplementedError(
            "grad: is_grads_batched=True is not available; say it with vmap:"
            " torch.vmap(lambda g: torch.autograd.grad(outputs, inputs, g, retain_graph=True))(grad_outputs)"
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    outputs, inputs = _sequence(outputs, "outputs"), _sequence(inputs, "inputs")
    for i, x in enumerate(inputs):
        if not x.requires_grad:
            raise RuntimeError(f"One of the differentiated Tensors does not require grad: inputs[{i}]")
    given = _given_gradients(outputs, grad_outputs)
    edges = [gradient_edge(x) for x in inputs]
    walk = BackwardPass(retain_graph, create_graph, leading_to(_roots(outputs), {node for node, _ in edges}), edges)
    _walk_from(outputs, given, walk)
    gradients = [walk.captured[edge] for edge in edges]
    if materialize_grads:
        return tuple(ops.zeros_like(x) if g is None else g for g, x in zip(gradients, inputs, strict=True))
    if not allow_unused and any(g is None for g in gradients):
        unused = [g is None for g in gradients].index(True)
        raise RuntimeError(
            f"The differentiated Tensor at index {unused} appears to not have been used in the graph. "
            "Set allow_unused=True if this is the desired behavior."
        )
    return tuple(gradients)


def _sequence(tensors: Any, name: str) -> Sequence[Any]:
    sequence = (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)
    for x in sequence:
        if not isinstance(x, TensorBase):
            raise TypeError(f"{name}: expected Tensors, got {type(x).__name__}")
    return sequence


def _roots(outputs: Sequence[Any]) -> list[Edge]:
    edges = [gradient_edge(x) for x in outputs]
    for i, (node, _) in enumerate(edges):
        if node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        if outputs[i].is_example:
            raise RuntimeError("backward() or grad() called inside vmap; use torch.func.grad or vjp there")
    return edges


def _given_gradients(outputs: Sequence[Any], gradients: Any) -> list[Any]:
    """One gradient for each output, checked; 1 where none was given."""
    given = (
        [None] * len(outputs)
        if gradients is None
        else [gradients]
        if isinstance(gradients, TensorBase)
        else list(gradients)
    )
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    for i, (x, g) in enumerate(zip(outputs, given, strict=True)):
        if g is None and x.requires_grad:
            if numel(x.sizes) != 1:
                raise RuntimeError(
                    f"grad can be implicitly created only for scalar outputs; output {i} has sizes"
                    f" {list(x.sizes)}: pass its gradient"
                )
            if x.dtype.is_complex:
                raise RuntimeError(
                    f"grad can be implicitly created only for real scalar outputs but got {x.dtype}; take .real or"
                    " .abs(), or pass the gradient"
                )
            given[i] = ops.ones_like(x)
        elif g is not None and tuple(g.sizes) != tuple(x.sizes):
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.sizes} and output[{i}] has a shape of"
                f" {x.sizes}."
            )
        elif g is not None and g.dtype is not x.dtype and x.requires_grad:
            given[i] = ops.to_copy(g, x.dtype)
    return given


def _walk_from(outputs: Sequence[Any], gradients: Sequence[Any], walk: BackwardPass) -> None:
    walk.roots = _roots(outputs)
    for edge, gradient in zip(walk.roots, gradients, strict=True):
        walk.shared.add(gradient.storage)
        walk.send(edge, gradient)
    walk.run()


def below(roots: Sequence[Edge]) -> set[Node]:
    """The nodes that can be reached from the roots, with the roots."""
    found = {node for node, _ in roots if node is not None}
    unseen = list(found)
    while unseen:
        for node, _ in unseen.pop().next_functions:
            if node is not None and node not in found:
                found.add(node)
                unseen.append(node)
    return found


def leading_to(roots: Sequence[Edge], targets: set[Any]) -> set[Node]:
    """The nodes below the roots from which a target can be reached, with the targets themselves."""
    needed: set[Node] = set()
    for node in sorted(below(roots), key=lambda n: n.number):  # inputs first
        if node in targets or any(target in needed for target, _ in node.next_functions):
            needed.add(node)
    return needed
