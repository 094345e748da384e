"""A method of a built-in class bound to its object: `items.append`, `text.split`, `x.sum`.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     add = [].append
...     shift = x.add
...     return shift(1), add.__name__
>>> print(captured(f, ones(2)))
x -> (x.add(1),)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Hashable
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import look_up
from minitorch_compile.dynamo.variables.rebuilding import Held, Template, call

if TYPE_CHECKING:
    from minitorch_compile.dynamo.guards.source import Source
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

BOUND_TYPES: dict[type, type] = {FunctionType: MethodType, WrapperDescriptorType: MethodWrapperType}


@functools.cache
def fits(cls: type, name: str, count: int, keywords: tuple[str, ...]) -> bool:
    """Whether a built-in method can be called so, as far as its signature is known.

    >>> fits(list, "pop", 1, ()), fits(list, "pop", 2, ()), fits(list, "sort", 0, ("key",))
    (True, False, True)
    """
    method = getattr(cls, name, None)
    if not isinstance(method, (MethodDescriptorType, WrapperDescriptorType)):
        return True
    try:
        signature = inspect.signature(method)
    except ValueError:  # many have none
        return True
    try:
        signature.bind(None, *[None] * count, **dict.fromkeys(keywords))
    except TypeError:
        return False
    return True


class BuiltinMethodVariable(VariableTracker):
    """`owner.name`, to be called: the owner knows its methods. `overridden`: the method itself, where the owner's class
    has another of that name and this one was found by super()."""

    def __init__(self, owner: VariableTracker, name: str, overridden: Any = None, source: Source | None = None) -> None:
        super().__init__(source)
        self.owner = owner
        self.name = name
        self.overridden = overridden

    def describe(self) -> str:
        return f"the method {self.name}() of {self.owner.describe()}"

    def python_type(self) -> type:
        """A method of Python's, as those of our tensors are, a slot such as `__len__`, or a function in C."""
        if self.owner.is_constant():
            return type(getattr(self.owner.as_constant(), self.name))
        found = None if self.overridden is not None else look_up(self.owner.python_type(), self.name)
        raw = self.overridden if found is None else found.value
        return BOUND_TYPES.get(type(raw), BuiltinMethodType)

    @property
    def function(self) -> Any:
        """The class's own function behind it, which takes the object first; None for what is not one in C."""
        found = vars(self.owner.python_type()).get(self.name)
        known = self.source is None and self.overridden is None and isinstance(found, MethodDescriptorType)
        return found if known else None

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        self.check_arguments(args, kwargs)
        try:
            return self.owner.call_method(tracer, self.name, args, kwargs)
        except ObservedException as error:
            if isinstance(self.owner, ConstantVariable) or not issubclass(error.value.python_type(), TypeError):
                raise
            # What is wrong is told best by the real call.
            raise Unsupported("wrong-arguments", f"{self.describe()} raises {error.value.describe()}.") from error

    def check_arguments(self, args: list[Value], kwargs: dict[str, Value]) -> None:
        """What is wrong with the arguments is told best by the real call."""
        cls = self.owner.python_type()
        if not fits(cls, self.name, len(args), tuple(kwargs)):
            raise Unsupported("wrong-arguments", f"{cls.__name__}.{self.name}() does not take these arguments.")

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "__self__":
            return self.owner
        if name == "__name__":
            return tracer.output.from_python(self.name)
        if name in ("__qualname__", "__doc__") and self.owner.is_constant():
            return tracer.output.from_python(getattr(getattr(self.owner.as_constant(), self.name), name))
        if self.python_type() is MethodType and look_up(MethodType, name) is None:
            return self._function_attribute(tracer, name)
        return super().getattr(tracer, name)

    def _function_attribute(self, tracer: Tracer, name: str) -> Value:
        """A method asks its function for what it does not have itself."""
        if hasattr(getattr(self.owner.python_type(), self.name), name):
            self.unsupported(f"the attribute '{name}'")
        tracer.raise_error(AttributeError, f"'function' object has no attribute '{name}'")

    def truth(self, tracer: Tracer) -> bool:
        return True

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("method", self.name, self.owner.hash_key(tracer))

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op not in ("==", "!=") or not isinstance(other, BuiltinMethodVariable):
            return None
        same = other.owner is self.owner and other.name == self.name
        return tracer.output.from_python(same == (op == "=="))

    def reconstruct(self, output: Output) -> Template:
        if self.overridden is not None:
            return call(Template(Held(self.overridden, self.name), ".__get__"), self.owner)
        owner = Template("(", self.owner, ")") if self.owner.is_constant() else self.owner
        return Template(owner, f".{self.name}")
