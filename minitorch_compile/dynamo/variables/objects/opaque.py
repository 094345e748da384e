"""An object that the tracer can't look into: a NumPy array, a file, a lock. It can be passed on and compared by
identity.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> import threading
>>> lock = threading.Lock()
>>> print(generated(lambda x, lock: (x + 1, lock is None, lock), ones(2), lock))
(out_0,) = graph(x)
return (out_0, False, lock)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.objects.class_lookup import look_up

if TYPE_CHECKING:
    from collections.abc import Hashable

    from minitorch_compile.dynamo.variables.tracer import Tracer


class OpaqueVariable(VariableTracker):
    """Whatever has no tracker of its own. Its type is guarded."""

    def __init__(self, real: Any, source: Source) -> None:
        super().__init__(source)
        self.real = real

    def python_type(self) -> type:
        return type(self.real)

    def real_value(self) -> Any:
        return self.real

    def describe(self) -> str:
        cls = type(self.real)
        return f"a {cls.__name__}" if cls.__module__ == "builtins" else f"a {cls.__module__}.{cls.__name__}"

    def hash_key(self, tracer: Tracer) -> Hashable:
        if look_up(type(self.real), "__hash__").owner is not object:  # type: ignore[union-attr]
            return super().hash_key(tracer)
        return ("identity", id(self))

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        """By identity, unless its class says otherwise: a str or int of a subclass equals a plain one."""
        if look_up(type(self.real), "__eq__").owner is not object:  # type: ignore[union-attr]
            self.unsupported(f"the comparison {op}")
        return None

    def getattr(self, tracer: Tracer, name: str) -> Value:
        self.unsupported(f"the attribute '{name}'")
