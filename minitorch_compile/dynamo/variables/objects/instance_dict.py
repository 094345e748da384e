"""An object's `__dict__`: its attributes, seen as a dictionary.

>>> from minitorch_compile.dynamo.testing import generated
>>> class Box: ...
>>> def f(box):
...     box.__dict__["a"] = 1
...     return "a" in vars(box), box.a
>>> print(generated(f, Box()))
box.a = 1
return (True, 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
from minitorch_compile.dynamo.variables.rebuilding import Template

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class InstanceDictVariable(VariableTracker):
    """object.__dict__: a view on the attributes of the instance."""

    def __init__(self, owner: Any) -> None:
        super().__init__()
        self.owner = owner

    def is_same(self, other: VariableTracker) -> bool:
        return isinstance(other, InstanceDictVariable) and other.owner is self.owner

    def python_type(self) -> type:
        return dict

    def contains(self, tracer: Tracer, item: Value) -> Value:
        return ConstantVariable(self._get(tracer, item) is not None)

    def _get(self, tracer: Tracer, key: Value) -> Value | None:
        name = tracer.constant(key)
        return self.owner.instance_attribute(tracer, name) if isinstance(name, str) else None

    def as_dict(self, tracer: Tracer) -> VariableTracker:
        """A copy of all attributes."""
        attributes = {**self.owner.base_attributes(tracer), **tracer.side_effects.attributes(self.owner)}
        return tracer.build_map([ConstantVariable(name) for name in attributes], list(attributes.values()))

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        return self.as_dict(tracer).iterate(tracer)

    def length(self, tracer: Tracer) -> int:
        return self.as_dict(tracer).length(tracer)

    def truth(self, tracer: Tracer) -> bool:
        return self.as_dict(tracer).truth(tracer)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name in ("__getitem__", "get") and args:
            value = self._get(tracer, args[0])
            if value is not None:
                return value
            if name == "__getitem__":
                tracer.raise_error(KeyError, args[0])
            return args[1] if len(args) > 1 else ConstantVariable(None)
        if name == "__setitem__":
            tracer.side_effects.store_attribute(self.owner, tracer.constant(args[0]), args[1])
            return ConstantVariable(None)
        if name in ("__delitem__", "pop"):
            return self._pop(tracer, name, args)
        if name == "update" and len(args) <= 1:
            named = [(ConstantVariable(key), value) for key, value in kwargs.items()]
            for key, value in [*(tracer.mapping_items(args[0]) if args else []), *named]:
                tracer.side_effects.store_attribute(self.owner, tracer.constant(key), value)
            return ConstantVariable(None)
        return self.as_dict(tracer).call_method(tracer, name, args, kwargs)

    def _pop(self, tracer: Tracer, name: str, args: list[Value]) -> Value:
        value = self._get(tracer, args[0])
        if value is not None:
            tracer.side_effects.delete_attribute(self.owner, tracer.constant(args[0]))
            return value
        if name == "pop" and len(args) > 1:
            return args[1]
        tracer.raise_error(KeyError, args[0])

    def reconstruct(self, output: Output) -> Template:
        return Template(self.owner, ".__dict__")
