"""What is left behind a tensor whose graph was walked and freed inside a compiled function.

`loss.backward()` in a compiled training step leaves no recorded graph: forward and backward were one program. The loss
that comes out says all the same that it requires grad, and going back from it raises, as it would plainly.

>>> from minitorch_compile.tensor import ones
>>> loss = with_freed_history(ones(()), "MeanBackward0", 0, [ones(3, requires_grad=True)])
>>> loss.requires_grad, loss.grad_fn
(True, <MeanBackward0 object at 0x...>)
>>> loss.backward()                                                                       # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import FREED, Grad, Node
from minitorch_compile.tensor.tensor_base import TensorBase


class FreedNode(Node):
    """A node whose saved values are gone. It stands for the one called `label`, of which output `index` is asked for,
    and for all between that one and the leaves."""

    __slots__ = ("index", "label")

    def __init__(self, label: str, index: int, leaves: Sequence[TensorBase]) -> None:
        super().__init__(tuple([gradient_edge(x) for x in leaves]))
        self.label = label
        self.index = index

    @property
    def output_count(self) -> int:
        return self.index + 1

    @property
    def is_freed(self) -> bool:
        return True

    def name(self) -> str:
        return self.label

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        raise RuntimeError(FREED)


def with_freed_history(x: Any, label: str, index: int, leaves: Sequence[TensorBase]) -> Any:
    """The tensor, as output `index` of a node of that name from which nobody can go back any more."""
    x.grad_fn, x.output_index = FreedNode(label, index, leaves), index
    x.requires_grad = True
    return x
