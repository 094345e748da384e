"""What the arguments of `to(...)` say, for libraries that ask before they move something.

>>> from minitorch_compile.tensor import float16
>>> _parse_to("cpu", float16, non_blocking=True)
(device(type='cpu'), torch.float16, True, None)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.memory_format import memory_format as MemoryFormat
from minitorch_compile.tensor.numerics.dtype import dtype as Dtype
from minitorch_compile.tensor.tensor_base import TensorBase

Meant = tuple[Device | None, Dtype | None, bool, MemoryFormat | None]


def _parse_to(*args: Any, **kwargs: Any) -> Meant:
    """(device, dtype, non_blocking, memory_format) of a call `to(device, dtype, ...)`, `to(dtype, ...)` or
    `to(tensor, ...)`; None for what it doesn't say. TypeError for another call."""
    device, element, non_blocking = kwargs.get("device"), kwargs.get("dtype"), bool(kwargs.get("non_blocking", False))
    rest = list(args)
    if rest and isinstance(rest[0], TensorBase):
        other = rest.pop(0)
        device, element = other.device, other.dtype
    elif rest and isinstance(rest[0], Dtype):
        element = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], Dtype)):
            element = rest.pop(0)
    if rest and isinstance(rest[0], bool):
        non_blocking = rest.pop(0)
    if rest and not (len(rest) == 1 and isinstance(rest[0], bool)):  # what may be left is `copy`
        raise TypeError(f"to() takes a device and a dtype, a dtype, or a tensor, and non_blocking; got {args!r}")
    return None if device is None else Device(device), element, non_blocking, kwargs.get("memory_format")
