"""One node for a composite op that is one operation in PyTorch (tensor/dispatch/one_operation.py lists them).

The ops of the body have left their nodes. This one stands before them: its edges lead to where the arguments came
from, and going back through it is a small walk through the nodes between.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0, 2.0, 4.0], requires_grad=True)
>>> y = x.std()
>>> y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), len(y.grad_fn.inner())
('StdBackward0', 'AccumulateGrad', 8)
>>> y.backward()
>>> x.grad
tensor([-0.4364, -0.1091,  0.5455])
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import FREED, Edge, Grad, Node
from minitorch_compile.autograd.watching import tell, watchers
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.tensor_base import TensorBase


class CompositeNode(Node):
    """The node of a composite op. `roots`: where the gradients of its results go in the graph of its body; None once
    it was let go of."""

    __slots__ = ("keeps", "positions", "results", "roots")

    new_gradients = False  # a formula of the body may send one gradient two ways

    def __init__(self, edges: Sequence[Edge], results: Sequence[Any]) -> None:
        super().__init__(tuple(edges))
        self.roots: tuple[Edge, ...] | None = tuple((x.grad_fn, x.output_index) for x in results)
        self.results = len(results)
        self.keeps = False  # whether a node of the body keeps values; known once it was walked
        self.positions: dict[Edge, int] = {}
        for position, edge in enumerate(edges):
            if edge[0] is not None:
                self.positions.setdefault(edge, position)

    @property
    def output_count(self) -> int:
        return self.results

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        """Walks from the roots to the arguments as the engine does: the node that was made last comes next."""
        if self.roots is None:
            raise RuntimeError(FREED)
        gradients: list[Grad] = [None] * len(self.next_functions)
        heap: list[tuple[int, Node]] = []
        arrived: dict[Node, list[Grad]] = {}

        def send(edge: Edge, grad: Grad) -> None:
            position = self.positions.get(edge)
            if position is not None:
                gradients[position] = grad if gradients[position] is None else ops.add(gradients[position], grad)
                return
            node, index = edge
            assert node is not None
            if node not in arrived:
                arrived[node] = [None] * node.output_count
                heapq.heappush(heap, (-node.number, node))
            waiting = arrived[node]
            waiting[index] = grad if waiting[index] is None else ops.add(waiting[index], grad)

        for root, grad in zip(self.roots, grads, strict=True):
            if grad is not None and root[0] is not None:
                send(root, grad)
        while heap:
            _, node = heapq.heappop(heap)
            self.keeps = self.keeps or node.keeps_values
            needed = [self._leads_on(edge, wanted) for edge in node.next_functions]
            sent = node.apply(arrived.pop(node), needed)
            for edge, grad, need in zip(node.next_functions, sent, needed, strict=True):
                if need and grad is not None:
                    send(edge, grad)
        return gradients

    def _leads_on(self, edge: Edge, wanted: Sequence[bool]) -> bool:
        position = self.positions.get(edge)
        return edge[0] is not None if position is None else wanted[position]

    def inner(self) -> list[Node]:
        """The nodes that it stands for."""
        found: dict[Node, None] = {}
        unseen = list(self.roots or ())
        while unseen:
            node, _ = edge = unseen.pop()
            if node is not None and node not in found and edge not in self.positions:
                found[node] = None
                unseen += node.next_functions
        return [*found]

    @property
    def keeps_values(self) -> bool:
        return self.keeps

    def release(self) -> None:
        """Lets go of the body's graph as a whole. Its nodes are not told: a graph of gradients may lead to them, too,
        and is walked later."""
        if self.keeps:
            self.roots = None

    @property
    def is_freed(self) -> bool:
        return self.roots is None


OWN_CLASSES: dict[str, type[CompositeNode]] = {}  # of nodes that need no walk through the body's nodes


@cache
def _class_named(name: str) -> type[CompositeNode]:
    base = OWN_CLASSES.get(name, CompositeNode)
    return type(name, (base,), {"__slots__": (), "__doc__": base.__doc__})


def stand_before(name: str, results: Sequence[Any], arguments: Iterable[Any]) -> None:
    """Puts one node of that name before the nodes that the body of a composite op has left behind its results."""
    differentiable = [x for x in _tensors(arguments) if x.dtype.category >= FLOATING]
    if not {*map(id, results)}.isdisjoint(map(id, differentiable)):  # it did nothing, or wrote in place
        return
    node = _class_named(name)([gradient_edge(x) for x in differentiable], results)
    if not node.positions.keys().isdisjoint(node.roots or ()):
        return
    for index, result in enumerate(results):
        if result.grad_fn is not None:
            result.grad_fn, result.output_index = node, index
    if watchers:
        tell(node)


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, TensorBase):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
