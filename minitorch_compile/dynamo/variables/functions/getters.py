"""operator.itemgetter, attrgetter and methodcaller: functions that wait for an object.

>>> import operator
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> second = operator.itemgetter(1)
>>> print(captured(lambda x: operator.methodcaller("sum", 0)(second([1, x])), ones(2)))
x -> (x.sum(0),)
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.rebuilding import Template, call, held_class

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


class GetterVariable(VariableTracker):
    """An instance of one of the three classes. `args` are what it was made with."""

    def __init__(
        self, cls: type, args: list[Value], kwargs: dict[str, Value], source: Source | None = None, real: Any = MISSING
    ) -> None:
        super().__init__(source)
        self.cls = cls
        self.args = args
        self.kwargs = kwargs
        self.real = real

    @classmethod
    def from_outside(cls, output: Output, value: Any, source: Source) -> GetterVariable:
        """A getter whose identity is guarded. What it was made with is what it would be pickled with."""
        made_by, arguments = value.__reduce__()
        kwargs = getattr(made_by, "keywords", {})
        if made_by is not type(value):  # methodcaller with keywords is pickled as a partial
            arguments = (*made_by.args, *arguments)
        return cls(
            type(value),
            [output.wrap_constant(arg, "argument") for arg in arguments],
            {name: output.wrap_constant(arg, name) for name, arg in kwargs.items()},
            source,
            value,
        )

    def python_type(self) -> type:
        return self.cls

    def real_value(self) -> Any:
        return self.real

    def truth(self, tracer: Tracer) -> bool:
        return True

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("identity", id(self))

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if len(args) != 1 or kwargs:
            tracer.raise_error(TypeError, f"{self.cls.__name__} expected 1 argument, got {len(args)}")
        (obj,) = args
        if self.cls is operator.methodcaller:
            name, *rest = self.args
            return tracer.call(tracer.load_attr(obj, tracer.constant(name)), rest, self.kwargs)
        found = [self._got(tracer, obj, wanted) for wanted in self.args]
        return found[0] if len(found) == 1 else tracer.build("tuple", found)

    def _got(self, tracer: Tracer, obj: Value, wanted: Value) -> Value:
        if self.cls is operator.itemgetter:
            return tracer.getitem(obj, wanted)
        for name in tracer.constant(wanted).split("."):
            obj = tracer.load_attr(obj, name)
        return obj

    def reconstruct(self, output: Output) -> Template:
        return call(held_class(self.cls), *self.args, **self.kwargs)


@handles(operator.itemgetter)
def _itemgetter(tracer: Tracer, item: Value, *items: Value) -> Value:
    return GetterVariable(operator.itemgetter, [item, *items], {})


@handles(operator.attrgetter)
def _attrgetter(tracer: Tracer, name: Value, *names: Value) -> Value:
    return GetterVariable(operator.attrgetter, [name, *names], {})


@handles(operator.methodcaller)
def _methodcaller(tracer: Tracer, name: Value, *args: Value, **kwargs: Value) -> Value:
    return GetterVariable(operator.methodcaller, [name, *args], kwargs)
