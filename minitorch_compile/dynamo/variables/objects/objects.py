"""Objects of classes written in Python, from outside or made while tracing. Modules of neural networks are such
objects.

Attribute access follows `object.__getattribute__` step by step: a data descriptor of the class, the instance's
`__dict__`, the class, `__getattr__`. What the program stores is kept on the side and stored for real after the graph
has run.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> class Counter:
...     def __init__(self):
...         self.n = 0
...     def step(self, x):
...         self.n += 1
...         return x * 2
>>> print(generated(lambda counter, x: counter.step(x), Counter(), ones(2)))        # doctest: +ELLIPSIS
(out_0,) = graph(x)
counter.n = t_...
return out_0
"""

from __future__ import annotations

import collections
from collections.abc import Hashable
from types import FunctionType, MemberDescriptorType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.execution.concrete import CONVERT
from minitorch_compile.dynamo.guards import content_guards
from minitorch_compile.dynamo.guards.class_guards import HEAP_TYPE
from minitorch_compile.dynamo.guards.source import (
    AttrSource,
    InstanceAttrSource,
    ItemSource,
    PastClassDictSource,
    SlotSource,
    Source,
)
from minitorch_compile.dynamo.variables.base import MISSING, ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
from minitorch_compile.dynamo.variables.functions import polyfills
from minitorch_compile.dynamo.variables.functions.functions import MethodVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import (
    Found,
    answers_itself,
    bind_class_attribute,
    is_shadowed,
    look_up,
    printed_name,
    raise_of_property,
    wrap_found,
)
from minitorch_compile.dynamo.variables.objects.method_names import BINARY_METHODS, COMPARE_METHODS, UNARY_METHODS
from minitorch_compile.dynamo.variables.objects.own_attributes import (
    attributes_source,
    instance_dict,
    own_attribute,
    own_attributes,
)
from minitorch_compile.dynamo.variables.objects.special_answers import judged
from minitorch_compile.dynamo.variables.rebuilding import Held, Made, Part, Template, call, new_object
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

PLAIN_ACCESS = (
    object,
    dict,
    list,
    collections.OrderedDict,
    collections.defaultdict,
    collections.deque,
    set,
    frozenset,
    tuple,
    str,
    bytes,
    int,
    float,
    SimpleNamespace,
)  # attributes as of any object


class UserObjectVariable(VariableTracker):
    """An instance of a class written in Python. `real` is MISSING if the traced program made it."""

    def __init__(self, cls: type, source: Source | None = None, real: Any = MISSING) -> None:
        super().__init__(source)
        self.cls = cls
        self.real = real

    def python_type(self) -> type:
        return self.cls

    def real_value(self) -> Any:
        return self.real

    def describe(self) -> str:
        return f"a {self.cls.__qualname__} object"

    # --- attributes ---------------------------------------------------------------------------------------------------

    def getattr(self, tracer: Tracer, name: str) -> Value:
        custom = self._overridden("__getattribute__")
        if custom is not None:
            return self._or_getattr(
                tracer,
                name,
                lambda: tracer.call(bind_class_attribute(tracer, self, custom), [ConstantVariable(name)], {}),
            )
        return self._or_getattr(tracer, name, lambda: self.generic_getattr(tracer, name))

    def _overridden(self, name: str) -> Found | None:
        """A method of attribute access that the class has in Python; None if it is the one of `object`."""
        found = look_up(self.cls, name)
        if found is None or found.owner in PLAIN_ACCESS:
            return None
        if not isinstance(found.value, FunctionType):
            self.unsupported(f"attribute access through a {name} in C", "metaclass-or-descriptor")
        return found

    def _or_getattr(self, tracer: Tracer, name: str, find: Any) -> Value:
        """An AttributeError makes Python ask the class's `__getattr__`."""
        fallback = look_up(self.cls, "__getattr__")
        if fallback is None:
            return find()
        try:
            return find()
        except ObservedException as error:
            if not issubclass(error.value.python_type(), AttributeError):
                raise
        return tracer.call(bind_class_attribute(tracer, self, fallback), [ConstantVariable(name)], {})

    def generic_getattr(self, tracer: Tracer, name: str) -> Value:
        """object.__getattribute__(self, name)"""
        found = look_up(self.cls, name)
        if name == "__class__" and found is not None and found.owner is object:
            return tracer.output.wrap_constant(self.cls, self.cls.__name__)
        if name == "__dict__" and self.cls.__dictoffset__:  # a class of slots alone makes instances without one
            from minitorch_compile.dynamo.variables.objects.instance_dict import InstanceDictVariable

            return InstanceDictVariable(self)
        if found is not None and isinstance(found.value, MemberDescriptorType):
            return self._slot(tracer, found)
        if found is not None and found.is_data_descriptor:
            return bind_class_attribute(tracer, self, found)
        value = self.instance_attribute(tracer, name)
        if value is not None:
            return value
        newer = tracer.side_effects.on_class(self.cls, name, found)
        if newer is not None:
            return newer
        if found is not None:
            return bind_class_attribute(tracer, self, found)
        tracer.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")

    def _slot(self, tracer: Tracer, found: Found) -> Value:
        """An attribute declared in __slots__."""
        stored = tracer.side_effects.attribute(self, found.name)
        if stored is not None:
            return stored
        if self.real is MISSING or tracer.side_effects.is_deleted(self, found.name):
            tracer.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{found.name}'")
        assert self.source is not None
        slot = SlotSource(self.source, found.name, tracer.output.names.install(found.value, f"slot_{found.name}"))
        try:
            value = found.value.__get__(self.real)
        except AttributeError:
            tracer.output.guards.add(content_guards.slot_empty(slot, tracer.output.names))
            tracer.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{found.name}'")
        source = AttrSource(self.source, found.name) if look_up(self.cls, "__getattr__") is None else slot
        tracer.output.guards.must_read(source)
        return tracer.output.wrap(value, source)

    def instance_attribute(self, tracer: Tracer, name: str) -> Value | None:
        """What the instance's `__dict__` has under a name; None, guarded, if it has nothing."""
        return own_attribute(tracer, self, name, None if self.source is None else self.attribute_source(tracer, name))

    def base_attributes(self, tracer: Tracer) -> dict[str, Value]:
        """The instance's attributes from before the call, in order; guards their names."""
        attributes = instance_dict(self.real) or {}
        names = own_attributes(tracer, self)
        return {name: tracer.output.wrap(attributes[name], self.attribute_source(tracer, name)) for name in names}

    def attribute_source(self, tracer: Tracer, name: str) -> Source:
        """Where generated code reads an attribute of the instance. Where the class has one of that name too, it would
        answer for an instance that has lost its own: then the path is that of `vars(instance)[name]`."""
        assert self.source is not None
        attributes = attributes_source(tracer, self)
        if look_up(self.cls, name) is not None:
            return ItemSource(attributes, name)
        if isinstance(attributes, PastClassDictSource):
            return InstanceAttrSource(attributes, name)
        if look_up(self.cls, "__getattr__") is None:
            return AttrSource(self.source, name)
        return InstanceAttrSource(attributes, name)

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        custom = self._overridden("__setattr__")
        if custom is not None:
            tracer.call(bind_class_attribute(tracer, self, custom), [ConstantVariable(name), value], {})
            return
        self.generic_setattr(tracer, name, value)

    def generic_setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        """object.__setattr__(self, name, value)"""
        found = look_up(self.cls, name)
        if name in ("__dict__", "__class__"):
            self.unsupported(f"setting '{name}'", "unsupported-store")
        if found is not None and isinstance(found.value, property) and not answers_itself(found.value, "__set__"):
            if found.value.fset is None:
                raise_of_property(tracer, found, property.__set__)
            tracer.call(wrap_found(tracer, found, found.value.fset, "fset"), [self, value], {})
            return
        if found is not None and found.is_data_descriptor and not isinstance(found.value, MemberDescriptorType):
            self._set_through_descriptor(tracer, found, value)
            return
        if self.cls.__dictoffset__ == 0 and not isinstance(found and found.value, MemberDescriptorType):
            self.unsupported(f"setting '{name}', which is not in __slots__,", "unsupported-store")
        tracer.side_effects.store_attribute(self, name, value)

    def _set_through_descriptor(self, tracer: Tracer, found: Found, value: Value) -> None:
        setter = look_up(type(found.value), "__set__")
        if setter is None or not isinstance(setter.value, FunctionType):
            self.unsupported(f"setting '{found.name}', a {type(found.value).__name__},", "unsupported-store")
        descriptor = tracer.output.wrap_constant(found.value, found.name)
        tracer.call(MethodVariable(wrap_found(tracer, setter, setter.value), descriptor), [self, value], {})

    def delattr(self, tracer: Tracer, name: str) -> None:
        custom = self._overridden("__delattr__")
        if custom is not None:
            tracer.call(bind_class_attribute(tracer, self, custom), [ConstantVariable(name)], {})
            return
        self.generic_delattr(tracer, name)

    def generic_delattr(self, tracer: Tracer, name: str) -> None:
        found = look_up(self.cls, name)
        is_slot = found is not None and isinstance(found.value, MemberDescriptorType)
        if found is not None and is_slot:
            self._slot(tracer, found)  # or the error that it is empty
            tracer.side_effects.delete_attribute(self, name)
            return
        if found is not None and found.is_data_descriptor:
            self.unsupported(f"deleting '{name}', a {type(found.value).__name__},", "unsupported-store")
        if self.instance_attribute(tracer, name) is None:
            tracer.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")
        tracer.side_effects.delete_attribute(self, name)

    # --- special methods, looked up on the class ----------------------------------------------------------------------

    def special(self, tracer: Tracer, name: str) -> Value | None:
        """The bound special method, or None if the class has none."""
        found = look_up(self.cls, name)
        return None if found is None else self._bound_special(tracer, found)

    def _bound_special(self, tracer: Tracer, found: Found) -> Value:
        """`__iter__ = None` says that there is no iterating, in a way that differs between the methods."""
        if found.value is None:
            self.unsupported(f"{found.name} = None", "metaclass-or-descriptor")
        return bind_class_attribute(tracer, self, found)

    def _own_special(self, tracer: Tracer, name: str) -> Value | None:
        """The same, but not what every object inherits from `object`."""
        found = look_up(self.cls, name)
        return None if found is None or found.owner is object else self._bound_special(tracer, found)

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        method = self.special(tracer, "__call__")
        if method is None:
            tracer.raise_error(TypeError, f"'{self.cls.__name__}' object is not callable")
        return tracer.call(method, args, kwargs)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Methods: the class's own by name, and those that `object` has in C."""
        from minitorch_compile.dynamo.variables.objects.object_methods import OBJECT_METHODS

        found = look_up(self.cls, name)
        if found is not None and found.owner is object and name in OBJECT_METHODS:
            return tracer.checked_call(OBJECT_METHODS[name], tracer, self, *args, **kwargs)
        if found is None or not isinstance(found.value, FunctionType):
            return super().call_method(tracer, name, args, kwargs)
        return tracer.call(bind_class_attribute(tracer, self, found), args, kwargs)

    def truth(self, tracer: Tracer) -> bool:
        for name in ("__bool__", "__len__"):
            method = self.special(tracer, name)
            if method is not None:
                answer = tracer.call(method, [], {}).realize()
                if issubclass(answer.python_type(), TensorBase):
                    self.unsupported(f"bool() by a {name} that gives {answer.describe()}")
                if answer.python_type() is bool or name == "__len__" and not isinstance(answer, ConstantVariable):
                    return tracer.truth(answer)
                return bool(judged(tracer, bool, name, answer))
        return True

    def length(self, tracer: Tracer) -> int:
        method = self.special(tracer, "__len__")
        if method is None:
            return super().length(tracer)
        return int(judged(tracer, len, "__len__", tracer.call(method, [], {})))

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        method = self.special(tracer, "__iter__")
        if method is not None:
            iterator = tracer.call(method, [], {}).realize()
            if isinstance(iterator, UserObjectVariable) and look_up(iterator.cls, "__next__") is not None:
                return ObjectIterator(iterator)
            if look_up(iterator.python_type(), "__next__") is None:
                wrong = f"iter() returned non-iterator of type '{printed_name(iterator.python_type())}'"
                tracer.raise_error(TypeError, wrong)
            return tracer.as_iterator(iterator)
        if self.special(tracer, "__getitem__") is not None:
            return tracer.as_iterator(tracer.call(tracer.polyfill(polyfills.iterate_by_index), [self], {}))
        tracer.raise_error(TypeError, f"'{self.cls.__name__}' object is not iterable")

    def hint_length(self, tracer: Tracer) -> None:
        if self._own_special(tracer, "__len__") is None:
            if look_up(self.cls, "__length_hint__") is not None:
                self.unsupported("its own __length_hint__()")
            return
        try:
            self.length(tracer)
        except ObservedException as error:
            if not issubclass(error.value.python_type(), TypeError):
                raise

    def contains(self, tracer: Tracer, item: Value) -> Value:
        method = self.special(tracer, "__contains__")
        if method is None:
            return super().contains(tracer, item)
        return ConstantVariable(tracer.truth(tracer.call(method, [item], {})))

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operator(tracer, f"__{BINARY_METHODS[op]}__", other)

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operator(tracer, f"__r{BINARY_METHODS[op]}__", other)

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operator(tracer, f"__i{BINARY_METHODS[op]}__", other)

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        result = self._operator(tracer, COMPARE_METHODS[op], other)
        if (
            result is None
            and op == "!="
            and self._own_special(tracer, "__eq__") is not None
            and self._own_special(tracer, "__ne__") is None
        ):
            equal = self._operator(tracer, "__eq__", other)
            return None if equal is None else ConstantVariable(not tracer.truth(equal))
        return result

    def _operator(self, tracer: Tracer, name: str, other: VariableTracker) -> Value | None:
        method = self._own_special(tracer, name)
        if method is None:
            return None
        result = tracer.call(method, [other], {}).realize()
        return None if isinstance(result, ConstantVariable) and result.python_type() is type(NotImplemented) else result

    def unary(self, tracer: Tracer, op: str) -> Value:
        method = self.special(tracer, UNARY_METHODS[op])
        return super().unary(tracer, op) if method is None else tracer.call(method, [], {})

    def hash_key(self, tracer: Tracer) -> Hashable:
        found = look_up(self.cls, "__hash__")
        if found is None or found.value is None:
            tracer.raise_error(TypeError, f"unhashable type: '{self.cls.__name__}'")
        if found.owner is not object or look_up(self.cls, "__eq__").owner is not object:  # type: ignore[union-attr]
            self.unsupported("hashing with its own __hash__ or __eq__")
        return ("identity", id(self))

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        for name in ("__str__", "__repr__") if conversion == "str" else ("__repr__",):
            method = self._own_special(tracer, name)
            if method is not None:
                return str(judged(tracer, CONVERT[conversion], name, tracer.call(method, [], {})))
        return super().to_text(tracer, conversion)

    def format(self, tracer: Tracer, spec: str) -> str:
        method = self._own_special(tracer, "__format__")
        if method is not None:
            answer = tracer.call(method, [ConstantVariable(spec)], {})
            return str(judged(tracer, format, "__format__", answer, spec))
        return self.to_text(tracer, "str") if not spec else super().format(tracer, spec)

    def reconstruct(self, output: Output) -> Made:
        """Make it without calling __init__, whose work was traced, then give it its attributes."""
        return Made("made", new_object(self.cls))

    def storing(self, holder: Part, name: str, value: Value) -> Template:
        if is_shadowed(self.cls, name):
            return Template(holder, f".__dict__[{name!r}] = ", value)
        setter = look_up(self.cls, "__setattr__")
        if setter is not None and setter.owner is not object:
            return call(Template(Held(object, "object"), ".__setattr__"), holder, repr(name), value)
        return super().storing(holder, name, value)

    def deleting(self, holder: Part, name: str) -> Template:
        if is_shadowed(self.cls, name):
            return Template("del ", holder, f".__dict__[{name!r}]")
        return call(Template(Held(object, "object"), ".__delattr__"), holder, repr(name))


class ObjectIterator(IteratorVariable):
    """An object whose class defines `__next__`, as a loop sees it."""

    def __init__(self, owner: UserObjectVariable) -> None:
        super().__init__()
        self.owner = owner
        self.cls = owner.cls

    def as_object(self) -> VariableTracker:
        return self.owner

    def next_value(self, tracer: Tracer) -> Value | None:
        return tracer.next_or_none(self.owner)

    def reconstruct(self, output: Output) -> Template:
        return Template(self.owner)


def is_plain_access(found: Found) -> bool:
    """Whether it is how a built-in class gets, sets or deletes attributes: as `object` does."""
    return found.owner in PLAIN_ACCESS and found.name in ("__getattribute__", "__setattr__", "__delattr__")


def is_user_class(cls: type) -> bool:
    """Whether instances are plain Python objects: attributes in a dict or slots, nothing inherited from C but
    `object`."""
    return all(base is object or _is_python_class(base) for base in cls.__mro__)


def _is_python_class(cls: type) -> bool:
    """Classes made by a class statement say where instances keep their attributes; those made in C say nothing."""
    made_in_python = "__slots__" in cls.__dict__ or "__dict__" in cls.__dict__
    inherits_it = any("__dict__" in base.__dict__ for base in cls.__mro__[1:-1])
    return bool(cls.__flags__ & HEAP_TYPE) and (made_in_python or inherits_it)
