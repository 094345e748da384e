"""Questions about tensors and dtypes, as functions.

>>> from minitorch_compile.tensor import ones
>>> is_tensor(ones(2)), is_tensor([1.0]), numel(ones(2, 3)), is_floating_point(ones(1)), is_nonzero(ones(1))
(True, False, 6, True, True)
>>> result_type(ones(2), 1), result_type(1, 2.5)
(torch.float32, torch.float32)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.pointwise_op import common_dtype
from minitorch_compile.tensor.memory.typed_storage import UntypedStorage
from minitorch_compile.tensor.numerics.dtype import dtype, dtype_of_scalar, promote_types
from minitorch_compile.tensor.tensor_base import TensorBase


def is_tensor(obj: Any, /) -> bool:
    """Whether an object, `obj`, is a tensor.

    >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, TensorBase)


def is_storage(obj: Any, /) -> bool:
    """Whether an object is a storage, as x.storage() and x.untyped_storage() give."""
    return isinstance(obj, UntypedStorage)


def _tensor(name: str, input: Any) -> Any:
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return input


def numel(input: Any) -> int:
    """The number of elements of `input`.

    >>> torch.numel(torch.zeros(2, 3))
    6
    """
    return int(_tensor("numel", input).numel())


def is_floating_point(input: Any) -> bool:
    """Whether the elements are floats."""
    return bool(_tensor("is_floating_point", input).dtype.is_floating_point)


def is_complex(input: Any) -> bool:
    """Whether the elements are complex numbers."""
    return bool(_tensor("is_complex", input).dtype.is_complex)


def is_signed(input: Any) -> bool:
    """Whether the elements can be negative."""
    return bool(_tensor("is_signed", input).dtype.is_signed)


def is_conj(input: Any) -> bool:
    """Whether the elements are the conjugates of what is in memory."""
    return bool(_tensor("is_conj", input).is_conj())


def is_neg(input: Any) -> bool:
    """Whether the elements are the negatives of what is in memory."""
    return bool(_tensor("is_neg", input).is_neg())


def is_nonzero(input: Any) -> bool:
    """Whether the single element is not zero. RuntimeError if there are more or none."""
    return bool(_tensor("is_nonzero", input))


def is_same_size(input: Any, other: Any) -> bool:
    """Whether two tensors have the same sizes."""
    return bool(_tensor("is_same_size", input).sizes == other.sizes)


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype of an operation on two tensors or numbers."""
    if isinstance(tensor1, TensorBase) or isinstance(tensor2, TensorBase):
        return common_dtype([tensor1, tensor2], "result_type")
    return promote_types(dtype_of_scalar(tensor1), dtype_of_scalar(tensor2))
