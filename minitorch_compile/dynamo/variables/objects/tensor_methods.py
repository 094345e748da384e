"""Methods of tensors as functions: `torch.Tensor.add`, to be called with the tensor.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import Tensor, ones
>>> add = Tensor.add
>>> print(captured(lambda x: add(Tensor.sin(x), 1), ones(2)))
x -> (x.sin().add(1),)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.functions.fixed_functions import FixedFunctionVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class TensorMethodVariable(FixedFunctionVariable):
    """A method read from the class of tensors."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        super().__init__(function)
        self.name = name

    def describe(self) -> str:
        return f"the method {self.name}() of tensors"

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if not args or not issubclass(args[0].realize().python_type(), TensorBase):
            self.unsupported("a call without a tensor", "unsupported-call")
        return args[0].realize().call_method(tracer, self.name, args[1:], kwargs)

    def reconstruct(self, output: Output) -> Template:
        return Template(Held(self.function, self.name))


def tensor_method(function: FunctionType) -> TensorMethodVariable | None:
    """The tracker of a function that is a method of tensors, as this package defines them; None for others."""
    name = _names().get(function)
    return None if name is None else TensorMethodVariable(function, name)


@functools.cache
def _names() -> dict[FunctionType, str]:
    classes = [cls for cls in TensorBase.concrete.__mro__ if cls is not object]
    return {value: name for cls in classes for name, value in vars(cls).items() if isinstance(value, FunctionType)}
