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

Once the backward pass has been traced the op has done its duty, and `without_history` takes it out.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Unused, derivative
from minitorch_compile.fx.graph import Graph
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.op import Array
from minitorch_compile.tensor.op_families import KernelOp
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


def without_history(graph: Graph) -> None:
    """Removes what matters to differentiation only: keep_history gives way to the value, detach to its input."""
    value_at: dict[Any, int] = {keep_history: 1, ops.detach: 0}
    for node in graph.nodes:
        if node.target in value_at:
            node.replace_all_uses_with(node.args[value_at[node.target]])
            graph.erase_node(node)
