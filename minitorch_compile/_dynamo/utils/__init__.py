"""`torch._dynamo.utils`: what programs look at a compilation with, under PyTorch's names.

>>> import minitorch_compile as torch
>>> same((torch.ones(2), 3), (torch.ones(2), 3)), same(torch.ones(2), torch.zeros(2))
(True, False)
"""

from typing import Any

from minitorch_compile.control import is_compiling
from minitorch_compile.dynamo.cache.counters import counters
from minitorch_compile.dynamo.testing import same
from minitorch_compile.tensor.memory.device import device

__all__ = ["counters", "is_compile_supported", "is_compiling", "same"]


def is_compile_supported(device_type: Any) -> bool:
    """Whether `compile` makes kernels for this type of device: for the CPU."""
    return device(device_type).type == "cpu"
