"""Writing the Python function that runs instead of the traced one.

The function first checks the guards and reads what it needs from outside, then calls the graph, then makes the values
that live on and does the side effects again. `Codegen` collects the last part: it follows the trackers' descriptions
(`variables/rebuilding.py`), for each object once, so that what was one object in the program is one object again.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     shared = [x + 1]
...     return shared, {"again": shared}
>>> print(generated(f, ones(2)))
(out_0,) = graph(x)
list_0 = [out_0]
dict_0 = {'again': list_0}
return (list_0, dict_0)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import SourceLine, Unsupported
from minitorch_compile.dynamo.guards.guard_code import SourceReader
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.lazy import LazyVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import IT, Computed, Description, Held, Made, Part, Read, Template
from minitorch_compile.dynamo.variables.side_effects import Effect
from minitorch_compile.dynamo.variables.tensors.data_numbers import DataNumberVariable
from minitorch_compile.dynamo.variables.tensors.sym_int import SymIntVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tensors.tensor_hooks import GraphHandleVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph

FromGraph = TensorVariable | SymIntVariable | DataNumberVariable | GraphHandleVariable
NODES = (TensorVariable, SymIntVariable, DataNumberVariable, GraphHandleVariable)


class Codegen:
    """The body of the generated function, behind the call of the graph. `graph_outputs` is what it needs from the
    graph."""

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self.reader = SourceReader(output.names)
        self.body: list[str] = []
        self.graph_outputs: dict[str, FromGraph] = {}
        self._made: dict[int, str] = {}  # id of a tracker -> the variable that holds its value
        self._building: set[int] = set()
        self._last_place: str = ""

    # --- writing ------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.body.append(text)

    def return_value(self, value: Value, effects: Iterable[Effect]) -> None:
        """The end of the function: the value is made, the changes are done, the value is returned."""
        text = self.value(value)
        made_at = len(self.body) - 1
        for effect in effects:
            self.effect(effect)
        made = self.body[made_at] if made_at >= 0 else ""
        if made.startswith(f"{text} = ") and not any(text in line for line in self.body[made_at + 1 :]):
            text = self.body.pop(made_at).removeprefix(f"{text} = ")  # needed nowhere else
        self.line(f"return {text}")

    def comment(self, place: SourceLine | None) -> None:
        """Names the user's line that the next statements do, if it changed."""
        text = "" if place is None else f"# {place.place}  {place.text.strip()}"
        if text and text != self._last_place:
            self.line(text)
        self._last_place = text

    # --- values -------------------------------------------------------------------------------------------------------

    def constant(self, value: Any, hint: str) -> str:
        """The name under which the generated code holds an object."""
        return self.output.names.install(value, hint)

    def read(self, source: Source) -> str:
        """A value from outside, read before anything is changed."""
        return self.reader.variable(source)

    def value(self, value: Value) -> str:
        """An expression for the value: a variable or a literal."""
        if isinstance(value, LazyVariable):
            if not value.is_realized:
                return self.read(value.source)
            value = value.realize()
        assert isinstance(value, VariableTracker)
        known = self._made.get(id(value))
        if known is not None:
            return known
        if value.source is not None and not isinstance(value, ConstantVariable):
            return self.read(value.source)
        if isinstance(value, (ConstantVariable, BuiltinMethodVariable)):  # `items.append`: a new object each time, too
            description = value.reconstruct(self.output)
            return self.written(description) if isinstance(description, Template) else self._make(value)
        return self._make(value)

    def has_made(self, tracker: VariableTracker) -> bool:
        """Whether a variable stands for the tracker already."""
        return id(tracker) in self._made

    @property
    def made_variables(self) -> list[str]:
        """Those that hold what was made, or what the graph computed."""
        return list(self._made.values())

    def _make(self, tracker: VariableTracker) -> str:
        """Makes a value of the traced program again; the variable that stands for it from now on."""
        if id(tracker) in self._building:
            raise Unsupported("unrebuildable-value", f"{tracker.describe()} that contains itself.")
        self._building.add(id(tracker))
        variable = self._follow(tracker.reconstruct(self.output), tracker)
        self._building.discard(id(tracker))
        return variable

    def _follow(self, description: Description, tracker: VariableTracker) -> str:
        """Does what the tracker's description says."""
        if isinstance(description, Computed):
            assert isinstance(tracker, NODES)
            variable = self._name(tracker, "out")
            self.graph_outputs[variable] = tracker
        else:
            text = self.written(description.expression if isinstance(description, Made) else description)
            variable = self._name(tracker, description.prefix if isinstance(description, Made) else _kind(tracker))
            self.line(f"{variable} = {text}")
        for statement in () if isinstance(description, Template) else description.statements:
            self.line(self.written(statement, variable))
        if isinstance(description, Made):
            for name, value in self.output.side_effects.attributes(tracker).items():
                self.line(self.written(tracker.storing(IT, name, value), variable))
        return variable

    def _name(self, tracker: VariableTracker, prefix: str) -> str:
        """A new variable that stands for the tracker from now on."""
        variable = self._made[id(tracker)] = self.output.names.fresh(prefix)
        return variable

    def written(self, template: Template, it: str = "") -> str:
        """The text, its holes filled from left to right; `it` is the variable of what is being made."""
        return "".join([part if type(part) is str else self._filled(part, it) for part in template.parts])

    def _filled(self, part: Part, it: str) -> str:
        if isinstance(part, Value):
            return self.value(part)
        if isinstance(part, Template):
            return self.written(part, it)
        if isinstance(part, Held):
            return self.constant(part.value, part.hint)
        if isinstance(part, Read):
            return self.read(part.source)
        return part if isinstance(part, str) else it

    # --- changes ------------------------------------------------------------------------------------------------------

    def effect(self, effect: Effect) -> None:
        """Does a change again."""
        self.comment(effect.place)
        self.line(self.written(effect.statement()))


def _kind(tracker: VariableTracker) -> str:
    """list, dict, tensor, ..."""
    return tracker.python_type().__name__.lower().strip("_")
