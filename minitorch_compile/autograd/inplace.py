"""In-place operations: the tensor stays, its history changes.

After `y.mul_(2)` the tensor `y` is the result of a multiplication whose input was the old `y`. So its `grad_fn` is replaced
(*rebased*) by a node with an edge to the old one. The old value is gone; if the formula needs it, a copy is kept.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, requires_grad=True)
>>> y = x.exp()
>>> _ = y.mul_(2)
>>> y.grad_fn, y.grad_fn.next_functions[0]
(<MulBackward0>, (<ExpBackward0>, 0))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd.derivative_table import DERIVATIVES, VALUE
from minitorch_compile.tensor import Op, ops
from minitorch_compile.tensor.dispatch import below_tape
from minitorch_compile.tensor.grad_mode import state


def record_inplace(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], make_node: Callable[..., Any]) -> Any:
    """Runs `op` on its first argument and gives that tensor a new history. RuntimeError for leaves that require grad."""
    parameters = list(op.bind(args, kwargs))
    target = parameters[0]
    _check_target(op, target)
    derivative = DERIVATIVES.get(op.functional)
    if derivative is None:
        raise NotImplementedError(
            f"{op.name}: '{op.functional.name}' has no derivative; call it under torch.no_grad(), or on x.detach()"
        )
    state.enabled = False
    try:
        if derivative.keeps[0] is VALUE:
            parameters[0] = _old_value(target)
        node = make_node(op.functional, derivative, parameters)
        below_tape(op, args, kwargs)
    finally:
        state.enabled = True
    target.requires_grad, target.grad_fn, target.output_index = True, node, 0
    node.keep_output(target)
    return target


def _check_target(op: Op, target: Any) -> None:
    if target.requires_grad and target.grad_fn is None:
        raise RuntimeError(
            f"{op.name}: a leaf Variable that requires grad is being used in an in-place operation. "
            "Use torch.no_grad() around it, as optimizers do, or the operation without the underscore."
        )


def _old_value(target: Any) -> Any:
    """A copy of what is about to be overwritten, with the old history."""
    copy = below_tape(ops.clone, (target,), {})
    copy.requires_grad, copy.grad_fn, copy.output_index = target.requires_grad, target.grad_fn, target.output_index
    return copy
