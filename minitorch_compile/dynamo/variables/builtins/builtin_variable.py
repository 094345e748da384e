"""A function that is known by name: its call is a rule of the table, or the method of its first argument.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x, items):
...     list.append(items, x + 1)  # no rule: the method of `items`
...     return x * len(items)  # a rule, see builtin_functions.py
>>> print(captured(f, ones(2), [3]))
x -> (x * 2, x + 1)
"""

from __future__ import annotations

from collections.abc import Hashable
from types import MethodDescriptorType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handler_of
from minitorch_compile.dynamo.variables.containers.user_containers import UserContainerVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.objects.object_methods import OBJECT_METHODS
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


class BuiltinVariable(VariableTracker):
    """A function written in C, or one that has a rule in the table."""

    def __init__(self, function: Any, source: Source | None) -> None:
        super().__init__(source)
        self.function = function

    @property
    def name(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function))

    def describe(self) -> str:
        module = getattr(self.function, "__module__", None)
        return f"the function {self.name}()" if module in (None, "builtins") else f"the function {module}.{self.name}()"

    def python_type(self) -> type:
        return type(self.function)

    def real_value(self) -> Any:
        return self.function

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("value", self.function)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def getattr(self, tracer: Tracer, name: str) -> Value:
        value = tracer.compute(getattr, self.function, name)
        if isinstance(value, (str, type(None))):
            return tracer.output.from_python(value)
        return super().getattr(tracer, name)

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        rule = handler_of(self.function)
        if rule is not None:
            return tracer.checked_call(rule, tracer, *args, **kwargs)
        if self._is_unbound_method() and args:
            return self._call_unbound(tracer, args, kwargs)
        raise Unsupported("unsupported-call", f"{self.describe()} is written in C and unknown to the tracer.")

    def _is_unbound_method(self) -> bool:
        return isinstance(self.function, (MethodDescriptorType, WrapperDescriptorType))

    def _call_unbound(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """list.append(items, x): the method of the first argument, if it is of that very class."""
        owner, name = args[0].realize(), self.function.__name__
        is_object = isinstance(owner, UserObjectVariable)
        if is_object and self.function.__objclass__ is object and name in OBJECT_METHODS:
            return tracer.checked_call(OBJECT_METHODS[name], tracer, owner, *args[1:], **kwargs)
        if isinstance(owner, UserContainerVariable) and getattr(owner.base, name, None) is self.function:
            return owner.inherited(tracer, name, args[1:], kwargs)
        if getattr(owner.python_type(), name, None) is not self.function:
            raise Unsupported("unsupported-call", f"{self.describe()} with {owner.describe()} as first argument.")
        return BuiltinMethodVariable(owner, name).call(tracer, args[1:], kwargs)
