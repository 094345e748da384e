"""Python modules: `torch`, `math`, the user's own. Their attributes are read through the module, and guarded.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> import math
>>> print(captured(lambda x: x * math.floor(2.5), ones(2)))
x -> (x * 2,)
"""

from __future__ import annotations

from collections.abc import Hashable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards.guards import attribute_absent
from minitorch_compile.dynamo.guards.library_members import guard_member
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.class_lookup import LIBRARY, is_fixed
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.own_attributes import own_attribute

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.tracer import Tracer


class ModuleVariable(VariableTracker):
    """A module. Functions and classes of this package's own modules are taken as they are, without guards."""

    def __init__(self, module: ModuleType, source: Source) -> None:
        super().__init__(source)
        self.module = module

    def describe(self) -> str:
        return f"the module {self.module.__name__}"

    def python_type(self) -> type:
        return type(self.module)

    def real_value(self) -> Any:
        return self.module

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("value", self.module)

    def truth(self, tracer: Tracer) -> bool:
        return True

    @property
    def is_library(self) -> bool:
        """Part of this package, but not its settings, which the user changes."""
        name = self.module.__name__
        return name.partition(".")[0] == LIBRARY and name != f"{LIBRARY}.config"

    def getattr(self, tracer: Tracer, name: str) -> Value:
        stored = tracer.side_effects.attribute(self, name)
        if stored is not None:
            return stored
        if tracer.side_effects.is_deleted(self, name) or name not in vars(self.module):
            return self._not_there(tracer, name)
        value = vars(self.module)[name]
        if self.is_library and is_fixed(value):
            guard_member(tracer.output, self.module, name, value)
            return tracer.output.wrap_constant(value, name)
        assert self.source is not None
        source = AttrSource(self.source, name)
        tracer.output.guards.must_read(source)
        return tracer.output.wrap(value, source)

    def _not_there(self, tracer: Tracer, name: str) -> Value:
        """The module's `__getattr__`, which may import a part of a package, is asked; or nobody."""
        assert self.source is not None
        if type(self.module) is not ModuleType or hasattr(ModuleType, name):
            value = tracer.compute(getattr, self.module, name)
            source = AttrSource(self.source, name)
            tracer.output.guards.must_read(source)
            return tracer.output.wrap(value, source)
        tracer.output.guards.add(attribute_absent(self.source, name))
        fallback = own_attribute(tracer, self, "__getattr__")
        if fallback is None:
            tracer.raise_error(AttributeError, f"module '{self.module.__name__}' has no attribute '{name}'")
        return tracer.call(fallback, [ConstantVariable(name)], {})

    def delattr(self, tracer: Tracer, name: str) -> None:
        if self.is_library or type(self.module) is not ModuleType:
            self.unsupported(f"deleting '{name}'", "unsupported-store")
        if own_attribute(tracer, self, name) is None:
            tracer.raise_error(AttributeError, f"module '{self.module.__name__}' has no attribute '{name}'")
        tracer.side_effects.delete_attribute(self, name)

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        if self.is_library or type(self.module) is not ModuleType:
            self.unsupported(f"setting '{name}'", "unsupported-store")
        tracer.side_effects.store_attribute(self, name, value)
