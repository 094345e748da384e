"""Tensors from Python numbers, nested lists, arrays and buffers.

>>> tensor([[1, 2], [3, 4]]).dtype, tensor([1.0]).dtype, tensor(True)
(torch.int64, torch.float32, tensor(True))
>>> import numpy as np
>>> array = np.zeros(2, np.float32)
>>> shared, copied = as_tensor(array), tensor(array)
>>> array[0] = 1
>>> shared, copied
(tensor([1., 0.]), tensor([0., 0.]))
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from minitorch_compile.symbolic import SymFloat
from minitorch_compile.tensor.dispatch.dispatch import converted_by_modes, stacks
from minitorch_compile.tensor.dispatch.op import find
from minitorch_compile.tensor.dispatch.tensor_options import on_device, with_options
from minitorch_compile.tensor.memory.device import CPU, entered
from minitorch_compile.tensor.memory.typed_storage import UntypedStorage
from minitorch_compile.tensor.numerics.dtype import (
    FLOATING,
    FROM_NUMPY,
    INTEGER,
    as_dtype,
    dtype,
    dtype_of_scalar,
    float64,
    get_default_dtype,
    promote_types,
)
from minitorch_compile.tensor.numerics.element_conversion import castable
from minitorch_compile.tensor.numerics.numeric_limits import iinfo
from minitorch_compile.tensor.tensor_base import TensorBase, wrap
from minitorch_compile.tensor.tensor_base import from_numpy as over_array

PYTHON_NUMBERS = (bool, int, float, complex)


def tensor(
    data: Any, *, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Any:
    """A new tensor with a copy of `data`: a number, nested lists, a NumPy array or a tensor.

    Python floats take the default dtype, unless `dtype` is given; NumPy scalars and tensors in lists keep theirs, and
    combine as operands do. `device` is where it is made; with `requires_grad` operations on it are recorded;
    `pin_memory` has no effect without a GPU. ValueError for ragged lists, TypeError and RuntimeError for what isn't
    numbers.

    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> torch.tensor([0.5, 1], dtype=torch.float64)
    tensor([0.5000, 1.0000], dtype=torch.float64)
    """
    asked = None if dtype is None else _checked("tensor", dtype)
    if stacks.modes and _has_unknown(data):
        made = _stacked(data, asked or _natural(data))
        return with_options(made, device, None, pin_memory, requires_grad)
    if _is_on_a_gpu(data):
        there: Any = as_tensor(data).to(device, asked, copy=True)
        return there.requires_grad_(requires_grad)
    array = _as_array(data, asked)
    if device is None and entered.devices:
        device = entered.devices[-1]
    copy = np.array(array, dtype=array.dtype if asked is None else asked.numpy, order="K")
    return with_options(converted_by_modes(wrap(copy)), device, None, pin_memory, requires_grad)


def _has_unknown(data: Any) -> bool:
    """Whether it has numbers that are not known while a program is traced."""
    if isinstance(data, (list, tuple)):
        return any(map(_has_unknown, data))
    return isinstance(data, SymFloat) or (isinstance(data, TensorBase) and data.is_fake and not data.sizes)


def _natural(data: Any) -> dtype:
    """The dtype that such numbers have together."""
    if isinstance(data, (list, tuple)):
        return reduce(promote_types, map(_natural, data)) if data else get_default_dtype()
    return data.dtype if isinstance(data, TensorBase) else dtype_of_scalar(data)


def _stacked(data: Any, element: dtype) -> Any:
    """The numbers as a tensor, by operations that can be traced. ValueError for ragged lists."""
    if isinstance(data, TensorBase):
        return data.detach().to(element, copy=True)  # type: ignore[attr-defined]
    if isinstance(data, SymFloat):
        return find("full")((), data, dtype=float64).to(element)  # too large a number becomes infinity
    if not isinstance(data, (list, tuple)):
        return find("full")((), data, dtype=element)
    rows = [_stacked(item, element) for item in data]
    if len({tuple(row.sizes) for row in rows}) > 1:
        raise ValueError("tensor: expected sequence of equal length at every level")
    return find("stack")(rows) if rows else find("empty")((0,), dtype=element)


def from_numpy(ndarray: np.ndarray) -> Any:
    """A tensor that shares the memory of a NumPy array, `ndarray`: what is written to one is seen in the other.

    TypeError for something else or an unsupported dtype, ValueError for negative strides, as in PyTorch.

    >>> import numpy
    >>> array = numpy.zeros(2)
    >>> torch.from_numpy(array)[0] = 5
    >>> array
    array([5., 0.])
    """
    return converted_by_modes(over_array(ndarray))


def as_tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Any:
    """A tensor that shares memory with `data` if it is a tensor or an array, also another library's on a GPU, and
    neither `dtype` nor `device` (without one, that of a `with torch.device(...)` around) is to change; else a copy,
    as torch.tensor() makes it.

    >>> x = torch.ones(2)
    >>> torch.as_tensor(x) is x, torch.as_tensor([1, 2])
    (True, tensor([1, 2]))
    """
    asked = None if dtype is None else _checked("as_tensor", dtype)
    if device is None and entered.devices:
        device = entered.devices[-1]
    if isinstance(data, TensorBase):
        return data.to(device, asked)  # type: ignore[attr-defined]
    if isinstance(data, np.ndarray) and (asked is None or asked.numpy == data.dtype):
        return on_device(from_numpy(data), device)
    if _is_on_a_gpu(data):
        from minitorch_compile.tensor.dispatch.device_exchange import from_cuda_array_interface

        return from_cuda_array_interface(data).to(device, asked)
    return tensor(data, dtype=asked, device=device)


def _is_on_a_gpu(data: Any) -> bool:
    """Whether it is another library's array on a GPU."""
    if isinstance(data, (TensorBase, np.ndarray, list, tuple, *PYTHON_NUMBERS)):
        return False
    return hasattr(data, "__cuda_array_interface__")


def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Any:
    """as_tensor, with a say in whether memory is shared: copy=True never, copy=False always or ValueError."""
    obj = np.asarray(obj) if isinstance(obj, UntypedStorage) else obj
    shareable = isinstance(obj, (TensorBase, np.ndarray))
    result = as_tensor(obj, dtype, device)
    shared = shareable and _first_byte(result) == _first_byte(obj) is not None
    if copy is False and not shared:
        raise ValueError(f"asarray: can't share memory with {type(obj).__name__} in this dtype; leave out copy=False")
    if copy and shared:
        result = result.detach().clone()
    if isinstance(obj, TensorBase):
        result = result if obj.requires_grad and requires_grad else result.detach()
    if requires_grad:
        result.requires_grad = True
    return result


def _first_byte(data: Any) -> int | None:
    """Where it begins in main memory; None if it isn't there."""
    if isinstance(data, TensorBase) and (data.is_fake or data.device is not CPU):
        return None
    array = data.array if isinstance(data, TensorBase) else data
    return int(array.__array_interface__["data"][0])


def frombuffer(buffer: Any, *, dtype: dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Any:
    """A one-dimensional tensor over the memory of an object with the buffer protocol, such as a bytearray.

    ValueError if count elements from offset on don't fit.
    """
    element = _checked("frombuffer", dtype)
    result = converted_by_modes(wrap(np.frombuffer(buffer, element.numpy, count, offset)))
    if requires_grad:
        result.requires_grad = True
    return result


def _checked(name: str, value: Any) -> dtype:
    try:
        return as_dtype(value)
    except TypeError:
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(value).__name__}") from None


# ------------------------------------------------------------------------------------------ what the data is


def _as_array(data: Any, asked: dtype | None) -> np.ndarray:
    """The data as an array in its own dtype, or in the dtype `asked` for."""
    if isinstance(data, TensorBase):
        return data.array
    if not isinstance(data, (list, tuple, range, *PYTHON_NUMBERS)) and (
        hasattr(data, "__array__") or hasattr(data, "__array_interface__")
    ):
        array = np.asarray(data)
        if array.dtype not in FROM_NUMPY:
            raise TypeError(
                f"tensor: can't convert np.ndarray of type {array.dtype}; supported are"
                f" {', '.join(str(d) for d in FROM_NUMPY)}"
            )
        return array
    if isinstance(data, (str, bytes)):
        raise TypeError(f"tensor(): invalid data type {type(data).__name__!r}; expected numbers")
    found: set[dtype] = set()
    plain = _plain(data, found)
    natural = reduce(promote_types, found) if found else get_default_dtype()
    try:
        array = np.asarray(plain)
    except ValueError as error:
        raise ValueError(f"tensor: expected sequence of equal length at every level: {error}") from None
    return _converted(array, asked or natural)


def _plain(data: Any, found: set[dtype]) -> Any:
    """Nested lists of numbers and arrays; the dtypes of the numbers are added to `found`."""
    if isinstance(data, PYTHON_NUMBERS) and not isinstance(data, np.generic):
        found.add(dtype_of_scalar(data))
        return data
    if isinstance(data, (TensorBase, np.ndarray, np.generic)):
        return _from_array(data, found)
    if isinstance(data, (str, bytes)):
        raise ValueError(f"tensor: too many dimensions: a {type(data).__name__} is no number")
    if not isinstance(data, Sequence):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}; expected numbers, arrays or lists of them")
    kinds = set(map(type, data))
    if kinds <= {bool, int, float}:  # the frequent case, without a look at each number
        found.update(dtype_of_scalar(kind()) for kind in kinds)
        return data
    items = [_plain(item, found) for item in data]
    if len(set(map(_is_nested, items))) > 1:
        raise TypeError("tensor: numbers and sequences are mixed in one list; every item must have the same depth")
    return items


def _is_nested(item: Any) -> bool:
    return isinstance(item, Sequence) or (isinstance(item, np.ndarray) and item.ndim > 0)


def _from_array(data: Any, found: set[dtype]) -> Any:
    array = data.array if isinstance(data, TensorBase) else np.asarray(data)
    if array.dtype not in FROM_NUMPY:
        raise TypeError(f"tensor: can't convert elements of type {array.dtype}; expected numbers")
    found.add(FROM_NUMPY[array.dtype])
    if isinstance(data, TensorBase):
        if array.size != 1:
            raise ValueError(
                f"only one element tensors can be converted to Python scalars: a list holds a tensor of sizes"
                f" {list(data.sizes)}; use torch.stack"
            )
        return array.item()
    return array


def _converted(array: np.ndarray, target: dtype) -> np.ndarray:
    """Numbers in the target dtype. RuntimeError for those that an integer dtype can't hold."""
    if array.dtype == target.numpy:
        return array
    if array.dtype.kind not in "biufc" or (array.dtype.kind == "u" and array.dtype.itemsize == 8):
        if array.dtype.kind in "uO":
            if target.category != INTEGER and all(isinstance(number, (int, float)) for number in array.flat):
                with np.errstate(over="ignore"):
                    return castable(array.astype(np.float64), target.numpy).astype(target.numpy)
            raise ValueError("Overflow when unpacking long long: an integer doesn't fit into 64 bits")
        raise TypeError(f"tensor: can't make a tensor of elements of type {array.dtype}; expected numbers or bools")
    if 0 < target.category < FLOATING and array.size:
        limits = iinfo(target)
        low, high = (limits.min if target.is_signed else -limits.max), limits.max
        if not (np.isfinite(array).all() and array.min() >= low and array.max() <= high):
            raise RuntimeError(f"value cannot be converted to type {target.name} without overflow")
    if array.dtype.kind == "c" and not target.is_complex and target.category:
        raise TypeError(f"tensor: can't convert complex numbers to {target}; take .real first")
    with np.errstate(over="ignore"):
        return castable(array, target.numpy).astype(target.numpy, copy=False)
