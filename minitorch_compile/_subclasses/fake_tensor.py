"""`torch._subclasses.fake_tensor`: the mode, the class that fake tensors count as, and the errors that they raise.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, 3)
>>> isinstance(x, FakeTensor), isinstance(FakeTensorMode().from_tensor(x), FakeTensor)
(False, True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.dynamo.variables.base import MISSING, Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tracer import Tracer
from minitorch_compile.tensor.memory.device import META
from minitorch_compile.tensor.modes.fake_tensor_mode import FakeTensorMode
from minitorch_compile.tensor.tensor_base import FakeDataError, TensorBase
from minitorch_compile.utils._python_dispatch import is_traceable_wrapper_subclass

# PyTorch has an error for a number that is asked for, and one for sizes that depend on numbers.
DataDependentOutputException = FakeDataError
DynamicOutputShapeException = FakeDataError


class _TensorsWithoutData(type):
    """Says which tensors are fake: being so is a matter of the storage here, not of the class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and instance.is_fake and instance.device is not META


@handles(_TensorsWithoutData.__instancecheck__)
def _is_fake(tracer: Tracer, cls: Value, instance: Value) -> Value:
    """While tracing: what was given to the compiled function decides; what it computes has data when it runs."""
    tracked = instance.realize()
    given = tracked.real_value() if isinstance(tracked, TensorVariable) else None
    return ConstantVariable(given is not MISSING and isinstance(given, FakeTensor))


class FakeTensor(metaclass=_TensorsWithoutData):
    """For isinstance(x, FakeTensor): whether x stands for a value without having it."""


def is_fake(x: Any) -> bool:
    """Whether x, or the tensors that it wraps, stand for values without having them."""
    if is_traceable_wrapper_subclass(x):
        return all(is_fake(getattr(x, name)) for name in x.__tensor_flatten__()[0])
    return isinstance(x, FakeTensor)


__all__ = ["DataDependentOutputException", "DynamicOutputShapeException", "FakeTensor", "FakeTensorMode", "is_fake"]
