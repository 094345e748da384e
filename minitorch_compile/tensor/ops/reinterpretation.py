"""The same memory, looked at with another element type: complex numbers as pairs of real ones, and back.

>>> from minitorch_compile.tensor import tensor
>>> z = tensor([1 + 2j, 3 + 4j])
>>> _ = z.imag.fill_(0)
>>> z, z._version
(tensor([1.+0.j, 3.+0.j]), 1)

A storage has one element type, so a *reinterpreted* storage stands beside it: it has no memory and no version of its
own. Writing into the parts of a tensor is seen by the tensor, by its version and by autograd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.argument_devices import following
from minitorch_compile.tensor.dispatch.declare import register, where_visible
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.op_families import KernelOp
from minitorch_compile.tensor.memory.conjugate_view import with_signs, without_signs
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import BorrowedStorage, Storage
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts


class ReinterpretedStorage(BorrowedStorage):
    """The memory and the version of another storage, with elements of another type."""

    __slots__ = ("element",)

    def __init__(self, of: Storage, element: np.dtype) -> None:
        self.of = of
        self.element = element

    def __reduce__(self) -> tuple[Any, ...]:
        return ReinterpretedStorage, (self.of, self.element)

    @property
    def buffer(self) -> np.ndarray:  # type: ignore[override]
        memory = self.of.buffer
        assert memory is not None
        whole = memory.nbytes // self.element.itemsize * self.element.itemsize  # half a complex number may be left over
        return memory.view(np.uint8)[:whole].view(self.element)

    @property
    def version(self) -> int:
        return self.of.version

    @version.setter
    def version(self, value: int) -> None:
        self.of.version = value


Signs = Callable[[bool, bool], tuple[bool, bool]]


def negated_only(conj: bool, neg: bool) -> tuple[bool, bool]:
    """Of real numbers made of complex ones, or the other way round, the negative stays one."""
    return False, neg


class ReinterpretOp(Op):
    """The decorated rule maps the tensor to (sizes, strides, offset, dtype), as that of a view does without dtype.

    `signs` says of which flipped signs the result is seen with (`conjugate_view.py`), from those of the tensor.
    """

    kind = "view"
    gives_views = True

    def __init__(self, rule: Callable[..., Any], *, signs: Signs = negated_only, **row: Any) -> None:
        super().__init__(rule, **row)
        self.signs = signs

    def eager(self, *bound: Any) -> TensorBase:
        input = self.tensor_argument(bound, 0)
        sizes, strides, offset, element = self.kernel(input)
        storage = without_signs(input.storage)
        # What has no data has no element type that would have to fit.
        if storage.buffer is not None and element is not input.dtype:
            storage = ReinterpretedStorage(storage, element.numpy)
        storage = with_signs(storage, *self.signs(input.storage.conj, input.storage.neg))
        view: TensorBase = from_parts(storage, offset, Size(sizes), tuple(strides), element, input.device)
        return input.followed_by(view)

    def meta_rule(self, *bound: Any) -> TensorBase:
        return self.eager(*bound)


class SameBytesOp(KernelOp):
    """An op that a graph holds as a copy, and that eagerly looks at the memory of its first argument."""

    def run_bound(self, bound: tuple[Any, ...]) -> Any:
        input, *others = bound
        promised = self.meta_rule(input, *others)
        if input.is_fake:
            return following(self, (input, *others), promised)
        if input.storage.flips and promised.dtype is not input.dtype:
            what = "conjugate view tensors" if input.storage.conj else "tensors with negative bit set"
            raise RuntimeError(f"torch.Tensor.view is not supported for {what} when converting to a different dtype.")
        element, offset = promised.dtype, input.offset * input.dtype.itemsize
        if offset % element.itemsize:
            raise RuntimeError(
                f"self.storage_offset() must be divisible by {element.itemsize // input.dtype.itemsize} to view"
                f" {input.dtype} as {element} (different element sizes), but got {input.offset}"
            )
        storage = input.storage
        if storage.block is None:  # a device's memory has no element type that would have to fit
            storage = ReinterpretedStorage(storage, element.numpy)
        return from_parts(storage, offset // element.itemsize, promised.sizes, promised.strides, element, input.device)


def reinterpretation(
    *, torch: bool = True, methods: bool = False, signs: Signs = negated_only
) -> Callable[[Callable[..., Any]], ReinterpretOp]:
    """Declares an op that looks at its input's memory with another element type, or with other signs."""
    return lambda rule: register(ReinterpretOp(rule, signs=signs, namespaces=where_visible(torch, methods, False)))


def same_bytes(kernel: Callable[..., Any]) -> SameBytesOp:
    """Declares an op that is a copy in a graph, and eagerly shares memory; give it a `shape_rule` as well."""
    return register(SameBytesOp(kernel, kind="copy", namespaces=where_visible(False, False, False)))


Layout = tuple[Any, Any, int, dtype]
