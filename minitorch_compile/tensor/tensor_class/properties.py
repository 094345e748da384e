"""What a tensor says about itself, without its data: sizes, strides, dtype, device, and the questions is_...().

>>> from minitorch_compile.tensor import zeros
>>> x = zeros(2, 3, 4).permute(2, 0, 1)
>>> x.shape, x.stride(), x.is_contiguous(), x.nbytes, x.is_floating_point(), x.get_device()
(torch.Size([4, 2, 3]), (1, 12, 4), False, 96, True, -1)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.accelerators import is_pinned
from minitorch_compile.tensor.memory.device import META
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.memory_format import (
    contiguous_format,
    is_in_format,
    layout,
    memory_format,
    strided,
)
from minitorch_compile.tensor.memory.shared_memory import file_of
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.strides import is_contiguous, numel
from minitorch_compile.tensor.memory.typed_storage import UntypedStorage
from minitorch_compile.tensor.tensor_base import TensorBase

Format = memory_format


class TensorProperties(TensorBase):
    """The part of Tensor that is only read."""

    # ---------------------------------------------------------------------------------------------- sizes and strides

    @property
    def shape(self) -> Size:
        """The sizes."""
        return self.sizes

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    def dim(self) -> int:
        """The number of dimensions.

        >>> torch.zeros(2, 3).dim(), torch.tensor(1.0).dim()
        (2, 0)
        """
        return len(self.sizes)

    ndimension = dim

    def size(self, dim: int | None = None) -> Any:
        """The sizes, as a torch.Size, or the size of the dimension `dim`, as an int. IndexError for a dimension that
        isn't there.

        >>> x = torch.zeros(2, 3)
        >>> x.size(), x.size(-1)
        (torch.Size([2, 3]), 3)
        """
        return self.sizes if dim is None else self.sizes[_known_dim(dim, self.sizes)]

    def stride(self, dim: int | None = None) -> Any:
        """The strides in elements, or that of one dimension."""
        return self.strides if dim is None else self.strides[_known_dim(dim, self.sizes)]

    def storage_offset(self) -> int:
        """Where in the storage the first element lies, in elements."""
        return self.offset

    def numel(self) -> int:
        """The number of elements.

        >>> torch.zeros(2, 3).numel()
        6
        """
        return numel(self.sizes)

    nelement = numel

    def dim_order(self, *, ambiguity_check: bool | list[Format] = False) -> tuple[int, ...]:
        """The dimensions in the order of memory, slowest first.

        RuntimeError if there are other such orders and that is asked: with True, or with memory formats of which the
        tensor is in none, or in several.
        """
        formats = ambiguity_check if isinstance(ambiguity_check, list) else []
        if not isinstance(ambiguity_check, (bool, list)) or not all(isinstance(f, memory_format) for f in formats):
            raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
        several = 1 in self.sizes or any(a == b for a, b in zip(self.strides, self.strides[1:], strict=False))
        if ambiguity_check and several and sum(self.is_contiguous(f) for f in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
            )
        return tuple(sorted(range(len(self.sizes)), key=lambda d: (-self.strides[d], d)))

    def is_contiguous(self, memory_format: Format = contiguous_format) -> bool:
        """Whether the elements lie without gaps in row-major order, or in that of `memory_format`."""
        if memory_format is contiguous_format:
            return is_contiguous(self.sizes, self.strides)
        return is_in_format(self.sizes, self.strides, memory_format)

    def is_same_size(self, other: TensorBase) -> bool:
        """Whether another tensor has the same sizes."""
        return self.sizes == other.sizes

    def is_set_to(self, tensor: TensorBase) -> bool:
        """Whether another tensor looks at the same storage in the same way."""
        signs = (self.storage.conj, self.storage.neg) == (tensor.storage.conj, tensor.storage.neg)
        mine = (self.storage, self.offset, self.sizes, self.strides)
        return signs and mine == (tensor.storage, tensor.offset, tensor.sizes, tensor.strides)

    # ---------------------------------------------------------------------------------------------- elements and memory

    def element_size(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return numel(self.sizes) * self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element; 0 on the meta device, and of an instance of a class that has no data."""
        if self.device is META or hasattr(type(self), "__torch_dispatch__"):
            return 0
        block = self.storage.block
        if block is not None:
            return block.address and int(block.address) + self.offset * self.dtype.itemsize
        return int(self.window.__array_interface__["data"][0])

    def untyped_storage(self) -> UntypedStorage:
        """The memory behind the tensor, in bytes."""
        return UntypedStorage(self.storage)

    def is_floating_point(self) -> bool:
        """Whether the elements are floats."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the elements can be negative."""
        return self.dtype.is_signed

    # ---------------------------------------------------------------------------------------------- where and how

    @property
    def layout(self) -> layout:
        """torch.strided: there are no others here."""
        return strided

    def get_device(self) -> int:
        """The number of the accelerator; -1 in main memory."""
        return -1 if self.device.index is None else self.device.index

    @property
    def is_cpu(self) -> bool:
        return self.device.type == "cpu"

    @property
    def is_meta(self) -> bool:
        return self.device.type == "meta"

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    # What PyTorch's other kinds of tensors answer with True; none of them exists here.
    is_mps = is_xpu = is_sparse = is_sparse_csr = is_quantized = is_mkldnn = is_nested = is_vulkan = False

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is pinned, so that a GPU copies from it while the program goes on."""
        return is_pinned(self)

    def is_shared(self) -> bool:
        """Whether other processes can look at the memory, see `share_memory_`."""
        buffer = self.storage.memory.buffer
        return buffer is not None and file_of(buffer) is not None

    def is_conj(self) -> bool:
        """Whether the elements are the conjugates of what is in memory, as those of x.conj() are."""
        return self.storage.conj

    def is_neg(self) -> bool:
        """Whether the elements are the negatives of what is in memory, as those of x.conj().imag are."""
        return self.storage.neg

    def is_nonzero(self) -> bool:
        """Whether the single element is not zero. RuntimeError if there are more or none."""
        return bool(self)

    def is_coalesced(self) -> bool:
        """Of sparse tensors only. RuntimeError: this one is strided."""
        raise RuntimeError("is_coalesced expected sparse coordinate tensor layout but got Strided")

    def to_dense(self) -> Any:
        """The tensor itself: it is dense."""
        return self

    @property
    def _version(self) -> int:
        if self.storage.is_inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self.storage.version

    def is_inference(self) -> bool:
        """Whether the tensor was computed in inference_mode."""
        return self.storage.is_inference

    @property
    def _base(self) -> Any:
        return self.base

    def _is_view(self) -> bool:
        return self.base is not None


def _known_dim(dim: int, sizes: Size) -> int:
    """A dimension counted from the front. IndexError, also for a 0-d tensor, which has none."""
    if not sizes:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, len(sizes))
