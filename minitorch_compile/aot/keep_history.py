"""A value that hides behind another one's history.

Under `no_grad`, or through `x.detach()`, a program may overwrite a tensor without touching its place in the recorded
graph: x has a new value, but gradients of x still go where they went. In a functional graph, where every value has one
history, that takes an op of its own.

>>> from minitorch_compile.autograd import grad
>>> from minitorch_compile.tensor import tensor
>>> x = tensor([3.0], requires_grad=True)
>>> y = keep_history(x * 2, tensor([100.0]))
>>> y.detach(), grad(y.sum(), x)
(tensor([100.]), (tensor([2.]),))

A view made under `no_grad` has no history; if its base gets one, it is not clear whether the view should. PyTorch
forbids it, and so does `untracked`: a value whose history may not begin to matter.

Once the backward pass has been traced the ops have done their duty, and `without_history` takes them out.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Unused, derivative
from minitorch_compile.fx.effects import has_side_effect
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.dispatch.op_families import UNTRACKED_VIEW_WRITTEN, KernelOp
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


class AotOp(KernelOp):
    """An op that exists only inside this floor's graphs."""

    def __repr__(self) -> str:
        return f"aot.{self.name}"


def _keep_history(history: Array, value: Array) -> Array:
    """`value`; gradients go to `history`."""
    return value.copy()


keep_history = AotOp(_keep_history, kind="copy", namespaces=["aot"], name="keep_history")


@keep_history.shape_rule
def _rule(history: TensorBase, value: TensorBase) -> TensorBase:
    return empty_fake(value.sizes, value.strides, value.dtype)


@derivative(keep_history)
def _(grad: Tensor, out: Unused, history: Unused, value: Unused) -> Gradients:
    return grad


def _untracked(history: Array, value: Array) -> Array:
    """`value`, of a view that nothing recorded; an error if there is something to record."""
    return value.copy()


untracked = AotOp(_untracked, kind="copy", namespaces=["aot"], name="untracked")
has_side_effect(untracked)  # it may raise, though nobody reads the value
untracked.shape_rule(_rule)


@derivative(untracked)
def _(grad: Tensor, out: Unused, history: Unused, value: Unused) -> Gradients:
    return grad, grad


def check_tracked(node: Node, result: Any) -> None:
    """RuntimeError if gradients would have to go through a view that was made under no_grad."""
    if node.target is untracked and result.requires_grad:
        raise RuntimeError(UNTRACKED_VIEW_WRITTEN)


def without_history(graph: Graph) -> None:
    """Removes what matters to differentiation only: such ops give way to the value, detach to its input."""
    value_at: dict[Any, int] = {keep_history: 1, untracked: 1, ops.detach: 0}
    for node in graph.nodes:
        if node.target in value_at:
            node.replace_all_uses_with(node.args[value_at[node.target]])
            graph.erase_node(node)
