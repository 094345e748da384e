"""cond and while_loop: a choice and a loop that data decide, as operations on functions.

>>> import minitorch_compile as torch
>>> def halve(x):
...     return x / 2
>>> cond(torch.tensor(True), halve, torch.neg, (torch.ones(2),))
tensor([0.5000, 0.5000])
>>> while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), (torch.tensor(0), torch.ones(1)))
(tensor(3), tensor([8.]))

As plain Python they are an `if` and a `while`: only what is chosen runs, and the tape records that. In a compiled
function both are one node of the graph, `cond_op` or `while_loop_op`, whose functions are graphs of their own
(`dynamo/variables/functions/control_flow.py`); there what PyTorch asks of these functions is checked.

Source: torch/_higher_order_ops/cond.py and while_loop.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from minitorch_compile.autograd.function import Function
from minitorch_compile.func.batch_tensor import levels_of
from minitorch_compile.pytree import tree_flatten, tree_map, tree_unflatten
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.numerics.dtype import bool_

Branch = Callable[..., Any]


def cond(pred: Any, true_fn: Branch, false_fn: Branch, operands: Any = ()) -> Any:
    """`true_fn(*operands)` if `pred`, else `false_fn(*operands)`; one operation in a compiled function.

    pred: a number or bool, or a tensor with one element.
    operands: a tuple or list of tensors, which may be nested.
    RuntimeError for other arguments. In a compiled function both must give tensors of the same sizes and dtypes, new
    ones, and change nothing; else the graph breaks there. Under vmap, a `pred` that differs between examples makes both
    run, and each example takes its own.

    >>> import minitorch_compile as torch
    >>> torch.vmap(lambda x: cond(x > 0, torch.square, torch.neg, (x,)))(torch.tensor([3.0, -2.0]))
    tensor([9., 2.])
    """
    if isinstance(pred, (bool, int, float)):  # known before: there is no other branch, nor a gradient of what it reads
        return (true_fn if pred else false_fn)(*operands)
    _check_choice(pred, true_fn, false_fn, operands)
    return cond_op(pred, true_fn, false_fn, operands)


def _check_choice(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> None:
    if not isinstance(pred, Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)) or not _all_are(Tensor, operands):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but"
            f" got {operands}."
        )


def _all_are(kind: Any, values: Any) -> bool:
    return all(isinstance(leaf, kind) for leaf in tree_flatten(values)[0])


def cond_op(pred: Any, true_fn: Branch, false_fn: Branch, operands: Sequence[Any] = ()) -> Any:
    """The operation itself, without checks: `torch.ops.higher_order.cond`."""
    if isinstance(pred, Tensor) and levels_of(pred):
        return _each_its_own(pred, true_fn(*operands), false_fn(*operands))
    if isinstance(pred, Tensor) and pred.is_fake:
        _refuse_recording("cond")
        return true_fn(*operands)  # both look alike
    chosen = true_fn if pred else false_fn
    return chosen(*_with_gradients(operands))


class _Operands(Function):
    """What either branch may read, as results of one node: the gradient of what the chosen one ignores is zero."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        return grads


def _with_gradients(operands: Sequence[Any]) -> Sequence[Any]:
    leaves, spec = tree_flatten(operands)
    if stacks.transforms or not any(isinstance(x, Tensor) and x.requires_grad for x in leaves):
        return operands
    return cast("Sequence[Any]", tree_unflatten(_Operands.apply(*leaves), spec))


def _each_its_own(pred: Tensor, chosen: Any, other: Any) -> Any:
    """For each example of a batch what its own `pred` says."""
    chosen_leaves, spec = tree_flatten(chosen)
    other_leaves, found = tree_flatten(other)
    if spec != found:
        raise RuntimeError(f"cond: both branches must return what is nested alike, but gave {spec} and {found}")
    single = ops.reshape(pred, ())
    return tree_unflatten([ops.where(single, x, y) for x, y in zip(chosen_leaves, other_leaves)], spec)


def while_loop(cond_fn: Branch, body_fn: Branch, carried_inputs: Any) -> Any:
    """`carried = body_fn(*carried)` while `cond_fn(*carried)`, beginning with `carried_inputs`: the last of them.

    carried_inputs: a tuple or list of tensors and ints, which may be nested.
    cond_fn: gives a bool, or a bool tensor without dimensions. body_fn: gives a tuple of as many values as it takes.
    RuntimeError for other arguments, AssertionError if body_fn gives something else. In a compiled function it must
    give tensors of the sizes and dtypes that it takes, new ones, and change nothing; else the graph breaks there.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)) or not _all_are((Tensor, int), carried_inputs):
        raise RuntimeError(
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only consists of tensor or int"
            f" leaves, but got {carried_inputs}."
        )
    return while_loop_op(cond_fn, body_fn, tuple(carried_inputs))


def while_loop_op(
    cond_fn: Branch, body_fn: Branch, carried_inputs: tuple[Any, ...], additional_inputs: tuple[Any, ...] = ()
) -> Any:
    """The operation itself: `torch.ops.higher_order.while_loop`. Both functions get `additional_inputs`, too."""
    carried: Any = carried_inputs
    if not _goes_on(cond_fn(*carried, *additional_inputs)):
        return tree_map(lambda x: ops.clone(x) if isinstance(x, Tensor) else x, carried)
    while True:
        made = body_fn(*carried, *additional_inputs)
        if not isinstance(made, (tuple, list)):
            raise AssertionError(f"body_fn should return a tuple but got {type(made)}")
        if len(made) != len(carried):
            raise AssertionError(
                "body_fn should return the same number of elements as carried_inputs, got"
                f" {len(made)} vs {len(carried)}"
            )
        carried = made
        if _is_fake(carried):
            _refuse_recording("while_loop")
            return carried
        if not _goes_on(cond_fn(*carried, *additional_inputs)):
            return carried


def _refuse_recording(name: str) -> None:
    """NotImplementedError where ops are written down (make_fx, aot_function): one branch would stand for both."""
    if any(hasattr(mode, "graph") for mode in stacks.modes):
        raise NotImplementedError(
            f"torch.{name}: what only the data decide can't be written down as ops; torch.compile and torch.export keep"
            " it as one call"
        )


def _is_fake(values: Any) -> bool:
    """Whether there is no data to ask: one round gives what looks like the result."""
    return any(isinstance(x, Tensor) and x.is_fake for x in tree_flatten(values)[0])


def _goes_on(answer: Any) -> bool:
    if isinstance(answer, tuple) and len(answer) == 1:  # of a graph
        (answer,) = answer
    is_scalar = isinstance(answer, Tensor) and answer.dim() == 0 and answer.dtype is bool_
    if not (is_scalar or isinstance(answer, bool)):
        raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {answer}")
    return True if isinstance(answer, Tensor) and answer.is_fake else bool(answer)
