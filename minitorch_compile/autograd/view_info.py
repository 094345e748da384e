"""Where the elements of a view lie in its base: the window that it shows, perhaps as other numbers.

The parts of complex numbers and conjugates are views, too. So a window is counted in the numbers that base and view
both consist of: real ones, if one of them is complex and the other isn't.

>>> from minitorch_compile.tensor import tensor
>>> z = tensor([1 + 2j, 3 - 4j])
>>> info = ViewInfo(z, z.conj()[1:].imag)
>>> flat = info.flat(z)
>>> flat.tolist(), info.shown(flat).tolist(), info.base_of(info.replaced(flat, tensor([5.0]))).tolist()
([1.0, 2.0, 3.0, -4.0], [4.0], [(1+2j), (3-5j)])

All this is linear, and its own adjoint where it changes signs: gradients pass through it as values do.
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.autograd.memory_order import flatten, places, unflatten
from minitorch_compile.autograd.node import Edge, Grad, Layout, Node
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import numel


class ViewInfo:
    """How a view shows a part of its base."""

    __slots__ = ("base", "base_signs", "joins", "layout", "signs", "splits")

    def __init__(self, base: Tensor, view: Tensor) -> None:
        self.base = Layout(base)
        self.base_signs, self.signs = _signs(base.storage), _signs(view.storage)
        self.splits = base.dtype.is_complex and not view.dtype.is_complex
        self.joins = view.dtype.is_complex and not base.dtype.is_complex
        sizes, strides, offset, first = tuple(view.sizes), view.strides, view.offset, base.offset
        if self.splits:
            first = 2 * first
        if self.joins:
            sizes, strides, offset = (*sizes, 2), (*(2 * s for s in strides), 1), 2 * offset
        self.layout = (sizes, strides, offset - first)

    @property
    def is_plain(self) -> bool:
        """Whether the view shows the numbers of the base as they are."""
        return not self.splits and not self.joins and self.base_signs == self.signs

    def flat(self, x: Tensor) -> Tensor:
        """The numbers of the base, in the order and with the signs of memory."""
        flat = flatten(_with_signs(x, self.base_signs), self.base)
        return ops.reshape(ops.view_as_real(flat), (-1,)) if self.splits else flat

    def zeros(self) -> Tensor:
        """As many zeros as the base has numbers in memory."""
        count, element = numel(self.base.sizes), self.base.dtype
        return ops.full((2 * count,), 0, element.to_real()) if self.splits else ops.full((count,), 0, element)

    def base_of(self, flat: Tensor) -> Tensor:
        """The base, from the numbers in memory."""
        joined = ops.view_as_complex(ops.reshape(flat, (-1, 2))) if self.splits else flat
        return _with_signs(unflatten(joined, self.base), self.base_signs)

    def shown(self, flat: Tensor) -> Tensor:
        """The view of these numbers."""
        part = ops.index(flat, [places(*self.layout)])
        return _with_signs(ops.view_as_complex(part) if self.joins else part, self.signs)

    def replaced(self, flat: Tensor, part: Tensor | None, accumulate: bool = False) -> Tensor:
        """The numbers in memory after `part` was written to the view, or added; zeros if it is None."""
        if part is None:
            part = ops.full((), 0, flat.dtype)
        else:
            part = _with_signs(part, self.signs)
            part = ops.view_as_real(part) if self.joins else part
        return ops.index_put(flat, [places(*self.layout)], part, accumulate)


def _signs(storage: Storage) -> tuple[bool, bool]:
    return storage.conj, storage.neg


def _with_signs(x: Tensor, signs: tuple[bool, bool]) -> Tensor:
    conj, neg = signs
    x = ops.conj_physical(x) if conj else x
    return ops.neg(x) if neg else x


class ViewReplay(Node):
    """A view as a function of its base, to which an edge leads: the node of a view in step with it."""

    __slots__ = ("info",)

    def __init__(self, base: Edge, info: ViewInfo) -> None:
        super().__init__((base,))
        self.info = info

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        return [self.info.base_of(self.info.replaced(self.info.zeros(), grads[0], accumulate=True))]
