"""How Python finds an attribute on a class, and what it does with what it finds.

`look_up` is CPython's `_PyType_Lookup`: the first class in the order of resolution whose `__dict__` has the name. While
a function is traced, its answers are guarded (`class_guards.py`).
`bind_class_attribute` is the descriptor protocol: functions become methods, properties are called, and so on.

>>> class Base:
...     def method(self): ...
>>> class Derived(Base):
...     value = 1
>>> look_up(Derived, "method").owner.__name__, look_up(Derived, "value").value, look_up(Derived, "nothing")
('Base', 1, None)
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.guards.class_guards import HEAP_TYPE, class_member, is_immutable, note_lookup
from minitorch_compile.dynamo.guards.library_members import same_attribute
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.tensor import Op, dtype

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

LIBRARY = __name__.partition(".")[0]
FIXED_PLACES = (MemberDescriptorType, GetSetDescriptorType)  # slots, and fields of objects written in C
HOLDERS = (staticmethod, classmethod, property, functools.cached_property)
FIXED_TYPES = (FunctionType, BuiltinFunctionType, type, ModuleType, Op, dtype, property, classmethod, staticmethod)


@dataclass(frozen=True)
class Found:
    """An attribute as it lies in the `__dict__` of `owner`, found by looking up `name` on `cls`."""

    cls: type
    owner: type
    name: str
    value: Any

    @property
    def is_data_descriptor(self) -> bool:
        return has_method(type(self.value), "__set__") or has_method(type(self.value), "__delete__")

    @property
    def is_descriptor(self) -> bool:
        return has_method(type(self.value), "__get__")


def look_up(cls: type, name: str, after: type | None = None, *, exactly: bool = False) -> Found | None:
    """The attribute as the order of resolution gives it; with `after`, from behind that class (super). `exactly`: it
    must be the very same at the next call, also if it is a function, which is guarded by its code otherwise."""
    owner = owner_of(cls, name, after, exactly=exactly)
    return None if owner is None else Found(cls, owner, name, owner.__dict__[name])


def owner_of(cls: type, name: str, after: type | None = None, *, exactly: bool = False) -> type | None:
    """The class that has the attribute which `look_up` finds."""
    order = cls.__mro__
    if after is not None:
        order = order[order.index(after) + 1 :]
    for position, owner in enumerate(order):
        if name in owner.__dict__:
            note_lookup(cls, order[:position], name, owner, exactly)
            return owner
    note_lookup(cls, order, name, None)
    return None


def has_method(cls: type, name: str) -> bool:
    """Whether Python finds the special method of instances.

    >>> has_method(list, "__len__"), has_method(int, "__len__")
    (True, False)
    """
    return owner_of(cls, name) is not None


def printed_name(cls: type) -> str:
    """A class as CPython's messages name it: one written in C with its module.

    >>> import collections
    >>> printed_name(collections.deque), printed_name(dict), printed_name(type("C", (), {}))
    ('collections.deque', 'dict', 'C')
    """
    if cls.__flags__ & HEAP_TYPE or cls.__module__ == "builtins":
        return cls.__name__
    return f"{cls.__module__}.{cls.__name__}"


def is_shadowed(cls: type, name: str) -> bool:
    """Whether the class has a descriptor in Python that answers before the instance's own attribute of that name.

    >>> is_shadowed(type("C", (), {"size": property(lambda self: 1), "__slots__": ("slot",)}), "size")
    True
    """
    found = look_up(cls, name)
    return found is not None and found.is_data_descriptor and not isinstance(found.value, FIXED_PLACES)


def is_library(owner: Any) -> bool:
    """Whether a class or function belongs to this package."""
    module = getattr(owner, "__module__", None)
    return isinstance(module, str) and is_library_name(module)


def is_library_name(module: str) -> bool:
    """Whether a module is of this package. Its front page may be called torch (as_torch), and so the classes there."""
    return module.partition(".")[0] == LIBRARY or module == sys.modules[LIBRARY].__name__


def is_fixed(value: Any) -> bool:
    """Whether a name of this package that has this value is guarded to be this very object (`library_members.py`):
    functions, classes, operations, dtypes. Settings and counters do change, and are guarded by value."""
    return isinstance(value, FIXED_TYPES)


def guard_found(tracer: Tracer, found: Found) -> None:
    """What was found will be found again."""
    tracer.output.guards.add(*same_attribute(tracer.output.names, found.owner, found.name, found.value))


def class_attribute_source(tracer: Tracer, found: Found, value: Any, *path: str) -> Source:
    """Where to read `value`, which lies at `path` below what `found.cls.name` gives."""
    if is_library(found.owner) and is_fixed(found.value):
        guard_found(tracer, found)
        return tracer.output.constant_source(value, f"{found.owner.__name__}_{found.name}")
    if is_immutable(found.owner):
        return tracer.output.constant_source(value, found.name)
    source = class_member(tracer.output.names, found.owner, found.name)
    for step in path:
        source = AttrSource(source, step)
    return source


def bind_class_attribute(tracer: Tracer, instance: VariableTracker, found: Found) -> Value:
    """What `instance.name` gives when the class's attribute answers."""
    from minitorch_compile.dynamo.variables.functions.functions import MethodVariable
    from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable

    raw = found.value
    if isinstance(raw, (FunctionType, functools._lru_cache_wrapper)):
        return MethodVariable(wrap_found(tracer, found, raw), instance)
    if answers_itself(raw, "__get__"):
        return _bind_other(tracer, instance, found)
    if isinstance(raw, staticmethod):
        return wrap_found(tracer, found, raw.__func__, "__func__")
    if isinstance(raw, classmethod):
        check_classmethod(instance, found)
        cls = tracer.output.wrap_constant(found.cls, found.cls.__name__)
        if found.name == "apply" and hasattr(found.cls, "node_class"):  # of an autograd.Function
            return tracer.load_attr(cls, "apply")
        return MethodVariable(wrap_found(tracer, found, raw.__func__, "__func__"), cls)
    if isinstance(raw, property):
        if raw.fget is None:
            raise_of_property(tracer, found, property.__get__)
        return tracer.call(wrap_found(tracer, found, raw.fget, "fget"), [instance], {})
    if isinstance(raw, functools.cached_property):
        value = tracer.call(wrap_found(tracer, found, raw.func, "func"), [instance], {})
        tracer.store_attr(instance, found.name, value)
        return value
    if type(raw).__module__ == "builtins" and callable(raw) and not isinstance(raw, type) and found.is_descriptor:
        answering = look_up(instance.python_type(), found.name)
        is_overridden = answering is not None and answering.value is not raw
        access = look_up(instance.python_type(), "__getattribute__")
        is_read_anew = access is None or not isinstance(access.value, FunctionType)
        return BuiltinMethodVariable(instance, found.name, raw if is_overridden or not is_read_anew else None)
    return _bind_other(tracer, instance, found)


def answers_itself(raw: Any, name: str) -> bool:
    """Whether it is a property, static method or the like, of a class that has a `__get__` or `__set__` of its own.

    >>> class Fixed(property):
    ...     def __get__(self, instance, owner=None): return 5
    >>> answers_itself(Fixed(), "__get__"), answers_itself(Fixed(), "__set__"), answers_itself(property(), "__get__")
    (True, False, False)
    """
    kind = next((kind for kind in HOLDERS if isinstance(raw, kind)), None)
    return kind is not None and getattr(type(raw), name, None) is not getattr(kind, name, None)


def raise_of_property(tracer: Tracer, found: Found, access: Callable[..., Any]) -> NoReturn:
    """What Python says where a property has no getter or setter. Only a class statement gives properties a name, and
    that name stays, so the property itself is asked, with an object of a class that is called the same."""
    look_up(found.cls, found.name, exactly=True)
    namesake = type(found.cls.__name__, (), {"__qualname__": found.cls.__qualname__})
    tracer.compute(access, found.value, namesake(), None)
    raise AssertionError(f"the property {found.name!r} has what it is said to lack")


def is_standard(found: Found) -> bool:
    """Whether a class written in C answers, or the standard library for enums and abstract classes.

    >>> import enum
    >>> [is_standard(look_up(*place)) for place in ((int, "__add__"), (enum.Flag, "__or__"), (Found, "is_descriptor"))]
    [True, True, False]
    """
    function = found.value
    if isinstance(function, (classmethod, staticmethod)):
        function = function.__func__
    if isinstance(function, property):
        function = function.fget
    if isinstance(function, FunctionType):
        return function.__module__ in ("enum", "abc")
    return is_immutable(found.owner) or isinstance(function, (WrapperDescriptorType, MethodDescriptorType))


def method_in_python(tracer: Tracer, value: VariableTracker, name: str) -> Value | None:
    """The special method that the value's class states in Python, bound, to be traced; None, guarded, if there is none
    or the standard one."""
    cls = value.python_type()
    found = look_up(cls, name)
    if found is None:
        return None
    if is_standard(found):
        look_up(cls, name, exactly=True)
        return None
    if not isinstance(found.value, FunctionType):
        value.unsupported(f"{name} of the class {cls.__name__}", "metaclass-or-descriptor")
    return bind_class_attribute(tracer, value, found)


def check_classmethod(instance: VariableTracker, found: Found) -> None:
    """Until 3.12, what is below a classmethod is asked for its own `__get__`, as a property is; functions become
    methods."""
    below = found.value.__func__
    if hasattr(type(below), "__get__") and not isinstance(below, (FunctionType, functools._lru_cache_wrapper)):
        instance.unsupported(f"'{found.name}', a class method of a {type(below).__name__},", "metaclass-or-descriptor")


def _bind_other(tracer: Tracer, instance: VariableTracker, found: Found) -> Value:
    """Plain values as they are; descriptors written in Python by calling their `__get__`."""
    from minitorch_compile.dynamo.variables.functions.functions import MethodVariable

    getter = look_up(type(found.value), "__get__")
    value = wrap_found(tracer, found, found.value)
    if getter is None:
        return value
    if not isinstance(getter.value, FunctionType) or isinstance(found.value, MemberDescriptorType):
        instance.unsupported(
            f"the attribute '{found.name}', a {type(found.value).__name__},", "metaclass-or-descriptor"
        )
    descriptor = tracer.output.wrap_constant(
        found.value, found.name
    )  # Python reads it from the class without calling it
    get = MethodVariable(wrap_found(tracer, getter, getter.value), descriptor)
    return tracer.call(get, [instance, tracer.output.wrap_constant(found.cls, found.cls.__name__)], {})


def wrap_found(tracer: Tracer, found: Found, value: Any, *path: str) -> Value:
    """A value below a class attribute, guarded to be the same at the next call."""
    source = class_attribute_source(tracer, found, value, *path)
    return tracer.output.wrap(value, source)
