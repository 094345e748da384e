"""Writes as new values: what a base is after one of its views was written to, and whose history stands behind it.

>>> from minitorch_compile.aot.aliasing.view_steps import ViewStep
>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1, 2], [3, 4]])
>>> rewritten(x, (ViewStep.of(ops.select, x, (0, 0)),), tensor([10, 20]))
tensor([[10, 20],
        [ 3,  4]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.aot.aliasing.names import Contents, Name, followed
from minitorch_compile.aot.aliasing.view_steps import ViewStep
from minitorch_compile.aot.keep_history import keep_history, untracked
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.grad_mode import is_grad_enabled, set_grad_enabled
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.ops.reinterpretation import ReinterpretOp
from minitorch_compile.tensor.tensor_base import TensorBase


def with_history_of(old: Tensor, value: Tensor) -> Tensor:
    """`value`, whose gradients go where those of the old value went, and nowhere if that had none."""
    if value.dtype.category < FLOATING:
        return value
    with set_grad_enabled(True):
        return keep_history(old, ops.detach(value))


def kept_from_gradients(history: Tensor, value: Tensor) -> Tensor:
    """`value`; the program is refused if it, or the history behind the root, turns out to be recorded."""
    if value.dtype.category < FLOATING:
        return value
    with set_grad_enabled(True):
        return untracked(history, value)


def way_back(steps: tuple[ViewStep, ...], root: TensorBase, tensor: TensorBase) -> tuple[ViewStep, ...]:
    """The steps by which a write to a tensor reaches its root.

    In an expanded tensor, or in overlapping windows, one element stands for many, and a write to some of them is a
    write to all. So it is done by place in memory.
    """
    if not any(step.op in (ops.expand, ops.unfold, ops.as_strided) for step in steps):
        return steps
    refuse_other_numbers(steps)
    return (ViewStep.of(ops.as_strided, root, (tensor.sizes, tensor.strides, tensor.offset)),)


def refuse_other_numbers(steps: tuple[ViewStep, ...]) -> None:
    """NotImplementedError where memory holds other numbers than a view of it shows: places in it can't be compared."""
    if any(isinstance(step.op, ReinterpretOp) for step in steps):
        raise NotImplementedError(
            "functionalize: of conjugates, or of parts of complex numbers, an as_strided view is not supported, nor a"
            " write to one that expand or unfold made; make it of a clone() of them"
        )


def rewritten(base: Tensor, steps: tuple[ViewStep, ...], new: Tensor) -> Tensor:
    """The base after `new` was written to its view at the end of the steps."""
    if not steps:
        return new
    step, *rest = steps
    return step.replaced(base, rewritten(step.value(base), tuple(rest), new))


def store(contents: Contents, name: Name, new: Tensor) -> None:
    """Lets every root of a storage be what it is after `new` was written to the tensor of that name."""
    written, recorded = name.root, is_grad_enabled()
    value = rewritten(written.value, way_back(name.steps, written.tensor, name.tensor), new)
    if len(contents.roots) > 1:
        way = way_back(written.steps, contents.base.tensor, written.tensor)
        whole = rewritten(contents.base.value, way, value)
        for root in contents.roots:
            if root is not written:
                root.value = with_history_of(root.value, followed(root.steps, whole))
    contents.writes += 1
    written.written = contents.writes
    if recorded:
        written.recorded = contents.writes
        if name.is_untracked:
            value = kept_from_gradients(written.value, value)
    written.value = value if recorded else with_history_of(written.value, value)


def window_of_root(source: Name, arguments: tuple[Any, ...], offset: int) -> ViewStep:
    """as_strided of a view: it looks at the memory, however its input did. So it is a view of the root, and may show
    more of it."""
    refuse_other_numbers(source.steps)
    step = ViewStep.of(ops.as_strided, source.root.tensor, (*arguments[:2], offset))
    return step._replace(recorded=step.recorded and all(before.recorded for before in source.steps))
