"""The methods that every object inherits from `object`, reached through `super()` or by name.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> class Noted:
...     def __setattr__(self, name, value):
...         object.__setattr__(self, name, value + 1)
>>> def f(thing):
...     thing.value = 1
>>> print(generated(f, Noted()))
object.__setattr__(thing, 'value', 2)
return None
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable
    from minitorch_compile.dynamo.variables.tracer import Tracer


def _init(tracer: Tracer, self: UserObjectVariable) -> Value:
    return ConstantVariable(None)


def _setattr(tracer: Tracer, self: UserObjectVariable, name: Value, value: Value) -> Value:
    self.generic_setattr(tracer, tracer.constant(name), value)
    return ConstantVariable(None)


def _delattr(tracer: Tracer, self: UserObjectVariable, name: Value) -> Value:
    self.generic_delattr(tracer, tracer.constant(name))
    return ConstantVariable(None)


def _getattribute(tracer: Tracer, self: UserObjectVariable, name: Value) -> Value:
    return self.generic_getattr(tracer, tracer.constant(name))


def _eq(tracer: Tracer, self: UserObjectVariable, other: Value) -> Value:
    return ConstantVariable(True if tracer.identical(self, other) else NotImplemented)


def _format(tracer: Tracer, self: UserObjectVariable, spec: Value) -> Value:
    return ConstantVariable(self.format(tracer, tracer.constant(spec)))


OBJECT_METHODS: dict[str, Callable[..., Value]] = {
    "__init__": _init,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getattribute__": _getattribute,
    "__eq__": _eq,
    "__format__": _format,
}
