"""The node of an op that takes a tensor apart: going back puts the gradients of its parts together again, at once.

The parts are views, each with a node that embeds its gradient in zeros as large as the whole, and the engine would add
all of these up. Here it is one `cat` or `stack`.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, 3, requires_grad=True)
>>> first, _, last = x.unbind(1)
>>> last.grad_fn.name(), last.output_index
('UnbindBackward0', 2)
>>> (first * 2 + last).sum().backward()
>>> x.grad
tensor([[2., 0., 1.],
        [2., 0., 1.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.composite_node import OWN_CLASSES, CompositeNode
from minitorch_compile.autograd.node import Edge, Grad
from minitorch_compile.tensor import ops


class PartsNode(CompositeNode):
    """A composite node whose results are consecutive parts of one dimension of its argument: all of it."""

    __slots__ = ("dim", "sizes")

    def __init__(self, edges: Sequence[Edge], results: Sequence[Any]) -> None:
        super().__init__(edges, results)
        self.dim: int = results[0].grad_fn.parameters[1]  # of the view that the first part is
        self.sizes = [tuple(part.sizes) for part in results]

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        if not wanted[0]:
            return [None]
        like: Any = next(grad for grad in grads if grad is not None)
        with like.device:
            parts = [ops.full(s, 0, like.dtype) if g is None else g for g, s in zip(grads, self.sizes, strict=True)]
        return [self.joined(parts)]

    def joined(self, parts: Sequence[Any]) -> Any:
        """The gradient of the whole."""
        return ops.cat(parts, self.dim)


class UnbindNode(PartsNode):
    """The same for parts that lack the dimension."""

    __slots__ = ()

    def joined(self, parts: Sequence[Any]) -> Any:
        return ops.stack(parts, self.dim)


OWN_CLASSES |= {
    "SplitBackward0": PartsNode,
    "SplitWithSizesBackward0": PartsNode,
    "UnbindBackward0": UnbindNode,
}
