"""What the traced program changed in the world outside, to be done again after the graph has run.

While tracing, nothing outside is touched: a store goes into a layer on top of the object, where later reads find it.
The changes are kept in program order, and each describes the statement of the generated code that does it. Changes
of objects that the program made itself need no replay; they are made in their final state if they are needed at all.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x, box, log):
...     box["last"] = x * 2
...     log.append(box["last"])
...     log[0] = "seen"
>>> print(generated(f, ones(2), {}, [0]))
(out_0,) = graph(x)
box['last'] = out_0
log.append(out_0)
log[0] = 'seen'
return None
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CellType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.errors import SourceLine
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.objects.finalizers import holds_finalizer, refuse
from minitorch_compile.dynamo.variables.rebuilding import Template, call, commas
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.objects.class_lookup import Found
    from minitorch_compile.dynamo.variables.scope import CellVariable, GlobalsVariable

DELETED: Any = object()


@dataclass
class Effect:
    """One change of `target`. `place` is the user's line."""

    target: VariableTracker
    place: SourceLine | None = field(default=None, kw_only=True)

    def statement(self) -> Template:
        """What does it again."""
        raise NotImplementedError

    def overwrites(self) -> Any:
        """What may lose a reference by the change: of a container, anything in it."""
        return self.target.real_value()


@dataclass
class StoreAttribute(Effect):
    """target.name = value, past any `__setattr__`, which was traced."""

    name: str
    value: Value

    def overwrites(self) -> Any:
        return _kept_under(self.target.real_value(), self.name)

    def statement(self) -> Template:
        return self.target.storing(self.target, self.name, self.value)


@dataclass
class DeleteAttribute(Effect):
    """del target.name, past any `__delattr__`"""

    name: str

    def overwrites(self) -> Any:
        return _kept_under(self.target.real_value(), self.name)

    def statement(self) -> Template:
        return self.target.deleting(self.target, self.name)


@dataclass
class StoreItem(Effect):
    """target[key] = value"""

    key: Value
    value: Value

    def statement(self) -> Template:
        return Template(self.target, "[", self.key, "] = ", self.value)


@dataclass
class DeleteItem(Effect):
    """del target[key]"""

    key: Value

    def statement(self) -> Template:
        return Template("del ", self.target, "[", self.key, "]")


@dataclass
class CallMethod(Effect):
    """target.method(*args), of a built-in container"""

    method: str
    args: tuple[Value, ...]

    def statement(self) -> Template:
        return call(Template(self.target, f".{self.method}"), *self.args)


@dataclass
class ReplaceItems(Effect):
    """target[:] = items"""

    items: list[Value]

    def statement(self) -> Template:
        return Template(self.target, "[:] = [", commas(self.items), "]")


@dataclass
class StoreGlobal(Effect):
    """globals()[name] = value, or del"""

    name: str
    value: Any

    def overwrites(self) -> Any:
        return self.target.real_value().get(self.name)

    def statement(self) -> Template:
        item = Template(self.target, f"[{self.name!r}]")
        return Template("del ", item) if self.value is DELETED else Template(item, " = ", self.value)


@dataclass
class StoreCell(Effect):
    """A variable that inner functions share gets a value, or is deleted."""

    content: Any

    def overwrites(self) -> Any:
        return _kept_under(self.target.real_value(), "cell_contents")

    def statement(self) -> Template:
        content = Template(self.target, ".cell_contents")
        return Template("del ", content) if self.content is NULL else Template(content, " = ", self.content)


def _kept_under(real: Any, name: str) -> Any:
    """The attribute as it is now, without running code of the program."""
    if type(real) is CellType:
        try:
            return real.cell_contents
        except ValueError:
            return None
    if issubclass(type(real), TensorBase):  # isinstance would ask the object for its class
        return kept_by(real).get(name)
    return inspect.getattr_static(real, name, None)


def _name_in_dict(target: VariableTracker, key: Value) -> str | None:
    """The key, if it is a string and the target a dict from outside."""
    tracked = key.realize()
    constant = tracked.as_constant() if tracked.is_constant() else None
    return constant if type(constant) is str and type(target.real_value()) is dict else None


def _is_there(container: dict[str, Any], name: str, value: Value) -> bool:
    """Whether the dict has had this very value under the name all along."""
    tracked = value.realize()
    return tracked.source is not None and name in container and container[name] is tracked.real_value()


class SideEffects:
    """The changes in program order, and the layer of attributes on top of objects."""

    def __init__(self, current_line: Callable[[], SourceLine]) -> None:
        self.effects: list[Effect] = []
        self._current_line = current_line
        self.stored_on_classes: dict[str, dict[type, Value]] = {}  # by attribute name
        self._deleted: set[tuple[int, str]] = set()
        self._attributes: dict[int, tuple[VariableTracker, dict[str, Any]]] = {}
        self._latest_store: dict[tuple[int, str], StoreAttribute | StoreGlobal | StoreCell] = {}
        self._stored_items: dict[int, dict[str, StoreItem]] = {}  # of a dict to which nothing else was done since

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    def forget(self) -> None:
        """Lets go of all values of the program."""
        self.effects.clear()
        for values in (self.stored_on_classes, self._attributes, self._latest_store, self._stored_items):
            values.clear()

    def __repr__(self) -> str:
        """The user's lines that change something, in order, each once."""
        places = dict.fromkeys(effect.place for effect in self.effects if effect.place is not None)
        return "\n".join(f"    {place.place}  {place.text.strip()}" for place in places)

    @property
    def changed(self) -> list[VariableTracker]:
        """The objects from outside that were changed, each once."""
        targets = {id(effect.target): effect.target for effect in self.effects if effect.target.source is not None}
        return list(targets.values())

    def note(self, effect: Effect) -> None:
        """Keeps a change of an object from outside."""
        if effect.target.source is not None:
            if holds_finalizer(effect.overwrites()):
                raise refuse("what this line changes")
            self.add(effect)

    def add(self, effect: Effect) -> None:
        """Keeps what is to be done after the graph, whatever it is done to."""
        effect.place = self._current_line()
        self.effects.append(effect)

    # --- attributes ---------------------------------------------------------------------------------------------------

    def attributes(self, target: VariableTracker) -> dict[str, Value]:
        """What the program stored on the object, by name."""
        _, stored = self._attributes.get(id(target), (None, {}))
        return {name: value for name, value in stored.items() if value is not DELETED}

    def attribute(self, target: VariableTracker, name: str) -> Value | None:
        """The stored attribute, None if the program stored none."""
        entry = self._attributes.get(id(target))
        value = None if entry is None else entry[1].get(name)
        return None if value is DELETED else value

    def attribute_values(self, name: str) -> list[VariableTracker]:
        """What the program stored under this name, on any object."""
        found = (stored.get(name, DELETED) for _, stored in self._attributes.values())
        return [value.realize() for value in found if value is not DELETED]

    def is_deleted(self, target: VariableTracker, name: str) -> bool:
        entry = self._attributes.get(id(target))
        return entry is not None and entry[1].get(name) is DELETED

    def was_deleted(self, target: VariableTracker, name: str) -> bool:
        """Whether the program deleted the attribute, and perhaps stored it again: then it comes last."""
        return (id(target), name) in self._deleted

    def on_class(self, cls: type, name: str, found: Found | None) -> Value | None:
        """What the program stored on the class, or on a base before the one where the attribute was found."""
        stored = self.stored_on_classes.get(name)
        for owner in cls.__mro__ if stored else ():
            if owner in stored:  # type: ignore[operator]
                return stored[owner]  # type: ignore[index]
            if found is not None and owner is found.owner:
                return None
        return None

    def store_attribute(self, target: VariableTracker, name: str, value: Value) -> None:
        """Stores; storing the same attribute again replaces the value, as only the last one will be seen."""
        layer = self._layer(target)
        if layer.get(name) is DELETED:
            del layer[name]  # stored again, it comes behind the others
        layer[name] = value
        earlier = self._latest_store.get((id(target), name))
        if isinstance(earlier, StoreAttribute):
            earlier.value = value
            return
        effect = StoreAttribute(target, name, value)
        self._latest_store[id(target), name] = effect
        self.note(effect)

    def delete_attribute(self, target: VariableTracker, name: str) -> None:
        layer = self._layer(target)
        layer.pop(name, None)
        layer[name] = DELETED
        self._deleted.add((id(target), name))
        self._latest_store.pop((id(target), name), None)
        self.note(DeleteAttribute(target, name))

    def _layer(self, target: VariableTracker) -> dict[str, Any]:
        return self._attributes.setdefault(id(target), (target, {}))[1]

    # --- containers ---------------------------------------------------------------------------------------------------

    def store_item(self, target: VariableTracker, key: Value, value: Value) -> None:
        """Stores; storing under the same key again replaces the value, and putting back what was there is nothing."""
        name = _name_in_dict(target, key)
        if name is None:
            self._note_of_container(StoreItem(target, key, value))
            return
        stored = self._stored_items.setdefault(id(target), {})
        earlier = stored.get(name)
        if earlier is None:
            stored[name] = StoreItem(target, key, value)
            self.note(stored[name])
            return
        earlier.value = value
        is_stored_only = all(effect.target is not target or isinstance(effect, StoreItem) for effect in self.effects)
        if is_stored_only and _is_there(target.real_value(), name, value):
            self.effects = [effect for effect in self.effects if effect is not earlier]
            del stored[name]

    def delete_item(self, target: VariableTracker, key: Value) -> None:
        self._note_of_container(DeleteItem(target, key))

    def method(self, target: VariableTracker, name: str, *args: Value) -> None:
        self._note_of_container(CallMethod(target, name, args))

    def replace_items(self, target: VariableTracker, items: list[Value]) -> None:
        self._note_of_container(ReplaceItems(target, list(items)))

    def _note_of_container(self, effect: Effect) -> None:
        self._stored_items.pop(id(effect.target), None)
        self.note(effect)

    # --- variables ----------------------------------------------------------------------------------------------------

    def store_global(self, scope: GlobalsVariable, name: str, value: Any) -> None:
        """Sets or, with DELETED, deletes a global."""
        scope.stored[name] = value
        self.note(StoreGlobal(scope, name, value))

    def store_cell(self, cell: CellVariable, content: Any) -> None:
        earlier = self._latest_store.get((id(cell), "cell"))
        if isinstance(earlier, StoreCell):
            earlier.content = content
            return
        effect = StoreCell(cell, content)
        self._latest_store[id(cell), "cell"] = effect
        self.note(effect)
