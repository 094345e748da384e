"""One view operation on the way from a base to a view: how it is done to a tensor, and how to its value.

A program's tensor has a place in memory; the value that stands for it in a functional graph is a tensor of its own,
laid out in some other way perhaps. Most views don't ask how their input lies in memory. Two do: `view`, which then has
to copy, and `as_strided`, which counts elements of memory.

>>> from minitorch_compile.tensor import arange
>>> x = arange(6).view(2, 3).t()
>>> step = ViewStep.of(ops.as_strided, x, ((2,), (1,), 0))      # the first two elements in memory: 0 and 1
>>> step.apply(x), step.value(x.contiguous())
(tensor([0, 1]), tensor([0, 1]))
>>> step.replaced(x.contiguous(), -arange(2) - 7).tolist()
[[-7, 3], [-8, 4], [2, 5]]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minitorch_compile.aot.aliasing.view_inverses import with_view_replaced
from minitorch_compile.autograd.memory_order import flatten, places, unflatten
from minitorch_compile.autograd.node import Layout
from minitorch_compile.symbolic import surely_equal
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.grad_mode import is_grad_enabled, set_grad_enabled
from minitorch_compile.tensor.memory.viewing import is_inside
from minitorch_compile.tensor.tensor_base import TensorBase


class ViewStep(NamedTuple):
    """A call of a view op. `recorded`: whether grad mode was on; `source`: what the op was applied to looks like."""

    op: Op
    arguments: tuple[Any, ...]
    recorded: bool
    source: Layout | None = None

    @classmethod
    def of(cls, op: Op, source: TensorBase, arguments: tuple[Any, ...]) -> ViewStep:
        """The step of a call that the program makes now."""
        return cls(op, arguments, is_grad_enabled(), Layout(source) if op is ops.as_strided else None)

    def apply(self, x: Tensor) -> Tensor:
        """The view of a tensor that lies in memory as the program's does."""
        with set_grad_enabled(self.recorded):
            return self.op(x, *self.arguments) if self.op is ops.as_strided else viewed(self.op, x, self.arguments)

    def value(self, x: Tensor) -> Tensor:
        """The value of the view, from the value of what it is a view of."""
        with set_grad_enabled(self.recorded):
            if self.op is not ops.as_strided:
                return viewed(self.op, x, self.arguments)
            if _lies_as(x, self.source) and not self._is_inside():
                return self.op(x, *self.arguments)  # an argument that nobody wrote to, and the memory around it
            assert self.source is not None
            sizes, strides, first = self._window()
            flat = flatten(x, self.source)  # which may lie anywhere
            return ops.as_strided(ops.slice(flat, 0, first, None) if first else flat, sizes, strides)

    def replaced(self, base: Tensor, new: Tensor) -> Tensor:
        """What the base's value becomes when that of its view becomes `new`."""
        if self.op is not ops.as_strided:
            return with_view_replaced(self.op, base, new, self.arguments)
        assert self.source is not None
        window = places(*self._window())
        return unflatten(ops.index_put(flatten(base, self.source), [window], new), self.source)

    def _window(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Sizes, strides and offset in the source's memory. NotImplementedError if some of it isn't the source's."""
        if not self._is_inside():
            raise NotImplementedError(
                "functionalize: an as_strided view that reaches outside of its input, or whose input has gaps, can be"
                " neither written to, nor read after a write; write it with slice, permute and expand"
            )
        sizes, strides, _ = self.arguments
        return tuple(sizes), tuple(strides), self._first()

    def _first(self) -> int:
        offset = self.arguments[2]
        assert self.source is not None
        return 0 if offset is None else offset - self.source.offset

    def _is_inside(self) -> bool:
        """Whether the window consists of elements of the source, which lie together."""
        assert self.source is not None
        sizes, strides, _ = self.arguments
        return is_inside((sizes, strides, self._first()), self.source.sizes, self.source.strides)


def viewed(op: Op, x: Tensor, arguments: tuple[Any, ...]) -> Tensor:
    """A view of a value, whose strides may differ from those of the tensor that the program calls by its name."""
    if op is ops.view_as_complex:  # wants the parts side by side
        return op(ops.contiguous(x))
    return ops.reshape(x, *arguments) if op is ops.view else op(x, *arguments)


def _lies_as(x: TensorBase, layout: Layout | None) -> bool:
    return layout is not None and surely_equal((x.strides, x.offset), (layout.strides, layout.offset))
