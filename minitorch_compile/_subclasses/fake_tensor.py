"""`torch._subclasses.fake_tensor`: the mode, the class that fake tensors count as, and the errors that they raise.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, 3)
>>> isinstance(x, FakeTensor), isinstance(FakeTensorMode().from_tensor(x), FakeTensor)
(False, True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.memory.device import META
from minitorch_compile.tensor.modes.fake_tensor_mode import FakeTensorMode
from minitorch_compile.tensor.tensor_base import FakeDataError, TensorBase

# PyTorch has an error for a number that is asked for, and one for sizes that depend on numbers.
DataDependentOutputException = FakeDataError
DynamicOutputShapeException = FakeDataError


class _TensorsWithoutData(type):
    """Says which tensors are fake: being so is a matter of the storage here, not of the class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and instance.is_fake and instance.device is not META


class FakeTensor(metaclass=_TensorsWithoutData):
    """For isinstance(x, FakeTensor): whether x stands for a value without having it."""


__all__ = ["DataDependentOutputException", "DynamicOutputShapeException", "FakeTensor", "FakeTensorMode"]
