"""Members of this package that a trace took as they were: guarded, since a program may put its own in their place.

`functional.relu = mine` or `Linear.forward = mine` is rare, and must be noticed all the same. The guards ask the
module's or the class's own dict; they share one structure (`structure.py`), so all of them together cost a fraction of
a microsecond a call.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.nn import functional
>>> from minitorch_compile.tensor import ones
>>> compiled = optimize(lambda x: functional.relu(x), eager)
>>> _ = compiled(ones(2))
>>> print(*(guard for guard in region_of(compiled).caches[0].entries[0].guards if "relu" in str(guard)), sep="\\n")
ID_MATCH         functional.relu is relu
"""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.class_guards import class_member, is_immutable
from minitorch_compile.dynamo.guards.source import InstanceAttrSource, InstanceDictSource

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.variables.class_lookup import Found


def guard_member(output: OutputGraph, owner: ModuleType | type, name: str, value: object) -> None:
    """`value` is what the owner's dict has under this name; or, if it has nothing, that it has nothing."""
    holder = output.constant_source(owner, owner.__name__.rpartition(".")[2])
    attributes = InstanceDictSource(holder)
    if name in vars(owner):
        source = InstanceAttrSource(attributes, name)
        output.guards.add(guards.identity(source, value, output.names, _hint(value, name)))
    else:
        output.guards.add(guards.attribute_absent(holder, name))


def _hint(value: object, name: str) -> str:
    return value.__name__ if isinstance(value, (FunctionType, type)) else name


def guard_global(output: OutputGraph, module_globals: dict[str, Any], name: str) -> None:
    """A global of this package's own code."""
    module = sys.modules.get(module_globals.get("__name__", ""))
    if module is not None and vars(module) is module_globals:
        guard_member(output, module, name, module_globals[name])


def guard_found(output: OutputGraph, found: Found) -> None:
    """An attribute of a class."""
    if is_immutable(found.owner):
        return
    source = class_member(output, found.owner, found.name)
    output.guards.add(guards.identity(source, found.value, output.names, _hint(found.value, found.name)))
