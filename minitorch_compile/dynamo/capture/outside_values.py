"""Values from outside and their trackers: one object has one tracker, on however many paths it is reached.

A value is looked into when the program does; only then is it guarded.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x, first, second):
...     first.append(2)
...     return x * second[0]
>>> shared: list[int] = []
>>> print(captured(f, ones(2), shared, shared))
x -> (x * 2,)
"""

from __future__ import annotations

from types import CellType
from typing import Any

from minitorch_compile.dynamo.capture.float_inputs import FloatInputs
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards.guards import same_object
from minitorch_compile.dynamo.guards.source import ConstantSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.builder import build
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.lazy import LazyVariable
from minitorch_compile.dynamo.variables.scope import CellVariable, GlobalsVariable


class OutsideValues(FloatInputs):
    """The trackers of what was read from outside."""

    def __init__(self) -> None:
        self._tracked: dict[int, VariableTracker] = {}
        self._scopes: dict[int, GlobalsVariable] = {}
        self._alive: list[Any] = []  # keeps the ids in `_tracked` and `_lazy` valid
        self._lazy: dict[tuple[Source, int], LazyVariable] = {}

    def forget(self) -> None:
        """Lets go of all values of the program."""
        self._alive.clear()
        for values in (self._tracked, self._scopes, self._lazy):
            values.clear()

    def wrap(self, value: Any, source: Source) -> Value:
        """A value read from `source`, to be looked into when the program does."""
        key = (source, id(value))
        if key not in self._lazy:
            self._lazy[key] = LazyVariable(self, value, source)
        return self._lazy[key]

    def build(self, value: Any, source: Source) -> VariableTracker:
        """The tracker of a value, with guards. One object has one tracker, on however many paths it is reached."""
        known = self._tracked.get(id(value))
        if id(value) in self._scopes:
            raise Unsupported("unsupported-object", "the globals of a module used as a dict.")
        if known is None:
            known = build(self, value, source)
            if known.source is not None and not isinstance(known, ConstantVariable):
                self._tracked[id(value)] = known
                self._alive.append(value)
        elif known.source is not None and known.source != source and not isinstance(source, ConstantSource):
            self.guards.add(same_object(source, known.source))
        return known

    def wrap_cell(self, cell: CellType, source: Source) -> CellVariable:
        known = self._tracked.get(id(cell))
        if known is None:
            known = self._tracked[id(cell)] = CellVariable.existing(self, cell, source)
            self._alive.append(cell)
        elif known.source is not None and known.source != source:
            self.guards.add(same_object(source, known.source))
        assert isinstance(known, CellVariable)
        return known

    def scope_of(self, module_globals: dict[str, Any]) -> GlobalsVariable:
        """The globals of a module; G for those of the traced function."""
        known = self._scopes.get(id(module_globals))
        if id(module_globals) in self._tracked:
            raise Unsupported("unsupported-object", "a dict that is also the globals of a function.")
        if known is None:
            hint = "globals_" + str(module_globals.get("__name__", "module")).rpartition(".")[2]
            source = ConstantSource(self.names.install(module_globals, hint))
            known = self._scopes[id(module_globals)] = GlobalsVariable(module_globals, source)
        return known

    def stored_globals(self, module_globals: dict[str, Any]) -> dict[str, Any]:
        """What the program set in a module, or deleted."""
        known = self._scopes.get(id(module_globals))
        return {} if known is None else known.stored

    def tracked_like(self, variable: VariableTracker) -> list[VariableTracker]:
        """All objects from outside of the same class that were looked into."""
        cls = variable.python_type()
        return [known for known in self._tracked.values() if known.python_type() is cls]
