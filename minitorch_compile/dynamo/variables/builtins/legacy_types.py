"""PyTorch's first constructors, and what asks by their names; the graph has what they mean today.

These are `torch.FloatTensor([1, 2])`, `torch.Tensor(2, 3)`, `x.new(2, 3)`, `isinstance(x, torch.FloatTensor)`,
`x.type(torch.LongTensor)`.

>>> from minitorch_compile import FloatTensor, LongTensor
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: x + FloatTensor([1, 2]) if isinstance(x, FloatTensor) else x, ones(2)))
x -> (x + tensor([1, 2], dtype=torch.float32),)
>>> print(captured(lambda x: x + x.new(2, 2).type(LongTensor), ones(2)))
x -> (x + zeros((2, 2), dtype=torch.float32).type(torch.int64),)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.builtins.library_functions import make_tensor
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.sequences import SizeVariable, TupleVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tensors.tensor_members import METHODS
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.tensor_class.legacy_types import LegacyTensorType

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer
    from minitorch_compile.tensor.numerics.dtype import dtype as Dtype

OF_DEFAULT_DTYPE = LegacyTensorType(None)  # torch.Tensor(...); the default dtype is guarded in every graph


class LegacyTypeVariable(VariableTracker):
    """torch.FloatTensor and its kin."""

    def __init__(self, legacy: LegacyTensorType, source: Source) -> None:
        super().__init__(source)
        self.legacy = legacy

    def python_type(self) -> type:
        return LegacyTensorType

    def real_value(self) -> Any:
        return self.legacy

    def truth(self, tracer: Tracer) -> bool:
        return True

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "dtype":
            return ConstantVariable(self.legacy.dtype)
        return super().getattr(tracer, name)

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if self.legacy.device_type != "cpu":
            kwargs = {"device": ConstantVariable(self.legacy.device_type)} | kwargs
        return tracer.checked_call(_constructed, tracer, self.legacy.dtype, *args, **kwargs)

    def reconstruct(self, output: Output) -> Template:
        return Template(Held(self.legacy, str(self.legacy.dtype)))


def _constructed(tracer: Tracer, dtype: Dtype, *args: Value, device: Value | None = None) -> Value:
    """What LegacyTensorType.__call__ does: sizes, one sequence of values, or a tensor."""
    named = {"dtype": ConstantVariable(dtype)} | ({} if device is None else {"device": device})
    tracked = [arg.realize() for arg in args]
    if all(issubclass(arg.python_type(), int) and arg.python_type() is not bool for arg in tracked):
        sizes = TupleVariable(list(args) if args else [ConstantVariable(0)])
        return tracer.output.call("call_function", ops.zeros, [sizes], named)
    data = tracked[0]
    if len(args) != 1:
        raise Unsupported("wrong-arguments", "a legacy constructor takes sizes, or one sequence of values.")
    if isinstance(data, SizeVariable):
        return tracer.output.call("call_function", ops.zeros, [data], named)
    if not isinstance(data, TensorVariable):
        return make_tensor(tracer, data, **named)
    if data.fake.dtype is not dtype:
        raise Unsupported("wrong-arguments", f"a legacy constructor of {dtype} with a tensor of {data.fake.dtype}.")
    return data.call_method(tracer, "detach", [], {})


@handles(Tensor)
def _tensor_class(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
    return tracer.checked_call(_constructed, tracer, OF_DEFAULT_DTYPE.dtype, *args, **kwargs)


@handles(LegacyTensorType.__instancecheck__)
def _is_of_type(tracer: Tracer, legacy: Value, instance: Value) -> Value:
    tracked, wanted = instance.realize(), legacy.realize()
    assert isinstance(wanted, LegacyTypeVariable)
    return ConstantVariable(isinstance(tracked, TensorVariable) and isinstance(tracked.fake, wanted.legacy))  # type: ignore[arg-type]


def _new(tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return tracer.checked_call(_constructed, tracer, tensor.fake.dtype, *args, **kwargs)


def _type(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    wanted = args[0].realize() if args else None
    if not isinstance(wanted, LegacyTypeVariable) or wanted.legacy.device_type != tensor.fake.device.type:
        return None
    return tracer.output.call("call_method", name, [tensor, ConstantVariable(wanted.legacy.dtype), *args[1:]], kwargs)


METHODS.update({"new": _new, "type": _type})
