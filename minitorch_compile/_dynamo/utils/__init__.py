"""`torch._dynamo.utils`: what programs look at a compilation with, under PyTorch's names.

>>> import minitorch_compile as torch
>>> same((torch.ones(2), 3), (torch.ones(2), 3)), same(torch.ones(2), torch.zeros(2))
(True, False)
"""

from minitorch_compile.control import is_compiling
from minitorch_compile.dynamo.cache.counters import counters
from minitorch_compile.dynamo.testing import same

__all__ = ["counters", "is_compiling", "same"]
