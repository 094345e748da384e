"""In-place operations: the tensor stays, its history changes.

After `y.mul_(2)` the tensor `y` is the result of a multiplication whose input was the old `y`. So its `grad_fn` is
replaced (*rebased*) by a node with an edge to the old one. The old value is gone; if the formula needs it, a copy is
kept.

>>> from minitorch_compile.tensor import ones, zeros
>>> x = ones(2, requires_grad=True)
>>> y = x.exp()
>>> _ = y.mul_(2)
>>> y.grad_fn, y.grad_fn.next_functions[0]
(<MulBackward0 object at 0x...>, (<ExpBackward0 object at 0x...>, 0))

Writing into a view changes the base: `CopySlices` is the node of "the base, with this window overwritten". The other
views of that base are then out of step with it; each gets a new history, as a window of the new base, when it is next
used.

>>> z = zeros(3)
>>> z[1:] = x
>>> z.grad_fn
<CopySlices object at 0x...>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.derivative_table import DERIVATIVES, FOR_OTHERS, VALUE, Derivative
from minitorch_compile.autograd.edges import gradient_edge, on_outdated_view
from minitorch_compile.autograd.hooks import retain_grad_at
from minitorch_compile.autograd.node import Grad, Node
from minitorch_compile.autograd.op_node import node_class_of
from minitorch_compile.autograd.view_info import ViewInfo, ViewReplay
from minitorch_compile.autograd.watching import tell, watchers
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.dispatch import any_requires_grad, below_tape
from minitorch_compile.tensor.dispatch.op_families import UNTRACKED_VIEW_WRITTEN, leaf_written
from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.numerics.dtype import FLOATING

UNTRACKED_VIEW_USED = (
    "A view was created in no_grad mode and its base or another view of its base has been modified inplace with grad"
    " mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code"
    " by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be"
    " tracked) or both outside (if you want the inplace to be tracked)."
)


def record_inplace(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs `op` on its first argument and gives that tensor a new history.

    RuntimeError for a leaf that requires grad.
    """
    parameters = list(op.bind(args, kwargs))
    target = parameters[0]
    state.enabled, state.recording = False, True
    try:
        if target.dtype.category < FLOATING:
            return below_tape(op, args, kwargs)
        derivative = _derivative(op, target)
        keeps = derivative.keeps[0]
        if keeps is VALUE or (keeps is FOR_OTHERS and any_requires_grad(parameters[1:], {})):
            parameters[0] = _old_value(target)
        node = node_class_of(derivative)(op.functional, derivative, parameters)
        below_tape(op, args, kwargs)
    finally:
        state.enabled, state.recording = True, False
    node.keep_output(target)
    if watchers:
        tell(node)
    become_result(target, node)
    return target


def become_result(target: Any, node: Node, index: int = 0, position: int = 0) -> None:
    """Gives a tensor that `node` wrote to its history: it is result `index` now, and was argument `position`."""
    if target.base is None:
        _rebase(target, node, index)
    else:
        _rebase(target.base, CopySlices(target.base, target, node, position))
        renew(target)


def _derivative(op: Any, target: Any) -> Derivative:
    """The derivative of an in-place op on `target`. RuntimeError for leaves, NotImplementedError if it has none."""
    refuse_leaf(op.name, target)
    if op.functional not in DERIVATIVES:
        raise NotImplementedError(
            f"{op.name}: '{op.functional.name}' has no derivative; call it under torch.no_grad(), or on x.detach()"
        )
    return DERIVATIVES[op.functional]


def refuse_leaf(name: str, target: Any) -> None:
    """RuntimeError if writing to `target` can't be recorded: a leaf, its view, or a view made under no_grad."""
    base = target.base
    if base is not None and target.untracked:
        raise RuntimeError(UNTRACKED_VIEW_WRITTEN)
    # A view of something without gradients may have been made a leaf itself: a write to it is refused, too.
    owner = target if base is None else base
    if owner.grad_fn is None and (target.requires_grad or owner.requires_grad):
        raise RuntimeError(leaf_written(name, target))


def _old_value(target: Any) -> Any:
    """A copy of what is about to be overwritten, with the old history."""
    copy = below_tape(ops.clone, (target,), {})
    copy.grad_fn, copy.output_index = gradient_edge(target)
    copy._requires_grad = copy.grad_fn is not None
    return copy


def _rebase(x: Any, node: Node, index: int = 0) -> None:
    _give_history(x, node, index)
    x.rewritten += 1


def _give_history(x: Any, node: Node, index: int = 0) -> None:
    old = x.grad_fn
    x.requires_grad, x.grad_fn, x.output_index = True, node, index
    if x.retains_grad:
        retain_grad_at(x, old)


@on_outdated_view
def renew(view: Any) -> None:
    """Gives a view the history of a window of its base as the base is now. RuntimeError if it was made under
    no_grad."""
    if view.untracked:
        raise RuntimeError(UNTRACKED_VIEW_USED)
    base = view.base
    view.base_rewritten = base.rewritten
    info = ViewInfo(base, view)
    node: Node
    if info.is_plain:
        derivative = DERIVATIVES[ops.as_strided]
        layout = (tuple(view.sizes), view.strides, view.offset)
        node = node_class_of(derivative)(ops.as_strided, derivative, [base, *layout])
        node.keep_output(view)
    else:
        node = ViewReplay(gradient_edge(base), info)
    _give_history(view, node)


class CopySlices(Node):
    """The base of a view, after `inner`, whose argument at `position` it was, changed the window that it shows."""

    __slots__ = ("info", "inner", "position")

    def __init__(self, base: Any, view: Any, inner: Any, position: int = 0) -> None:
        edges = list(inner.next_functions)
        edges[position] = gradient_edge(base)
        super().__init__(tuple(edges))
        self.info = ViewInfo(base, view)
        self.inner, self.position = inner, position

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        flat = self.info.flat(grads[0])
        view = ViewReplay((self, 0), self.info)  # of the base as this node leaves it
        found: list[Grad] = list(self.inner.apply([self.info.shown(flat)], wanted, maker=view))
        by_old, found[self.position] = found[self.position], None
        if wanted[self.position]:
            found[self.position] = self.info.base_of(self.info.replaced(flat, by_old))
        return found

    def release(self) -> None:
        self.inner.release()
