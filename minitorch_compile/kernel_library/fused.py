"""Functions that are written in several ops: one kernel each way, and one node of the tape.

The programs are the functions' own formulas, and the gradients that the tape finds for them. A gradient that is itself
recorded is that of the formula.

>>> row = Fused(lambda x, y: x * y, {"x": ("elements",), "y": ("elements",)})
>>> row.size_names, row.slopes(ops.ones(2), ops.ones(2), ops.zeros(2))
(('elements',), (tensor([0., 0.]),))
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from minitorch_compile.autograd import Function, enable_grad, grad
from minitorch_compile.kernel_library.formula_gradients import gradients_by_formula
from minitorch_compile.kernel_library.replaced import are_numbers, arrays_of, dense, is_dense, program
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.tensor_base import wrap


class Fused(NamedTuple):
    """A function of tensors, whose sizes have names, then of numbers. The result has the first tensor's sizes.

    The first `wanted` tensors have gradients here.
    """

    formula: Callable[..., Any]
    inputs: dict[str, tuple[str, ...]]
    numbers: str = ""
    wanted: int = 1

    @property
    def size_names(self) -> tuple[str, ...]:
        """The names of the sizes, in the order in which they occur."""
        return tuple(dict.fromkeys(name for names in self.inputs.values() for name in names))

    @enable_grad()
    def slopes(self, upper: Any, *given: Any) -> tuple[Any, ...]:
        """The gradients, as the tape finds them, for that of the result."""
        tensors = [given[i].detach().requires_grad_() for i in range(self.wanted)]
        return grad(self.formula(*tensors, *given[self.wanted :]), tensors, upper)

    def by_formula(self, sizes: tuple[int, ...], numbers: tuple[float, ...], *tensors: Any) -> Any:
        """What the formula gives for tensors that have these sizes, but may have other dimensions."""
        named = dict(zip(self.size_names, sizes, strict=True))
        shapes = [tuple(map(named.__getitem__, names)) for names in self.inputs.values()]
        shaped = map(ops.reshape, tensors, shapes)
        return ops.reshape(self.formula(*shaped, *numbers), tuple(tensors[0].sizes))


FUSED: dict[str, Fused] = {}


class FusedNode(Function):
    """(the name of a row of FUSED, its sizes, its numbers, its tensors) -> what it gives."""

    new_gradients = True

    @staticmethod
    def forward(ctx: Any, name: str, sizes: tuple[int, ...], numbers: tuple[float, ...], *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        ctx.call = name, sizes, numbers
        arrays = tuple(tensor.array for tensor in tensors)
        return wrap(program(name)(sizes, (arrays[0].shape,), arrays, *numbers)[0])

    @staticmethod
    def backward(ctx: Any, upper: Any) -> tuple[Any, ...]:
        (name, sizes, numbers), tensors = ctx.call, ctx.saved_tensors
        row = FUSED[name]
        found: Any = None if grad_state.enabled else program(f"{name}_backward")
        arrays = dense(upper, *tensors) if found else None
        if arrays:
            shapes = [array.shape for array in arrays[1 : row.wanted + 1]]
            slopes: Any = map(wrap, found(sizes, shapes, arrays, *numbers))
        else:
            slopes = gradients_by_formula(partial(row.by_formula, sizes, numbers), tensors, upper)[: row.wanted]
        return None, None, None, *slopes, *[None] * (len(tensors) - row.wanted)


def fused(name: str, sizes: tuple[int, ...], numbers: tuple[Any, ...], *tensors: Any) -> Any:
    """What a row of FUSED gives for these; None if they aren't plain numbers, and float32 and row by row in memory."""
    found: Any = program(name) if are_numbers(numbers) else None
    arrays = arrays_of(*tensors) if found else None
    if arrays is None or not is_dense(*arrays):
        return None
    recorded = [tensor.requires_grad for tensor in tensors] if grad_state.enabled else []
    if any(recorded):
        wanted = FUSED[name].wanted
        return None if any(recorded[wanted:]) else FusedNode.apply(name, sizes, numbers, *tensors)
    return wrap(found(sizes, (arrays[0].shape,), tuple(arrays), *numbers)[0])
