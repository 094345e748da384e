"""Methods that change how a tensor looks at its storage, in place: transpose_, unsqueeze_, resize_, set_, ...

>>> from minitorch_compile.tensor import arange
>>> x = arange(6)
>>> x.resize_(2, 3).t_().shape, x.stride()
(torch.Size([3, 2]), (1, 3))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.accelerators import grow
from minitorch_compile.tensor.dispatch.captured_memory import refuse_captured
from minitorch_compile.tensor.dispatch.written_signatures import says
from minitorch_compile.tensor.memory.conjugate_view import without_signs
from minitorch_compile.tensor.memory.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
    strides_in,
)
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel
from minitorch_compile.tensor.memory.windows import forget_windows
from minitorch_compile.tensor.ops.view import as_ints
from minitorch_compile.tensor.tensor_base import TensorBase

Ints = Sequence[int]

FORMATS = (contiguous_format, channels_last, channels_last_3d)


class TensorResizing(TensorBase):
    """The part of Tensor that changes sizes, strides and storage of the tensor itself."""

    def _look_as(self, view: Any, name: str) -> Any:
        """Makes the tensor what a view of it is. RuntimeError for a leaf that requires grad."""
        refuse_captured(name, self)
        if self.requires_grad and self.grad_fn is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        base = self.base
        if base is not None and base.requires_grad and base.grad_fn is None:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        self.sizes, self.strides, self.offset, self._array = view.sizes, view.strides, view.offset, None
        self._requires_grad, self.grad_fn, self.output_index = view.requires_grad, view.grad_fn, view.output_index
        self.storage.version += 1
        return self

    def transpose_(self, dim0: int, dim1: int) -> Any:
        """transpose, in place."""
        return self._look_as(ops.transpose(self, dim0, dim1), "transpose_")

    swapdims_ = transpose_

    def swapaxes_(self, axis0: int, axis1: int) -> Any:
        """transpose, in place."""
        return self.transpose_(axis0, axis1)

    def t_(self) -> Any:
        """t, in place."""
        return self._look_as(ops.t(self), "t_")

    def unsqueeze_(self, dim: int) -> Any:
        """unsqueeze, in place."""
        return self._look_as(ops.unsqueeze(self, dim), "unsqueeze_")

    @says("(self, dim=None)")
    def squeeze_(self, *dims: Any, **kwargs: Any) -> Any:
        """squeeze, in place."""
        return self._look_as(self.squeeze(*dims, **kwargs), "squeeze_")  # type: ignore[attr-defined]

    def as_strided_(self, size: Ints, stride: Ints, storage_offset: int | None = None) -> Any:
        """as_strided, in place."""
        return self._look_as(ops.as_strided(self, size, stride, storage_offset), "as_strided_")

    def resize_(self, *size: Any, memory_format: Any = None) -> Any:
        """Other sizes over the same storage, in row-major order or that of `memory_format`; new storage, the old
        elements first, if it is too small. RuntimeError if the tensor requires grad."""
        if self.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        if memory_format is preserve_format:
            raise RuntimeError("resize_: memory_format may not be torch.preserve_format; name an order of dimensions")
        given = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
        wanted = Size(as_ints("resize_", given))
        if memory_format is None and wanted == self.sizes:
            return self
        refuse_captured("resize_", self)
        strides = strides_in(memory_format or contiguous_format, wanted)
        needed = self.offset + numel(wanted)
        storage = without_signs(self.storage)
        buffer = storage.buffer
        if buffer is not None and needed > buffer.size:
            grown = np.zeros(needed, buffer.dtype)
            grown[: buffer.size] = buffer
            storage.buffer = grown
            if buffer.size:
                forget_windows([storage])
        elif storage.block is not None:
            grow(storage, needed * self.dtype.itemsize)
        self.sizes, self.strides, self._array = wanted, strides, None
        return self

    def resize_as_(self, the_template: Any, *, memory_format: Any = None) -> Any:
        """resize_ to the sizes of another tensor; with preserve_format also to its memory format."""
        if memory_format is preserve_format:
            memory_format = next((f for f in FORMATS if the_template.is_contiguous(memory_format=f)), None)
        return self.resize_(tuple(the_template.sizes), memory_format=memory_format)

    def set_(self, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Any:
        """Looks at the storage of another tensor, as it does; or at a storage, from an offset, with sizes and strides.

        Without a source, at nothing. RuntimeError for another dtype.
        """
        if source is None:
            source = ops.full((0,), 0, self.dtype)
        if isinstance(source, TensorBase):
            if source.dtype is not self.dtype:
                raise RuntimeError(
                    f"set_: could not set tensor of type {source.dtype} to a tensor of type {self.dtype}"
                )
            self.storage, self.offset = without_signs(source.storage), source.offset
            self.sizes, self.strides = source.sizes, source.strides
        else:
            self.storage = source if isinstance(source, Storage) else source._storage
            self.sizes = Size(as_ints("set_", size or (len(self.storage),)))
            self.strides = tuple(stride or ()) or contiguous_strides(self.sizes)
            self.offset = storage_offset
        self._array = None
        return self
