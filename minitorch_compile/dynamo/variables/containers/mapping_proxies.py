"""Read-only views of dicts, types.MappingProxyType: they answer as the dict does, and refuse to change it.

>>> from types import MappingProxyType
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x, proxy: x * proxy["by"] + len(MappingProxyType({})), ones(2), MappingProxyType({"by": 3})))
x -> ((x * 3) + 0,)
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.guards.source import ChainedSource
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.containers.dicts import DictVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template, call

if TYPE_CHECKING:
    from minitorch_compile.dynamo.guards.source import Source
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

READING = frozenset(("get", "keys", "values", "items", "copy", "__getitem__"))


@dataclass(frozen=True)
class CopiedDictSource(ChainedSource):
    """dict(origin): what a proxy of a dict shows, since the dict itself is not to be had."""

    def read(self, base: str) -> str:
        return f"dict({base})"


class MappingProxyVariable(VariableTracker):
    """A proxy of `mapping`."""

    def __init__(self, mapping: VariableTracker, source: Source | None = None) -> None:
        super().__init__(source)
        self.mapping = mapping

    def python_type(self) -> type:
        return MappingProxyType

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name in READING:
            return BuiltinMethodVariable(self, name)
        return super().getattr(tracer, name)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name not in READING:
            return super().call_method(tracer, name, args, kwargs)
        return self.mapping.call_method(tracer, name, args, kwargs)

    def truth(self, tracer: Tracer) -> bool:
        return self.mapping.truth(tracer)

    def length(self, tracer: Tracer) -> int:
        return self.mapping.length(tracer)

    def contains(self, tracer: Tracer, item: Value) -> Value:
        return self.mapping.contains(tracer, item)

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        return self.mapping.iterate(tracer)

    def reconstruct(self, output: Output) -> Template:
        return call(Held(MappingProxyType, "MappingProxyType"), self.mapping)


@handles(MappingProxyType)
def _mapping_proxy(tracer: Tracer, mapping: Value) -> Value:
    tracked = mapping.realize()
    if not isinstance(tracked, (DictVariable, MappingProxyVariable)):
        tracked.unsupported("a read-only view", "unsupported-call")
    return MappingProxyVariable(tracked)
