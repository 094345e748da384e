"""Writing the Python function that runs instead of the traced one.

The function first checks the guards and reads what it needs from outside, then calls the graph, then makes the values
that live on and does the side effects again. `Codegen` collects the last part: it turns trackers into expressions,
each object once, so that what was one object in the program is one object again.

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
from minitorch_compile.dynamo.variables.class_lookup import is_shadowed, look_up
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.lazy import LazyVariable
from minitorch_compile.dynamo.variables.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.side_effects import Effect
from minitorch_compile.dynamo.variables.tensor import TensorVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph


class Codegen:
    """The body of the generated function, behind the call of the graph. `graph_outputs` is what it needs from the
    graph."""

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self.reader = SourceReader(output.names)
        self.body: list[str] = []
        self.graph_outputs: dict[str, TensorVariable] = {}
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

    def assign(self, prefix: str, text: str, tracker: VariableTracker) -> str:
        """Assigns to a new variable that stands for the tracker from now on."""
        variable = self.output.names.fresh(prefix)
        self._made[id(tracker)] = variable
        self.line(f"{variable} = {text}")
        return variable

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
        if isinstance(value, ConstantVariable):
            return value.reconstruct(self)
        if value.source is not None:
            return self.read(value.source)
        if isinstance(value, BuiltinMethodVariable):
            return value.reconstruct(self)  # `items.append`: a new object each time in Python, too
        return self._make(value)

    def has_made(self, tracker: VariableTracker) -> bool:
        """Whether a variable stands for the tracker already."""
        return id(tracker) in self._made

    def _make(self, tracker: VariableTracker) -> str:
        """Makes a value of the traced program again."""
        if id(tracker) in self._building:
            raise Unsupported("unrebuildable-value", f"{tracker.describe()} that contains itself.")
        self._building.add(id(tracker))
        text = tracker.reconstruct(self)
        self._building.discard(id(tracker))
        if id(tracker) in self._made:
            return self._made[id(tracker)]
        return self.assign(tracker.python_type().__name__.lower().strip("_"), text, tracker)

    def graph_output(self, tensor: TensorVariable) -> str:
        """A tensor that the graph computes."""
        variable = self.output.names.fresh("out")
        self.graph_outputs[variable] = tensor
        self._made[id(tensor)] = variable
        return variable

    # --- stores -------------------------------------------------------------------------------------------------------

    def store_attribute(self, target: VariableTracker, text: str, name: str, value: str) -> None:
        """target.name = value, past a `__setattr__` in Python, which was traced already."""
        if isinstance(target, UserObjectVariable):
            if is_shadowed(target.cls, name):
                self.line(f"{text}.__dict__[{name!r}] = {value}")
                return
            setter = look_up(target.cls, "__setattr__")
            if setter is not None and setter.owner is not object:
                self.line(f"{self.constant(object, 'object')}.__setattr__({text}, {name!r}, {value})")
                return
        self.line(f"{text}.{name} = {value}" if name.isidentifier() else f"setattr({text}, {name!r}, {value})")

    def delete_attribute(self, target: VariableTracker, text: str, name: str) -> None:
        if isinstance(target, UserObjectVariable) and is_shadowed(target.cls, name):
            self.line(f"del {text}.__dict__[{name!r}]")
        elif isinstance(target, UserObjectVariable):
            self.line(f"{self.constant(object, 'object')}.__delattr__({text}, {name!r})")
        else:
            self.line(f"delattr({text}, {name!r})")

    def fill_attributes(self, tracker: VariableTracker, variable: str) -> None:
        """What the program stored on an object that it made."""
        for name, value in self.output.side_effects.attributes(tracker).items():
            self.store_attribute(tracker, variable, name, self.value(value))

    def effect(self, effect: Effect) -> None:
        """Does a change again."""
        self.comment(effect.place)
        effect.emit(self)
