"""Dictionaries: dict, OrderedDict, defaultdict, and their views.

A dictionary from outside is looked into key by key: reading `options["lr"]` guards that one item. Only what asks about
all keys (iteration, len) guards all of them.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x, d):
...     d["n"] = d.pop("old") + 1
...     return x * d["n"]
>>> print(generated(f, ones(2), {"old": 1}))
(out_0,) = graph(x)
del d['old']
d['n'] = 2
return out_0
"""

from __future__ import annotations

import collections
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards import content_guards, guards, value_guards
from minitorch_compile.dynamo.guards.below import FACTORY
from minitorch_compile.dynamo.guards.source import (
    AttrSource,
    DictKeySource,
    ItemSource,
    NamedItemSource,
    Source,
    SourceItemSource,
)
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable, has_literal
from minitorch_compile.dynamo.variables.objects.class_lookup import printed_name
from minitorch_compile.dynamo.variables.rebuilding import Description, Made, Template, call, commas, held_class

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

DICT_TYPES = (dict, collections.OrderedDict, collections.defaultdict)
DELETED: Any = object()


class DictVariable(VariableTracker):
    """`_entries` maps hash keys to (key, value); for an unread dictionary from outside it is None, and `_changes` lie
    on top."""

    def __init__(
        self,
        cls: type[dict[Any, Any]] = dict,
        source: Source | None = None,
        real: Any = None,
        output: Output | None = None,
    ) -> None:
        super().__init__(source)
        self.cls = cls
        self.real = real
        self.output = output
        self.default_factory: Value = ConstantVariable(None)
        self._entries: dict[Hashable, tuple[Value, Value]] | None = {} if source is None else None
        self._changes: dict[Hashable, tuple[Value, Value]] = {}
        self._read: dict[Hashable, Value | None] = {}
        if source is not None and cls is collections.defaultdict and output is not None:
            self.default_factory = output.wrap(FACTORY.__get__(real), AttrSource(source, "default_factory"))

    def python_type(self) -> type:
        return self.cls

    def real_value(self) -> Any:
        return MISSING if self.source is None else self.real

    def hash_key(self, tracer: Tracer) -> Hashable:
        tracer.raise_error(TypeError, f"unhashable type: '{printed_name(self.cls)}'")

    def getattr(self, tracer: Tracer, name: str) -> Value:
        stored = tracer.side_effects.attribute(self, name)
        return super().getattr(tracer, name) if stored is None else stored

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        """Of those made while tracing: an OrderedDict has attributes, as `_metadata` of a state_dict."""
        if self.cls is not collections.OrderedDict or self.source is not None or hasattr(self.cls, name):
            self.unsupported(f"setting the attribute '{name}'", "unsupported-store")
        tracer.side_effects.store_attribute(self, name, value)

    # --- looking ------------------------------------------------------------------------------------------------------

    def lookup(self, tracer: Tracer, key: Value) -> Value | None:
        """The value at a key, None if there is no such key."""
        tracked = key.realize()
        hashed = tracked.hash_key(tracer)
        known = self._changes.get(hashed) if self._entries is None else self._entries.get(hashed)
        if known is not None:
            return None if known[1] is DELETED else known[1]
        if self._entries is not None:
            return None
        if hashed not in self._read:
            self._read[hashed] = self._read_base(tracked)
        return self._read[hashed]

    def _read_base(self, key: VariableTracker) -> Value | None:
        """The item of the dictionary as it was before the call; guards that it is there, or that it is not."""
        assert self.output is not None and self.source is not None
        real = key.as_constant() if key.is_constant() else key.real_value()
        if real is MISSING:
            return self._read_equal(key)
        if dict.__contains__(self.real, real):
            source = self._item_source(key, real)
            if type(self.real) is not dict:  # reading a key that isn't there may call a factory or `__missing__`
                self.output.guards.add(self._contains(key, real, True))
            self.output.guards.must_read(source)
            return self.output.wrap(dict.__getitem__(self.real, real), source)
        if not self.cls.__len__(self.real):  # one cheap check for all the keys that it does not have
            self.output.guards.add(content_guards.length(self.source, 0))
        else:
            self.output.guards.add(self._contains(key, real, False))
        return None

    def _read_equal(self, key: VariableTracker) -> Value | None:
        """The item at a key that is equal to one made while tracing: only a tuple or frozenset can be."""
        if not issubclass(key.python_type(), (tuple, frozenset)):
            return None
        assert self.output is not None
        entry = self.entries.get(key.hash_key(self.output.tracer))
        return None if entry is None else entry[1]

    def _item_source(self, key: VariableTracker, real: Any) -> Source:
        assert self.source is not None
        if has_literal(real):
            return ItemSource(self.source, real)
        if key.source is not None:
            return SourceItemSource(self.source, key.source)
        return NamedItemSource(self.source, self._key_text(key, real))

    def _contains(self, key: VariableTracker, real: Any, present: bool) -> guards.Guard:
        assert self.source is not None
        is_read = not has_literal(real) and key.source is not None  # then another call may bring another key
        about = guards.About.ANYTHING if is_read else guards.About.ITEMS
        return content_guards.dict_contains(self.source, self._key_text(key, real), present, about=about)

    def _key_text(self, key: VariableTracker, real: Any) -> str:
        assert self.output is not None
        if has_literal(real):
            return repr(real)
        return key.source.name() if key.source is not None else self.output.names.install(real, "key")

    @property
    def entries(self) -> dict[Hashable, tuple[Value, Value]]:
        """All items in order; guards the keys."""
        if self._entries is None:
            self._entries = self._wrap_entries()
            for hashed, entry in self._changes.items():
                if entry[1] is DELETED:
                    self._entries.pop(hashed, None)
                else:
                    self._entries[hashed] = (self._entries.get(hashed, entry)[0], entry[1])
        return self._entries

    def _wrap_entries(self) -> dict[Hashable, tuple[Value, Value]]:
        assert self.output is not None and self.source is not None
        keys = list(self.cls.__iter__(self.real))
        if all(has_literal(key) for key in keys):
            self.output.guards.add(content_guards.same_members("DICT_KEYS", self.source, keys, self.output.names))
        else:
            self.output.guards.add(content_guards.length(self.source, len(keys)))
            self._guard_literal_keys(keys)
        entries: dict[Hashable, tuple[Value, Value]] = {}
        for position, real in enumerate(keys):
            key = self._wrap_key(position, real)
            hashed = key.hash_key(self.output.tracer)
            value = self._read.get(hashed)
            if value is None:
                value = self.output.wrap(dict.__getitem__(self.real, real), self._item_source(key, real))
            entries[hashed] = (key, value)
        return entries

    def _guard_literal_keys(self, keys: list[Any]) -> None:
        """Text and numbers among other keys; those are guarded as what they are wrapped in."""
        assert self.output is not None and self.source is not None
        for position, key in enumerate(keys):
            if has_literal(key):
                for guard in value_guards.equals(DictKeySource(self.source, position), key, self.output.names):
                    self.output.guards.add(guard)

    def _wrap_key(self, position: int, real: Any) -> VariableTracker:
        assert self.output is not None and self.source is not None
        if has_literal(real):
            return ConstantVariable(real)
        return self.output.wrap(real, DictKeySource(self.source, position)).realize()

    def values(self) -> list[Value]:
        return [value for _, value in self.entries.values()]

    def keys(self) -> list[Value]:
        return [key for key, _ in self.entries.values()]

    def length(self, tracer: Tracer) -> int:
        if self._entries is None and not self._changes:
            assert self.output is not None and self.source is not None
            size = self.cls.__len__(self.real)
            self.output.guards.add(content_guards.length(self.source, size))
            return size
        return len(self.entries)

    def truth(self, tracer: Tracer) -> bool:
        return self.length(tracer) > 0

    def contains(self, tracer: Tracer, item: Value) -> Value:
        return ConstantVariable(self.lookup(tracer, item) is not None)

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        from minitorch_compile.dynamo.variables.containers.iterators import DictIterator

        cls: type = type(iter(collections.OrderedDict())) if self.cls is collections.OrderedDict else type(iter({}))
        return DictIterator(self.keys(), self.entries, cls, self)

    # --- changing -----------------------------------------------------------------------------------------------------

    def store(self, tracer: Tracer, key: Value, value: Value) -> None:
        hashed = key.realize().hash_key(tracer)
        target = self._changes if self._entries is None else self._entries
        old = target.get(hashed)
        if old is not None and old[1] is DELETED:
            self.entries
            target = self.entries
            old = None
        target[hashed] = (old[0] if old else key, value)
        tracer.side_effects.store_item(self, key, value)

    def delete(self, tracer: Tracer, key: Value) -> Value:
        """Removes a key; its value. KeyError if it is not there."""
        value = self.lookup(tracer, key)
        if value is None:
            tracer.raise_error(KeyError, key)
        hashed = key.realize().hash_key(tracer)
        if self._entries is None:
            self._changes[hashed] = (key, DELETED)
        else:
            del self._entries[hashed]
        tracer.side_effects.delete_item(self, key)
        return value

    # --- operators and methods ----------------------------------------------------------------------------------------

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op != "|" or not issubclass(other.python_type(), dict):
            return None
        merged = self.method_copy(tracer)
        merged.method_update(tracer, other)
        return merged

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op != "|" or self.cls is dict or not isinstance(other, DictVariable):
            return None
        merged = DictVariable(self.cls)
        merged.default_factory = self.default_factory
        merged.method_update(tracer, other)
        merged.method_update(tracer, self)
        return merged

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op != "|":
            return None
        self.method_update(tracer, other)
        return self

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op not in ("==", "!=") or not isinstance(other, DictVariable):
            return None
        if collections.OrderedDict in (self.cls, other.cls) and self.cls is other.cls:
            tracer_unsupported = "comparing two OrderedDicts, which depends on their order,"
            self.unsupported(tracer_unsupported)
        return ConstantVariable(self._equal(tracer, other) == (op == "=="))

    def _equal(self, tracer: Tracer, other: DictVariable) -> bool:
        if len(self.entries) != len(other.entries):
            return False
        for key, value in list(self.entries.values()):
            theirs = other.lookup(tracer, key)
            if theirs is None or not tracer.same_or_equal(value, theirs):
                return False
        return True

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        method = getattr(self, f"method_{name.strip('_')}", None)
        if method is None or (kwargs and name not in ("__init__", "update", "move_to_end", "popitem")):
            return super().call_method(tracer, name, args, kwargs)
        return tracer.checked_call(method, tracer, *args, **kwargs)

    def method_init(self, tracer: Tracer, /, *args: Value, **kwargs: Value) -> Value:
        """dict.__init__; a defaultdict's factory comes first."""
        rest = list(args)
        if self.cls is collections.defaultdict and rest:
            self.set_factory(tracer, rest.pop(0))
        return self.method_update(tracer, *rest, **kwargs)

    def set_factory(self, tracer: Tracer, factory: Value) -> None:
        if not tracer.is_none(factory) and not tracer.truth(tracer.is_callable(factory)):
            tracer.raise_error(TypeError, "first argument must be callable or None")
        self.default_factory = factory

    def method_getitem(self, tracer: Tracer, key: Value) -> Value:
        value = self.lookup(tracer, key)
        if value is not None:
            return value
        factory = self.default_factory.realize()
        if isinstance(factory, ConstantVariable):
            tracer.raise_error(KeyError, key)
        made = tracer.call(factory, [], {})
        self.store(tracer, key, made)
        return made

    def method_setitem(self, tracer: Tracer, key: Value, value: Value) -> Value:
        self.store(tracer, key, value)
        return ConstantVariable(None)

    def method_delitem(self, tracer: Tracer, key: Value) -> Value:
        self.delete(tracer, key)
        return ConstantVariable(None)

    def method_get(self, tracer: Tracer, key: Value, default: Value | None = None) -> Value:
        value = self.lookup(tracer, key)
        return value if value is not None else default or ConstantVariable(None)

    def method_pop(self, tracer: Tracer, key: Value, default: Value | None = None) -> Value:
        if default is not None and self.lookup(tracer, key) is None:
            return default
        return self.delete(tracer, key)

    def method_popitem(self, tracer: Tracer, last: Value | None = None) -> Value:
        if not self.entries:
            empty = "dictionary is empty"
            tracer.raise_error(KeyError, empty if self.cls is collections.OrderedDict else f"popitem(): {empty}")
        from_end = last is None or tracer.truth(last)
        key, value = list(self.entries.values())[-1 if from_end else 0]
        self.delete(tracer, key)
        return tracer.build("tuple", [key, value])

    def method_setdefault(self, tracer: Tracer, key: Value, default: Value | None = None) -> Value:
        value = self.lookup(tracer, key)
        if value is None:
            value = default or ConstantVariable(None)
            self.store(tracer, key, value)
        return value

    def method_update(self, tracer: Tracer, other: Value | None = None, /, **kwargs: Value) -> Value:
        asks = self.cls is collections.OrderedDict
        for key, value in tracer.mapping_items(other, asks) if other is not None else []:
            self.store(tracer, key, value)
        for name, value in kwargs.items():
            self.store(tracer, ConstantVariable(name), value)
        return ConstantVariable(None)

    def method_clear(self, tracer: Tracer) -> Value:
        self._entries, self._changes = {}, {}
        tracer.side_effects.method(self, "clear")
        return ConstantVariable(None)

    def method_copy(self, tracer: Tracer) -> DictVariable:
        fresh = DictVariable(self.cls)
        fresh.default_factory = self.default_factory
        fresh._entries = dict(self.entries)
        return fresh

    def method_move_to_end(self, tracer: Tracer, key: Value, last: Value | None = None) -> Value:
        value = self.lookup(tracer, key)
        if value is None or self.cls is not collections.OrderedDict:
            tracer.raise_error(KeyError, key)
        to_the_end = last is None or tracer.truth(last)
        hashed = key.realize().hash_key(tracer)
        entry = self.entries.pop(hashed)
        rest = {} if to_the_end else dict(self.entries)
        if not to_the_end:
            self.entries.clear()
        self.entries[hashed] = entry
        self.entries.update(rest)
        tracer.side_effects.method(self, "move_to_end", key, ConstantVariable(to_the_end))
        return ConstantVariable(None)

    def _view(self, kind: str) -> Value:
        from minitorch_compile.dynamo.variables.containers.dict_views import DictViewVariable

        return DictViewVariable(self, kind)

    def method_keys(self, tracer: Tracer) -> Value:
        return self._view("keys")

    def method_values(self, tracer: Tracer) -> Value:
        return self._view("values")

    def method_items(self, tracer: Tracer) -> Value:
        return self._view("items")

    def method_len(self, tracer: Tracer) -> Value:
        return ConstantVariable(self.length(tracer))

    def method_contains(self, tracer: Tracer, key: Value) -> Value:
        return self.contains(tracer, key)

    def method_iter(self, tracer: Tracer) -> Value:
        return self.iterate(tracer)

    def method_reversed(self, tracer: Tracer) -> Value:
        from minitorch_compile.dynamo.variables.containers.iterators import DictIterator

        empty: Any = collections.OrderedDict() if self.cls is collections.OrderedDict else {}
        return DictIterator(self.keys()[::-1], self.entries, type(reversed(empty)))

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        pairs = [(key.realize(), value.realize()) for key, value in self.entries.values()]
        if self.cls is dict and all(k.is_constant() and v.is_constant() for k, v in pairs):
            for key, value in pairs:
                key.check_text(tracer)
                value.check_text(tracer)
            real = {k.as_constant(): v.as_constant() for k, v in pairs}
            return str(tracer.compute(ascii if conversion == "ascii" else repr, real))
        return super().to_text(tracer, conversion)

    def written_items(self) -> Template:
        """All items, as a dict is written."""
        return Template("{", commas(Template(key, ": ", value) for key, value in self.entries.values()), "}")

    def reconstruct(self, output: Output) -> Description:
        inside = self.written_items()
        if self.cls is dict:
            return inside
        if self.cls is collections.defaultdict:
            return call(held_class(self.cls), self.default_factory, inside)
        return Made("ordered", call(held_class(self.cls), inside))
