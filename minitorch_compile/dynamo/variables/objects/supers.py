"""super(): attributes found behind a class in the order of resolution.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Base:
...     def scale(self, x):
...         return x * 2
>>> class Derived(Base):
...     def scale(self, x):
...         return super().scale(x) + 1
>>> print(captured(lambda thing, x: thing.scale(x), Derived(), ones(2)))
x -> ((x * 2) + 1,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.user_containers import UserContainerVariable
from minitorch_compile.dynamo.variables.exceptions import ExceptionVariable
from minitorch_compile.dynamo.variables.functions.functions import MethodVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import Found, bind_class_attribute, look_up, wrap_found
from minitorch_compile.dynamo.variables.objects.classes import ClassVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.objects.object_methods import OBJECT_METHODS
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable, is_plain_access

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


class SuperVariable(VariableTracker):
    """super(after, instance); in a class method, `instance` is the class."""

    def __init__(self, after: type, instance: VariableTracker) -> None:
        super().__init__()
        self.after = after
        self.instance = instance

    def python_type(self) -> type:
        return super

    @property
    def cls(self) -> type:
        return self.instance.cls if isinstance(self.instance, ClassVariable) else self.instance.python_type()

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if self.after not in self.cls.__mro__:
            self.unsupported("super() in a metaclass", "metaclass-or-descriptor")
        found = look_up(self.cls, name, self.after)
        if found is None:
            tracer.raise_error(AttributeError, f"'super' object has no attribute '{name}'")
        raw = found.value
        reachable = Found(found.owner, found.owner, name, raw)  # read from where it was found, not from the subclass
        if isinstance(raw, staticmethod) and name == "__new__" or raw is object.__new__:
            return self._unbound(tracer, reachable)
        if isinstance(raw, classmethod):
            function = wrap_found(tracer, reachable, raw.__func__, "__func__")
            return MethodVariable(function, tracer.output.wrap_constant(self.cls, self.cls.__name__))
        is_object = isinstance(self.instance, UserObjectVariable)
        if is_object and name in OBJECT_METHODS and (found.owner is object or is_plain_access(found)):
            return ObjectMethodVariable(self.instance, name)
        if name == "__init_subclass__" and found.owner is object:
            return ObjectMethodVariable(self.instance, "__init__")
        if isinstance(self.instance, ExceptionVariable) and found.owner.__module__ == "builtins":
            return BuiltinMethodVariable(self.instance, name, raw)
        if isinstance(self.instance, UserContainerVariable) and found.owner in self.instance.base.__mro__[:-1]:
            return InheritedMethodVariable(self.instance, name, raw)
        if isinstance(self.instance, ClassVariable):
            return self._unbound(tracer, reachable)
        return bind_class_attribute(tracer, self.instance, reachable)

    @staticmethod
    def _unbound(tracer: Tracer, found: Found) -> Value:
        if isinstance(found.value, staticmethod):
            return wrap_found(tracer, found, found.value.__func__, "__func__")
        return wrap_found(tracer, found, found.value)

    def truth(self, tracer: Tracer) -> bool:
        return True


class InheritedMethodVariable(BuiltinMethodVariable):
    """A method of the built-in class of a container, past those that override it."""

    owner: UserContainerVariable

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        self.check_arguments(args, kwargs)
        return self.owner.inherited(tracer, self.name, args, kwargs)


class ObjectMethodVariable(VariableTracker):
    """A method of `object` itself, bound: super().__setattr__."""

    def __init__(self, instance: VariableTracker, name: str) -> None:
        super().__init__()
        self.instance = instance
        self.name = name

    def python_type(self) -> type:
        return type(object().__str__)

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if self.name == "__init__":
            return ConstantVariable(None)
        return tracer.checked_call(OBJECT_METHODS[self.name], tracer, self.instance, *args, **kwargs)
