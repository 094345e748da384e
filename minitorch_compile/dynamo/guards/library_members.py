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
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from minitorch_compile.dynamo.guards import content_guards, guards
from minitorch_compile.dynamo.guards.class_guards import class_member, constant, is_immutable
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import InstanceAttrSource, InstanceDictSource


def same_member(names: Namespace, owner: ModuleType | type, name: str, value: object) -> Guard:
    """`value` is what the owner's dict has under this name; or, if it has nothing, that it has nothing."""
    holder = constant(names, owner, owner.__name__.rpartition(".")[2])
    if name not in vars(owner):
        return content_guards.attribute_absent(holder, name)
    return guards.identity(InstanceAttrSource(InstanceDictSource(holder), name), value, names, _hint(value, name))


def _hint(value: object, name: str) -> str:
    return value.__name__ if isinstance(value, (FunctionType, type)) else name


def same_global(names: Namespace, module_globals: dict[str, Any], name: str) -> Iterator[Guard]:
    """A global of this package's own code; of code that is in no module, none."""
    module = sys.modules.get(module_globals.get("__name__", ""))
    if module is not None and vars(module) is module_globals:
        yield same_member(names, module, name, module_globals[name])


def same_attribute(names: Namespace, owner: type, name: str, value: object) -> Iterator[Guard]:
    """An attribute as it lies in the dict of a class; none where the class can't be changed."""
    if not is_immutable(owner):
        yield guards.identity(class_member(names, owner, name), value, names, _hint(value, name))
