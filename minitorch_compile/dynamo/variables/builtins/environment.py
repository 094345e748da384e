"""os.environ: what a program asks of it is guarded; it can't be changed, or walked through, while tracing.

>>> import os
>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> compiled = optimize(lambda x: x * int(os.environ.get("HOW_OFTEN", "2")), eager)
>>> compiled(ones(1))
tensor([2.])
>>> print(*(guard for guard in region_of(compiled).caches[0].entries[0].guards if guard.kind == "ENVIRONMENT"))
ENVIRONMENT      environ.get('HOW_OFTEN') == None
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.guards.value_guards import escaped
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

Environ = type(os.environ)
NONE = ConstantVariable(None)


class EnvironVariable(VariableTracker):
    """os.environ, or another of its class."""

    def __init__(self, environ: Any, source: Source) -> None:
        super().__init__(source)
        self.environ = environ

    def python_type(self) -> type:
        return Environ

    def real_value(self) -> Any:
        return self.environ

    def _asked(self, tracer: Tracer, name: Value) -> str | None:
        """The variable's value, guarded; None if there is none."""
        key = tracer.constant(name)
        value: str | None = tracer.compute(self.environ.get, key)
        assert self.source is not None
        check = f"{{0}}.get({escaped(repr(key))}) == {escaped(repr(value))}"
        tracer.output.guards.add(guards.Guard(self.source, "ENVIRONMENT", check, repr(value)))
        return value

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "get":
            return BuiltinMethodVariable(self, name)
        self.unsupported(f"the attribute '{name}'", "outside-state")

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "get":
            return tracer.checked_call(self._get, tracer, *args, **kwargs)
        if name == "__getitem__":
            value = self._asked(tracer, args[0])
            if value is None:
                tracer.raise_error(KeyError, tracer.constant(args[0]))
            return ConstantVariable(value)
        self.unsupported(f"the method {name}()", "outside-state")

    def _get(self, tracer: Tracer, key: Value, default: Value = NONE) -> Value:
        value = self._asked(tracer, key)
        return default if value is None else ConstantVariable(value)

    def contains(self, tracer: Tracer, item: Value) -> Value:
        return ConstantVariable(self._asked(tracer, item) is not None)


@handles(os.getenv)
def _getenv(tracer: Tracer, key: Value, default: Value = NONE) -> Value:
    environ = tracer.output.wrap_constant(os.environ, "environ").realize()
    return environ.call_method(tracer, "get", [key, default], {})
