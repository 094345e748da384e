"""The tape: runs an operation and leaves a node behind that can be walked back through.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, requires_grad=True)
>>> (x * 3).grad_fn, (x > 0).requires_grad, x.detach().requires_grad
(<MulBackward0 object at 0x...>, False, False)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd import entry_points, hooks, parts_node  # noqa: F401 (its classes)
from minitorch_compile.autograd.composite_node import stand_before
from minitorch_compile.autograd.derivative_table import DERIVATIVES, NOT_DIFFERENTIABLE, NOTHING
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.inplace import record_inplace
from minitorch_compile.autograd.node import Node
from minitorch_compile.autograd.op_node import MissingDerivative, node_class_of
from minitorch_compile.autograd.watching import tell, watchers
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.dispatch.dispatch import below_tape, contexts, stacks
from minitorch_compile.tensor.dispatch.tape_slot import register_tape
from minitorch_compile.tensor.dispatch.torch_dispatch import dispatching
from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.tensor_base import TensorBase


class RecordingTape:
    """What the dispatcher calls for an operation whose arguments require grad."""

    def record(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The op's result, with a node behind it."""
        if op.kind == "inplace":
            return record_inplace(op, args, kwargs)
        if (contexts and stacks.modes) or dispatching:
            out = _unrecorded(op, args, kwargs)
            bound = op.bind(args, kwargs)
        else:
            bound = op.bind(args, kwargs)
            out = op.run_plain(args) if op.kind == "pointwise" and not kwargs else op.run_bound(bound)
        derivative = DERIVATIVES.get(op)
        if derivative is None:
            return out if op in NOT_DIFFERENTIABLE else _attach(out, _missing(op, args))
        node_class = derivative.node_class or node_class_of(derivative)
        node = node_class(op, derivative, bound)
        if not isinstance(out, TensorBase):
            _attach(out, node)
            node.keep_output(out)
        elif out.dtype.category >= FLOATING:
            out._requires_grad = True
            out.grad_fn = node
            if derivative.keeps_out is not NOTHING:
                node.keep_output(out)
        if watchers:
            tell(node)
        return out

    def backward(self, tensor: Any, gradient: Any, retain_graph: bool | None, create_graph: bool, inputs: Any) -> None:
        """What Tensor.backward does."""
        entry_points.backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)

    stand_before = staticmethod(stand_before)
    register_hook = staticmethod(hooks.register_hook)
    retain_grad = staticmethod(hooks.retain_grad)
    register_post_accumulate_grad_hook = staticmethod(hooks.register_post_accumulate_grad_hook)


def _unrecorded(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result by way of the modes below, which may call ops on the very same tensors."""
    state.enabled, state.recording = False, True
    try:
        return below_tape(op, args, kwargs)
    finally:
        state.enabled, state.recording = True, False


def _missing(op: Op, args: tuple[Any, ...]) -> Node:
    return MissingDerivative(op, tuple(gradient_edge(x) for x in args if isinstance(x, TensorBase)))


def _attach(out: Any, node: Node) -> Any:
    """Makes the floating-point results require grad, as made by `node`."""
    if isinstance(out, tuple):
        for index, part in enumerate(out):
            if part.dtype.category >= FLOATING:
                part.requires_grad, part.grad_fn, part.output_index = True, node, index
    elif out.dtype.category >= FLOATING:
        out.requires_grad = True
        out.grad_fn = node
    return out


register_tape(RecordingTape())
