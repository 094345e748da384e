"""What an object from outside has in its own `__dict__`: instances, functions, operations, partials, modules alike.

What is there is read again and guarded when the program looks at it; what is not there is guarded at once.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> def count(x):
...     count.calls = getattr(count, "calls", 0) + 1
...     return x + count.calls
>>> compiled = optimize(count, eager)
>>> [compiled(ones(1)).item() for _ in range(3)]
[2.0, 3.0, 4.0]
>>> print(*(guard for guard in region_of(compiled).caches[0].entries[-1].guards if "calls" in guard.code), sep="\\n")
TYPE_MATCH       type(G['count'].calls) is int
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards import content_guards
from minitorch_compile.dynamo.guards.source import (
    AttrSource,
    InstanceAttrSource,
    InstanceDictSource,
    PastClassDictSource,
    Source,
)
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.objects.class_lookup import look_up

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


def instance_dict(instance: Any) -> dict[str, Any] | None:
    """The instance's own attributes, past any `__getattribute__` of its class; None if it has no dictionary."""
    try:
        return object.__getattribute__(instance, "__dict__")
    except AttributeError:
        return None


def attributes_source(tracer: Tracer, owner: VariableTracker) -> InstanceDictSource:
    """Where generated code reads the owner's `__dict__`: past a `__getattribute__` that its class has in Python."""
    assert owner.source is not None
    found = look_up(owner.python_type(), "__getattribute__")
    if found is None or not isinstance(found.value, FunctionType):
        return InstanceDictSource(owner.source)
    reader = tracer.output.names.install(object.__getattribute__, "read_past_class")
    return PastClassDictSource(owner.source, reader)


def own_attribute(tracer: Tracer, owner: VariableTracker, name: str, source: Source | None = None) -> Value | None:
    """What the owner's `__dict__` has under a name; None, guarded, if it has nothing. `source`: where to read it."""
    stored = tracer.side_effects.attribute(owner, name)
    if stored is not None:
        return stored
    real = owner.real_value()
    if real is MISSING or owner.source is None or tracer.side_effects.is_deleted(owner, name):
        return None
    attributes = instance_dict(real)
    if attributes is not None and name in attributes:
        source = source or AttrSource(owner.source, name)
        tracer.output.guards.must_read(source)
        return tracer.output.wrap(attributes[name], source)
    if attributes is not None:
        where = attributes_source(tracer, owner)
        tracer.output.guards.add(content_guards.dict_contains(where, repr(name), False, "ATTRIBUTE_ABSENT"))
    return None


def own_attributes(tracer: Tracer, owner: VariableTracker) -> dict[str, Source]:
    """The attributes from before the call that are still there, in order, and where to read them; guards their
    names."""
    real = owner.real_value()
    if real is MISSING or owner.source is None:
        return {}
    names = list(instance_dict(real) or {})
    attributes = attributes_source(tracer, owner)
    tracer.output.guards.add(content_guards.attribute_names("DICT_KEYS", attributes, names))
    present = [name for name in names if not tracer.side_effects.was_deleted(owner, name)]
    if isinstance(attributes, PastClassDictSource):
        return {name: InstanceAttrSource(attributes, name) for name in present}
    return {name: AttrSource(owner.source, name) for name in present}
