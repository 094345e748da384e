"""The table of functions that the tracer knows: what a call of each means, as a decorated rule.

    @handles(len)
    def _(tracer, value):
        return ConstantVariable(tracer.length(value))

The rules are in `builtin_functions.py`, `builtin_iteration.py`, `builtin_numbers.py` and `library_functions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import MethodDescriptorType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

Rule = Callable[..., Value]
_rules: dict[int, tuple[Any, Rule]] = {}  # by identity: some of the functions can't be hashed


def handles(*functions: Any) -> Callable[[Rule], Rule]:
    """Registers the rule for calls of these functions or classes: (tracer, *args, **kwargs) -> value."""

    def register(rule: Rule) -> Rule:
        for function in functions:
            _rules[id(function)] = function, rule
        return rule

    return register


def handler_of(function: Any) -> Rule | None:
    """The rule for a function, None if there is none."""
    entry = _rules.get(id(function))
    return None if entry is None else entry[1]


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
        from minitorch_compile.dynamo.variables.containers.user_containers import UserContainerVariable
        from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
        from minitorch_compile.dynamo.variables.objects.object_methods import OBJECT_METHODS
        from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable

        owner, name = args[0].realize(), self.function.__name__
        is_object = isinstance(owner, UserObjectVariable)
        if is_object and self.function.__objclass__ is object and name in OBJECT_METHODS:
            return tracer.checked_call(OBJECT_METHODS[name], tracer, owner, *args[1:], **kwargs)
        if isinstance(owner, UserContainerVariable) and getattr(owner.base, name, None) is self.function:
            return owner.inherited(tracer, name, args[1:], kwargs)
        if getattr(owner.python_type(), name, None) is not self.function:
            raise Unsupported("unsupported-call", f"{self.describe()} with {owner.describe()} as first argument.")
        return BuiltinMethodVariable(owner, name).call(tracer, args[1:], kwargs)
