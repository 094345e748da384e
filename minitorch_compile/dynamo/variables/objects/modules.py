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

from minitorch_compile.dynamo.guards.content_guards import attribute_absent
from minitorch_compile.dynamo.guards.library_members import same_member
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import LIBRARY, is_fixed, is_library_name
from minitorch_compile.dynamo.variables.side_effects import DELETED

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


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
        return is_library_name(name) and name != f"{LIBRARY}.config"

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if not self._has(tracer, name):
            return self._not_there(tracer, name)
        stored = tracer.output.stored_globals(vars(self.module))
        if name in stored:
            return stored[name]
        value = vars(self.module)[name]
        if self.is_library and is_fixed(value):
            tracer.output.guards.add(same_member(tracer.output.names, self.module, name, value))
            return tracer.output.wrap_constant(value, name)
        assert self.source is not None
        source = AttrSource(self.source, name)
        tracer.output.guards.must_read(source)
        return tracer.output.wrap(value, source)

    def _has(self, tracer: Tracer, name: str) -> bool:
        """Whether the name is there now. A module's attributes are globals of its functions, which set them, too."""
        stored = tracer.output.stored_globals(vars(self.module))
        return stored[name] is not DELETED if name in stored else name in vars(self.module)

    def _not_there(self, tracer: Tracer, name: str) -> Value:
        """The module's `__getattr__`, which may import a part of a package, is asked; or nobody."""
        assert self.source is not None
        if type(self.module) is not ModuleType or hasattr(ModuleType, name):
            value = tracer.compute(getattr, self.module, name)
            source = AttrSource(self.source, name)
            tracer.output.guards.must_read(source)
            return tracer.output.wrap(value, source)
        tracer.output.guards.add(attribute_absent(self.source, name))
        if not self._has(tracer, "__getattr__"):
            tracer.output.guards.add(attribute_absent(self.source, "__getattr__"))
            tracer.raise_error(AttributeError, f"module '{self.module.__name__}' has no attribute '{name}'")
        return tracer.call(self.getattr(tracer, "__getattr__"), [ConstantVariable(name)], {})

    def delattr(self, tracer: Tracer, name: str) -> None:
        if self.is_library or type(self.module) is not ModuleType:
            self.unsupported(f"deleting '{name}'", "unsupported-store")
        if not self._has(tracer, name):
            assert self.source is not None
            tracer.output.guards.add(attribute_absent(self.source, name))
            tracer.raise_error(AttributeError, f"module '{self.module.__name__}' has no attribute '{name}'")
        self.getattr(tracer, name)  # guards that it is there
        tracer.side_effects.store_global(tracer.output.scope_of(vars(self.module)), name, DELETED)

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        if self.is_library or type(self.module) is not ModuleType:
            self.unsupported(f"setting '{name}'", "unsupported-store")
        tracer.side_effects.store_global(tracer.output.scope_of(vars(self.module)), name, value)
