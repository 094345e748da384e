"""The canonical form of a value: nested tuples that say what is in it, and which of its parts are one object.

>>> shared = [1]
>>> canonical_form([shared, shared]) == canonical_form([[1], [1]])
False
>>> canonical_form([shared, 2])
('list', 0, (('list', 1, (('int', '1'),)), ('int', '2')))

Each object gets a number when it is first met and is that number from then on, so equal forms mean
isomorphic graphs of objects. Identity is left out where Python leaves it open: for numbers, strings and tuples of them.
Where in its memory a `.grad` begins is left out, too: the walk may put a piece of a larger gradient there, or a copy.
"""

from __future__ import annotations

import collections
import copyreg
import enum
import functools
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any
from weakref import ReferenceType

from minitorch_compile.tensor.tensor_base import TensorBase

ATOMS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)
FLAGS_MADE = frozenset(("_value2member_map_",))  # an enum.Flag keeps the combinations that it was asked for
NAMED = (type, ModuleType, enum.Enum, BuiltinFunctionType, CodeType, TracebackType)
_SAMPLES: tuple[Any, ...] = (
    iter([]), reversed([]), iter(()), iter({}), iter({}.values()), iter({}.items()), iter(set()), iter(""),
    iter(range(0)), iter(collections.deque()), enumerate(()), zip(), map(int, ()), filter(None, ()),
)  # fmt: skip
NOTHING: Any = object()
ITERATORS: tuple[type, ...] = tuple(map(type, _SAMPLES))
TENSOR_STATE = frozenset(
    (
        "storage",
        "offset",
        "sizes",
        "strides",
        "dtype",
        "device",
        "grad",
        "grad_fn",
        "output_index",
        "accumulator",
        "base",
        "untracked",
    )
    + ("rewritten", "base_rewritten", "_array", "_requires_grad")
)


def canonical_form(value: Any) -> Any:
    """The canonical form of one value."""
    return Canonicalizer().form_of(value)


def is_atom(value: Any) -> bool:
    """Values whose identity Python leaves open: it may fold equal constants, and tuples of them, into one object."""
    return type(value) in ATOMS or type(value) is tuple and all(map(is_atom, value))


class Canonicalizer:
    """Gives canonical forms; an object seen before is its number.

    `classes`: those whose own attributes are looked at, too; other classes are just named. `versions`: whether to say
    how often tensors were written to.
    """

    def __init__(self, classes: tuple[type, ...] = (), versions: bool = False) -> None:
        self.classes = classes
        self.versions = versions
        self._numbers: dict[int, int] = {}
        self._gradients: set[int] = set()  # the ids of what was met as a .grad
        self._alive: list[Any] = []

    def form_of(self, value: Any) -> Any:
        if is_atom(value):
            return type(value).__name__, repr(value)
        if isinstance(value, NAMED) and value not in self.classes:
            return "named", repr(getattr(value, "__qualname__", value))
        if id(value) in self._numbers:
            return "again", self._numbers[id(value)]
        number = self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return type(value).__name__, number, self._contents(value)

    def _contents(self, value: Any) -> Any:
        for cls, whole in WITH_ATTRIBUTES.items():
            if isinstance(value, cls):
                return whole(self, value)
        for classes, rule in RULES.items():
            if isinstance(value, classes):
                derived = type(value) not in classes and not isinstance(value, TensorBase)
                return (*rule(self, value), *(self._attributes(value) if derived else ()))
        return self._attributes(value)

    def _attributes(self, value: Any) -> tuple[Any, ...]:
        """What an object keeps in its `__dict__` and its slots."""
        slots = copyreg._slotnames(type(value))  # type: ignore[attr-defined]
        filled = [(name, kept) for name in slots if (kept := _own(value, name)) is not NOTHING]
        shown = tuple((name, self.form_of(kept)) for name, kept in filled)
        own = _own(value, "__dict__")
        return shown if own is NOTHING or not own else (*shown, *self._items(own))

    def _items(self, mapping: Any) -> tuple[Any, ...]:
        return tuple((self.form_of(key), self.form_of(item)) for key, item in dict.items(mapping))

    def _members(self, value: Any) -> tuple[Any, ...]:
        """Of a set, in an order that doesn't depend on addresses."""
        atoms = sorted((type(item).__name__, repr(item)) for item in value if is_atom(item))
        known = sorted(self._numbers[id(item)] for item in value if id(item) in self._numbers)
        fresh = [item for item in value if not is_atom(item) and id(item) not in self._numbers]
        return (*atoms, *known, *(self.form_of(item) for item in sorted(fresh, key=_outside)))

    def _deque(self, value: collections.deque[Any]) -> tuple[Any, ...]:
        return (value.maxlen, *map(self.form_of, value))

    def _function(self, value: FunctionType) -> tuple[Any, ...]:
        defaults = self.form_of(value.__defaults__), self.form_of(value.__kwdefaults__)
        return value.__code__.co_qualname, *defaults, self.form_of(value.__closure__), self.form_of(value.__dict__)

    def _cell(self, value: CellType) -> tuple[Any, ...]:
        try:
            return (self.form_of(value.cell_contents),)
        except ValueError:
            return ("empty",)

    def _exception(self, value: BaseException) -> tuple[Any, ...]:
        chain = self.form_of(value.__cause__), self.form_of(value.__context__), value.__suppress_context__
        return self.form_of(value.args), self.form_of(value.__dict__), chain

    def _generator(self, value: GeneratorType) -> tuple[Any, ...]:
        """Where a suspended generator stands. One that was rebuilt has no longer the variables that it won't read."""
        frame = value.gi_frame
        if frame is None:
            return value.__qualname__, "finished"
        return value.__qualname__, frame.f_lineno

    def _iterator(self, value: Any) -> tuple[Any, ...]:
        """A built-in iterator: what it iterates over, and where it stands; copying it doesn't advance it."""
        try:
            _, over, *position = value.__reduce__()
        except RuntimeError as error:  # the dict that it goes through has changed, so it is of no more use
            return ("no more", str(error))
        if over and isinstance(over[0], range):  # it matters only what is still to come
            return (self.form_of(over[0][position[0] if position and position[0] else 0 :]),)
        return tuple(self.form_of(part) for part in (over, *position))

    def _class(self, value: type) -> tuple[Any, ...]:
        """A class of the program: the attributes that it has now."""
        shown = {
            k: v
            for k, v in vars(value).items()
            if not k.startswith("__") and not hasattr(type(v), "__get__") and k not in FLAGS_MADE
        }
        return value.__qualname__, *self._items(shown)

    def _tensor(self, x: TensorBase) -> tuple[Any, ...]:
        memory = x.storage.memory
        storage = self._numbers.setdefault(id(memory), len(self._numbers))
        self._alive.append(memory)
        self._gradients.add(id(x.grad))
        offset = None if id(x) in self._gradients else x.offset
        layout = tuple(x.sizes), tuple(x.strides), offset, repr(x.dtype), x.requires_grad, x.grad_fn is None
        hung = tuple((name, self.form_of(item)) for name, item in vars(x).items() if name not in TENSOR_STATE)
        version = x.storage.version if self.versions else None
        base = None if x.base is None or not self.versions else (self.form_of(x.base), x.untracked)
        return storage, layout, x.array.tobytes(), self.form_of(x.grad), version, base, hung


def _own(value: Any, name: str) -> Any:
    """An attribute as it is kept, whatever the class has to say about attributes; NOTHING if there is none."""
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return NOTHING


def _outside(value: Any) -> str:
    """An order for objects that were not met before."""
    return f"{type(value).__qualname__} {sorted(map(repr, vars(value).items())) if hasattr(value, '__dict__') else ''}"


Rule = Callable[[Canonicalizer, Any], tuple[Any, ...]]
RULES: dict[tuple[type, ...], Rule] = {
    (TensorBase,): Canonicalizer._tensor,
    (list,): lambda forms, value: tuple(map(forms.form_of, list.__iter__(value))),  # below an `__iter__` of its own
    (tuple,): lambda forms, value: tuple(map(forms.form_of, tuple.__iter__(value))),
    (int,): lambda forms, value: (int.__repr__(value),),
    (str,): lambda forms, value: (str.__repr__(value),),
    (collections.defaultdict,): lambda forms, value: (forms.form_of(value.default_factory), *forms._items(value)),
    (dict,): Canonicalizer._items,
    (set, frozenset): Canonicalizer._members,
    (collections.deque,): Canonicalizer._deque,
    (MappingProxyType,): lambda forms, value: forms._items(dict(value)),
    (MethodType,): lambda forms, value: (forms.form_of(value.__func__), forms.form_of(value.__self__)),
    (CellType,): Canonicalizer._cell,
    (GeneratorType,): Canonicalizer._generator,
    (functools.partial,): lambda forms, value: tuple(map(forms.form_of, (value.func, value.args, value.keywords))),
    (ReferenceType,): lambda forms, value: (forms.form_of(value()),),
    (property, staticmethod, classmethod): lambda forms, value: ("descriptor",),
    ITERATORS: Canonicalizer._iterator,
}
WITH_ATTRIBUTES: dict[type, Rule] = {
    FunctionType: Canonicalizer._function,
    BaseException: Canonicalizer._exception,
    type: Canonicalizer._class,
}
