"""What trackers of functions that are known by their identity have in common; each says itself what a call means.

>>> known = FixedFunctionVariable(len)
>>> known.real_value() is len, known.python_type().__name__
(True, 'builtin_function_or_method')
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value, VariableTracker

if TYPE_CHECKING:
    from minitorch_compile.dynamo.guards.source import Source
    from minitorch_compile.dynamo.variables.tracer import Tracer

NAMES = ("__name__", "__qualname__", "__module__", "__doc__")


class FixedFunctionVariable(VariableTracker):
    """One function, whose identity is guarded or sure."""

    def __init__(self, function: Any, source: Source | None = None) -> None:
        super().__init__(source)
        self.function = function

    def describe(self) -> str:
        return f"the function {getattr(self.function, '__qualname__', self.function)}()"

    def python_type(self) -> type:
        return type(self.function)

    def real_value(self) -> Any:
        return self.function

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("value", self.function)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name in NAMES:
            return tracer.output.from_python(getattr(self.function, name))
        return super().getattr(tracer, name)
