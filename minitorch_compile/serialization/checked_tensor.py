"""A tensor over a storage, after everything that a file says about it was checked against what there is.

>>> import numpy as np
>>> from minitorch_compile.tensor.numerics.dtype import float64
>>> checked_tensor(Storage(np.arange(6.0)), 1, (2, 2), (3, 1), float64).tolist()
[[1.0, 2.0], [4.0, 5.0]]
>>> checked_tensor(Storage(np.arange(6.0)), 2, (2, 2), (3, 1), float64)
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: a tensor of sizes (2, 2), strides (3, 1) ...
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.serialization.unreadable_file import refuse
from minitorch_compile.tensor import Size, Tensor, device
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import empty_fake, from_parts

LARGEST = (1 << 63) - 1  # what an address can count
MOST_DIMENSIONS = 64  # of PyTorch's tensors, and of NumPy's arrays


def checked_tensor(storage: Storage, offset: Any, sizes: Any, strides: Any, element: dtype) -> Tensor:
    """The tensor. UnreadableFileError for what are no counts, and for sizes that reach outside of the storage."""
    sizes, strides = counts("sizes", sizes), counts("strides", strides)
    (offset,) = counts("offset", (offset,))
    if storage.buffer is None or storage.buffer.dtype != element.numpy:
        raise refuse(f"a tensor of {element} over a storage of another dtype")
    check_layout(sizes, strides, element.itemsize)
    last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if (0 not in sizes and last >= len(storage)) or offset * element.itemsize > LARGEST:
        raise refuse(
            f"a tensor of sizes {sizes}, strides {strides} and offset {offset} reaches outside its storage, which has"
            f" {len(storage)} elements"
        )
    result: Tensor = from_parts(storage, offset, Size(sizes), strides, element, device("cpu"))
    return result


def checked_meta_tensor(sizes: Any, strides: Any, element: dtype) -> Tensor:
    """The same for a tensor without data."""
    sizes, strides = counts("sizes", sizes), counts("strides", strides)
    check_layout(sizes, strides, element.itemsize)
    result: Tensor = empty_fake(sizes, strides, element, device("meta"))
    return result


def counts(what: str, values: Any) -> tuple[int, ...]:
    """The values, if they are numbers from 0 to what an address can count; not even True is one."""
    if not isinstance(values, (tuple, list)) or not all(type(v) is int and 0 <= v <= LARGEST for v in values):
        raise refuse(f"the {what} of a tensor must be whole numbers from 0, but are {shortened(values)}")
    return tuple(values)


def check_layout(sizes: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
    """UnreadableFileError for sizes and strides that no tensor can have, however much memory there were."""
    if len(sizes) != len(strides):
        raise refuse(f"a tensor has {len(sizes)} sizes, but {len(strides)} strides")
    if len(sizes) > MOST_DIMENSIONS:
        raise refuse(f"a tensor has {len(sizes)} dimensions; there are at most {MOST_DIMENSIONS}")
    elements = math.prod(n for n in sizes if n)
    if elements * itemsize > LARGEST or any(s * itemsize > LARGEST for s in strides):
        raise refuse(f"a tensor of sizes {sizes} and strides {strides} has more bytes than an address can count")


def check_differentiable(element: dtype, requires_grad: Any) -> bool:
    """`requires_grad`, if it is True or False, and True only for a dtype that can be differentiated."""
    if type(requires_grad) is not bool:
        raise refuse(f"requires_grad must be True or False, but is {shortened(requires_grad)}")
    if requires_grad and not (element.is_floating_point or element.is_complex):
        raise refuse(f"a tensor of {element} can't require gradients")
    return requires_grad


def shortened(value: Any) -> str:
    """What is shown of a value that may be huge, or take forever to print."""
    if isinstance(value, (tuple, list)) and all(type(v) in (int, float, bool, str) for v in value[:8]):
        shown = [repr(v)[:40] if not isinstance(v, int) or abs(v) < 1 << 64 else "a huge number" for v in value[:8]]
        return f"[{', '.join(shown)}{', ...' if len(value) > 8 else ''}]"
    return f"of type {type(value).__name__}"
