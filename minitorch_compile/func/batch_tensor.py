"""A tensor as a function under `vmap` sees it: one example, which stands for all of them.

>>> from minitorch_compile.tensor import ones
>>> x = BatchTensor.of(ones(5, 3), level=1)
>>> x.shape, x.value.shape
(torch.Size([3]), torch.Size([5, 3]))

`value` has the batch as its first dimension. It may be a BatchTensor itself, of a lower level, where `vmap` is nested.
Like a fake tensor, a BatchTensor has a layout but no data of its own: every operation on it goes to the interpreter of
its level (`vmap.py`). Source: the BatchedTensor of JAX (`BatchTracer`) and functorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.captured_memory import refuse_captured
from minitorch_compile.tensor.dispatch.overrides import _disabled_torch_function_impl
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import FakeDataError, kept_by

NEEDS_DATA = (
    "vmap: the function needs a number out of a tensor that stands for a whole batch (.item(), bool() in an if,"
    " .numpy() and the like). Use tensor operations instead: torch.where for an if, indexing with tensors."
)


_REST = slice(1, None)


class BatchTensor(Tensor):
    """One example of `value`, whose first dimension is the batch of the vmap at `level`."""

    value: Any
    level: int
    is_confined = True
    is_example = True
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def of(cls, value: Any, level: int) -> BatchTensor:
        """The example that `value`, of sizes (batch, ...), stands for."""
        result = object.__new__(cls)
        result.storage = Storage(None)
        result.offset = 0
        result.sizes = Size(tuple.__getitem__(value.sizes, _REST))
        result.strides = value.strides[1:]
        result.dtype = value.dtype
        result.device = value.device
        result.fake_mode = value.fake_mode
        result._requires_grad = value._requires_grad
        result.value = value
        result.level = level
        return result

    def in_each_example(self, made: Any) -> Any:
        """Such a tensor for each example, with memory of its own."""
        if self.level in levels_of(made):
            return made
        batch = ops.clone(ops.expand(ops.unsqueeze(made, 0), (self.value.sizes[0], *made.sizes)))
        return BatchTensor.of(self.value.in_each_example(batch), self.level)

    @property
    def array(self) -> np.ndarray:
        raise FakeDataError(NEEDS_DATA)

    def __bool__(self) -> bool:
        raise FakeDataError(NEEDS_DATA)

    def item(self) -> Any:
        raise FakeDataError(NEEDS_DATA)

    def _look_as(self, view: Any, name: str) -> Any:
        """In place of a view of it, such as transpose_ makes: the whole batch is seen in that way from now on."""
        refuse_captured(name, bottom(self))
        kept_by(self).update(kept_by(view))
        return self

    @property
    def data(self) -> Any:
        """Not possible here: writes to it would go past the interpreter."""
        raise RuntimeError("vmap: x.data inside vmap is not supported; use x.detach() or x.clone()")

    @data.setter
    def data(self, new_data: Any) -> None:
        raise RuntimeError("vmap: x.data can't be set inside vmap; use the form that returns a new tensor")

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Not possible here: use func.grad inside vmap."""
        raise RuntimeError(
            "requires_grad_: a tensor inside vmap can't become a leaf; compute gradients there with torch.func.grad"
        )

    def backward(self, *args: Any, **kwargs: Any) -> None:
        """Not possible here: the tape lies below vmap."""
        raise RuntimeError("backward() called inside vmap; compute gradients there with torch.func.grad or vjp")

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """Not possible here: the tape, which calls hooks, knows whole batches only."""
        raise RuntimeError(
            "register_hook: a tensor inside vmap has no gradient of its own to call a hook with; register it outside of"
            " vmap, on the whole batch"
        )

    def retain_grad(self) -> None:
        """Not possible here, for the same reason."""
        raise RuntimeError("retain_grad: a tensor inside vmap has no gradient of its own; take it outside of vmap")

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"BatchTensor(level={self.level}, value={self.value!r})"


def _refused(name: str) -> Callable[..., Any]:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"vmap: {name}() changes how a tensor looks at its memory, which one example of a batch can't do by itself."
            f" Use the form that returns a new tensor, such as {name.rstrip('_')}()"
        )

    return refuse


for _name in (
    "as_strided_",
    "resize_",
    "resize_as_",
    "set_",
    "detach_",
):
    setattr(BatchTensor, _name, _refused(_name))


def levels_of(x: Any) -> tuple[int, ...]:
    """The levels at which a tensor is batched, from the lowest, which has the first dimension of the data.

    >>> from minitorch_compile.tensor import ones
    >>> levels_of(BatchTensor.of(BatchTensor.of(ones(2, 3, 4), 1), 2))
    (1, 2)
    """
    levels: list[int] = []
    while isinstance(x, BatchTensor):
        levels.append(x.level)
        x = x.value
    return tuple(reversed(levels))


def bottom(x: Any) -> Any:
    """The data under all levels; its first dimensions are those of `levels_of(x)`, in this order."""
    while isinstance(x, BatchTensor):
        x = x.value
    return x


def built_up(data: Any, levels: Sequence[int]) -> Any:
    """The inverse of `bottom`: a tensor that is batched at these levels (ascending)."""
    if not levels:
        return data
    # The lowest level is the innermost wrapper, and its dimension the first of the data.
    lowest, *higher = levels
    return _wrapped(BatchTensor.of(data, lowest), higher)


def _wrapped(x: Any, levels: Sequence[int]) -> Any:
    for level in levels:
        x = BatchTensor.of(x, level)
    return x
