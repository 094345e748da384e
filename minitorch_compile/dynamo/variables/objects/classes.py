"""Classes: reading their attributes, and making instances by tracing `__new__` and `__init__`.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> class Scale:
...     def __init__(self, by):
...         self.by = by
...     def __call__(self, x):
...         return x * self.by
>>> print(captured(lambda x: Scale(3)(x), ones(2)))
x -> (x * 3,)
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Hashable
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType

from minitorch_compile.control import FORBIDDEN
from minitorch_compile.dynamo.errors import ForbiddenCall, Unsupported
from minitorch_compile.dynamo.guards.class_guards import is_immutable, note_metaclass
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import AttrSource
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handler_of
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.sequences import NamedTupleVariable, is_plain_named_tuple
from minitorch_compile.dynamo.variables.containers.user_containers import UserContainerVariable, container_base
from minitorch_compile.dynamo.variables.functions import polyfills
from minitorch_compile.dynamo.variables.functions.autograd_functions import ApplyVariable
from minitorch_compile.dynamo.variables.functions.functions import MethodVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import (
    Found,
    answers_itself,
    bind_class_attribute,
    check_classmethod,
    guard_found,
    is_library,
    is_standard,
    look_up,
    method_in_python,
    printed_name,
    wrap_found,
)
from minitorch_compile.dynamo.variables.objects.finalizers import has_finalizer, refuse
from minitorch_compile.dynamo.variables.objects.method_names import BINARY_METHODS, COMPARE_METHODS, UNARY_METHODS
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable, is_user_class
from minitorch_compile.dynamo.variables.objects.special_answers import judged
from minitorch_compile.dynamo.variables.objects.tensor_methods import TensorMethodVariable
from minitorch_compile.dynamo.variables.objects.type_forms import subscripted, union
from minitorch_compile.dynamo.variables.rebuilding import Template, held_class
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.guards.source import Source
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

CLASS_METHODS: dict[tuple[type, str], Any] = {(itertools.chain, "from_iterable"): polyfills.chain_from_iterable}
PLAIN_METACLASSES = (type, abc.ABCMeta)


class ClassVariable(VariableTracker):
    """A class object."""

    def __init__(self, cls: type, source: Source | None = None) -> None:
        super().__init__(source)
        self.cls = cls

    def describe(self) -> str:
        return f"the class {self.cls.__qualname__}"

    def python_type(self) -> type:
        note_metaclass(self.cls)
        return type(self.cls)

    def real_value(self) -> Any:
        return self.cls

    def is_constant(self) -> bool:
        return True

    def as_constant(self) -> Any:
        return self.cls

    def hash_key(self, tracer: Tracer) -> Hashable:
        if self.special(tracer, "__hash__") is not None or self.special(tracer, "__eq__") is not None:
            self.unsupported("hashing with a __hash__ or __eq__ of the metaclass", "metaclass-or-descriptor")
        return ("value", self.cls)

    def truth(self, tracer: Tracer) -> bool:
        for name in ("__bool__", "__len__"):
            method = self.special(tracer, name)
            if method is not None:
                return bool(judged(tracer, bool, name, tracer.call(method, [], {})))
        return True

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        method = self.special(tracer, COMPARE_METHODS[op])
        if method is None and op == "!=" and self.special(tracer, "__eq__") is not None:
            self.unsupported("!= by the __eq__ of the metaclass", "metaclass-or-descriptor")
        return None if method is None else self._answer(tracer, method, other)

    @staticmethod
    def _answer(tracer: Tracer, method: Value, other: VariableTracker) -> Value | None:
        """What a method of the metaclass says; None for NotImplemented."""
        result = tracer.call(method, [other], {}).realize()
        return None if result.python_type() is type(NotImplemented) else result

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        """`Tensor | None`, in an annotation."""
        method = self.special(tracer, f"__{BINARY_METHODS[op]}__")
        if method is not None:
            return self._answer(tracer, method, other)
        return union(tracer, self.cls, other.as_constant()) if op == "|" and other.is_constant() else None

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        method = self.special(tracer, f"__r{BINARY_METHODS[op]}__")
        if method is not None:
            return self._answer(tracer, method, other)
        return union(tracer, other.as_constant(), self.cls) if op == "|" and other.is_constant() else None

    def unary(self, tracer: Tracer, op: str) -> Value:
        method = self.special(tracer, UNARY_METHODS[op])
        return super().unary(tracer, op) if method is None else tracer.call(method, [], {})

    def special(self, tracer: Tracer, name: str) -> Value | None:
        """The special method that a metaclass in Python gives its classes; None for what `type`, ABCMeta and EnumMeta
        do."""
        return method_in_python(tracer, self, name)

    def check_text(self, tracer: Tracer) -> None:
        self.to_text(tracer, "repr")

    # --- attributes ---------------------------------------------------------------------------------------------------

    def getattr(self, tracer: Tracer, name: str) -> Value:
        stored = tracer.side_effects.attribute(self, name)
        if stored is not None:
            return stored
        if name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"):
            return self._metadata(tracer, name)
        if name == "__class__":
            return tracer.output.wrap_constant(type(self.cls), type(self.cls).__name__)
        of_metaclass = self._python_attribute_of_metaclass(name)
        if of_metaclass is not None and isinstance(of_metaclass.value, property):
            return bind_class_attribute(tracer, self, of_metaclass)  # a data descriptor comes before the class's own
        found = look_up(self.cls, name)
        newer = tracer.side_effects.on_class(self.cls, name, found)
        if newer is not None:
            return newer
        if found is not None:
            return self._bind(tracer, found)
        return self._from_metaclass(tracer, name)

    def _metadata(self, tracer: Tracer, name: str) -> Value:
        """What it is called, and where it comes from: all of that can be assigned."""
        value = tracer.compute(getattr, self.cls, name)
        if is_immutable(self.cls) or self.cls in tracer.output.made_classes:
            return tracer.output.from_python(value)
        return tracer.output.wrap(value, AttrSource(tracer.output.constant_source(self.cls, self.cls.__name__), name))

    def _python_attribute_of_metaclass(self, name: str) -> Found | None:
        """What a metaclass written in Python gives its classes."""
        metaclass = self.python_type()
        if metaclass in PLAIN_METACLASSES:
            return None
        found = look_up(metaclass, name)
        if found is None or is_standard(found) or not isinstance(found.value, (property, FunctionType)):
            return None
        return found

    def _bind(self, tracer: Tracer, found: Found) -> Value:
        raw = found.value
        if issubclass(self.cls, TensorBase) and is_library(found.owner) and callable(raw):
            return TensorMethodVariable(raw, found.name)
        if isinstance(raw, FunctionType):
            return wrap_found(tracer, found, raw)
        if answers_itself(raw, "__get__"):
            self.unsupported(f"the attribute '{found.name}', a {type(raw).__name__},", "metaclass-or-descriptor")
        if isinstance(raw, staticmethod):
            return wrap_found(tracer, found, raw.__func__, "__func__")
        if found.name == "apply" and hasattr(self.cls, "node_class") and is_library(found.owner):
            return ApplyVariable(self.cls)
        if isinstance(raw, classmethod):
            check_classmethod(self, found)
            return MethodVariable(wrap_found(tracer, found, raw.__func__, "__func__"), self)
        if not found.is_descriptor or isinstance(raw, (property, type)):
            return wrap_found(tracer, found, raw)
        if type(raw).__module__ == "builtins" and isinstance(getattr(self.cls, found.name), type(raw)):
            return wrap_found(tracer, found, getattr(self.cls, found.name))  # list.append, dict.get: not bound
        if type(raw).__module__ == "builtins" and callable(getattr(self.cls, found.name)):
            return BuiltinMethodVariable(self, found.name)  # dict.fromkeys, int.from_bytes: bound to the class
        self.unsupported(f"the attribute '{found.name}', a {type(raw).__name__},", "metaclass-or-descriptor")

    def _from_metaclass(self, tracer: Tracer, name: str) -> Value:
        """Attributes that type() answers for a class: __mro__, __bases__, __members__ of an enum."""
        if name in ("__mro__", "__bases__", "__members__", "__dict__", "__base__"):
            value = tracer.compute(getattr, self.cls, name)
            if isinstance(value, (tuple, str, int, type)):
                return tracer.output.from_python(value)
            self.unsupported(f"the attribute '{name}'")
        of_metaclass = self._python_attribute_of_metaclass(name)
        if of_metaclass is not None:
            return bind_class_attribute(tracer, self, of_metaclass)
        if type(self.cls) in PLAIN_METACLASSES and not hasattr(self.cls, name):
            tracer.raise_error(AttributeError, f"type object '{printed_name(self.cls)}' has no attribute '{name}'")
        if hasattr(type, name) and callable(getattr(type, name)):
            return BuiltinMethodVariable(self, name)
        self.unsupported(f"the attribute '{name}'", "metaclass-or-descriptor")

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        if type(self.cls) not in PLAIN_METACLASSES or not is_user_class(self.cls) or is_library(self.cls):
            self.unsupported(f"setting '{name}'", "unsupported-store")
        if name.startswith("__") or hasattr(type(self.cls.__dict__.get(name)), "__set__"):
            self.unsupported(f"setting '{name}'", "unsupported-store")
        if hasattr(value.realize().python_type(), "__get__"):
            self.unsupported(f"setting '{name}' to a function or descriptor", "unsupported-store")
        tracer.side_effects.store_attribute(self, name, value)
        tracer.side_effects.stored_on_classes.setdefault(name, {})[self.cls] = value

    # --- making instances ---------------------------------------------------------------------------------------------

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        handler = handler_of(self.cls)
        if handler is not None:
            return tracer.checked_call(handler, tracer, *args, **kwargs)
        if FORBIDDEN in vars(self.cls):
            raise ForbiddenCall.of(self.cls)
        if issubclass(self.cls, ReferenceType):
            raise refuse("what a weak reference is made to", "may have to end when its last reference goes")
        if issubclass(self.cls, BaseException):
            self._check_call_of_metaclass()
            return self._exception(tracer, args, kwargs)
        self._check_call_of_metaclass()
        if is_plain_named_tuple(self.cls):
            return self._named_tuple(tracer, args, kwargs)
        base = container_base(self.cls)
        if base is None and not is_user_class(self.cls):
            self.unsupported("making an instance", "unsupported-call")
        return self._instance(tracer, args, kwargs)

    def _check_call_of_metaclass(self) -> None:
        if look_up(self.python_type(), "__call__").owner is not type:  # type: ignore[union-attr]
            self.unsupported(
                "making an instance, for which the metaclass has its own __call__,", "metaclass-or-descriptor"
            )

    def _instance(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        abstract = look_up(self.cls, "__abstractmethods__") if isinstance(self.cls, abc.ABCMeta) else None
        if abstract is not None:
            guard_found(tracer, abstract)
        if abstract is not None and abstract.owner is self.cls and abstract.value:
            raise Unsupported("raised-exception", f"the class {self.cls.__qualname__} is abstract.")
        if has_finalizer(self.cls):
            raise refuse(f"a new {self.cls.__qualname__}")
        maker = look_up(self.cls, "__new__")
        init = look_up(self.cls, "__init__")
        assert maker is not None and init is not None
        base = container_base(self.cls)
        if base is not None and maker.owner in base.__mro__:
            return self._container(tracer, base, args, kwargs)
        if maker.owner is object:
            instance: VariableTracker = UserObjectVariable(self.cls)
            if init.owner is object and (args or kwargs):
                tracer.raise_error(TypeError, f"{self.cls.__name__}() takes no arguments")
        else:
            is_static = isinstance(maker.value, staticmethod)  # as Python makes every __new__ of a class statement
            function = wrap_found(tracer, maker, *(maker.value.__func__, "__func__") if is_static else (maker.value,))
            instance = tracer.call(function, [self, *args], kwargs).realize()
            if not issubclass(instance.python_type(), self.cls):
                return instance
            init = look_up(instance.python_type(), "__init__")  # __new__ may have made one of a derived class
            assert init is not None
        if init.owner is object:
            return instance
        returned = tracer.call(wrap_found(tracer, init, init.value), [instance, *args], kwargs).realize()
        if not returned.is_constant() or returned.as_constant() is not None:
            tracer.raise_error(TypeError, f"__init__() should return None, not '{returned.python_type().__name__}'")
        return instance

    def _container(self, tracer: Tracer, base: type, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """An instance of a class derived from dict or list."""
        instance = UserContainerVariable(self.cls, base)
        init = look_up(self.cls, "__init__")
        if init is not None and isinstance(init.value, FunctionType):
            tracer.call(wrap_found(tracer, init, init.value), [instance, *args], kwargs)
        else:
            instance.inherited(tracer, "__init__", args, kwargs)
        return instance

    def _exception(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        from minitorch_compile.dynamo.variables.exceptions import ExceptionVariable

        made = ExceptionVariable(self.cls, args)
        init = look_up(self.cls, "__init__")
        if init is not None and isinstance(init.value, FunctionType):
            tracer.call(wrap_found(tracer, init, init.value), [made, *args], kwargs)
        elif kwargs:
            self.unsupported("keyword arguments")
        return made

    def _named_tuple(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        maker = look_up(self.cls, "__new__")
        assert maker is not None
        function = maker.value.__func__ if isinstance(maker.value, staticmethod) else maker.value
        placeholder = tracer.output.wrap_constant(function, f"{self.cls.__name__}_new").realize()
        slots = placeholder.bind(tracer, [self, *args], kwargs)  # type: ignore[attr-defined]
        return NamedTupleVariable(self.cls, [slots[name] for name in self.cls._fields])  # type: ignore[attr-defined]

    # --- the rest -----------------------------------------------------------------------------------------------------

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        method = self.special(tracer, "__iter__")
        if method is not None:
            return tracer.as_iterator(tracer.call(method, [], {}))
        if look_up(self.python_type(), "__getitem__") is not None:
            self.unsupported("iterating by the metaclass's __getitem__", "metaclass-or-descriptor")
        tracer.raise_error(TypeError, f"'{type(self.cls).__name__}' object is not iterable")

    def contains(self, tracer: Tracer, item: Value) -> Value:
        method = self.special(tracer, "__contains__")
        if method is None:
            return super().contains(tracer, item)
        return ConstantVariable(tracer.truth(tracer.call(method, [item], {})))

    def length(self, tracer: Tracer) -> int:
        method = self.special(tracer, "__len__")
        if method is None:
            return super().length(tracer)
        return int(judged(tracer, len, "__len__", tracer.call(method, [], {})))

    def _of_type(self, tracer: Tracer, key: Value) -> Value:
        """`list[int]`, or what a `__class_getitem__` of the program gives."""
        owner = next((cls for cls in self.cls.__mro__ if "__class_getitem__" in vars(cls)), object)
        method = getattr(vars(owner).get("__class_getitem__"), "__func__", None)
        if type(method) is FunctionType and owner.__module__ != "typing":
            return tracer.call(self.getattr(tracer, "__class_getitem__"), [key], {})
        return subscripted(tracer, self.cls, key)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__getitem__" and self.special(tracer, "__getitem__") is None:
            return self._of_type(tracer, args[0])
        if (self.cls, name) in CLASS_METHODS:
            return tracer.call(tracer.polyfill(CLASS_METHODS[self.cls, name]), args, kwargs)
        if name == "fromkeys" and self.cls is dict:
            value = args[1] if len(args) > 1 else tracer.output.from_python(None)
            keys = tracer.unpack_all(args[0])
            return tracer.build_map(keys, [value] * len(keys))
        if self.cls in (int, float, str, bytes) and all(arg.realize().is_constant() for arg in args) and not kwargs:
            return tracer.output.from_python(
                tracer.compute(getattr(self.cls, name), *(tracer.constant(arg) for arg in args))
            )
        if name == "__subclasses__" and self.source is not None:
            return self._subclasses(tracer, self.source)
        return super().call_method(tracer, name, args, kwargs)

    def _subclasses(self, tracer: Tracer, source: Source) -> Value:
        """The classes derived from it that live now; guarded, since others may follow."""
        known = tracer.compute(self.cls.__subclasses__)
        name = tracer.output.names.install(known, f"subclasses_of_{self.cls.__name__}")
        check = f"{{0}}.__subclasses__() == {name}"
        tracer.output.guards.add(Guard(source, "SUBCLASSES", check, "the same subclasses"))
        return tracer.output.from_python(known)

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        if type(self.cls) in PLAIN_METACLASSES:
            for name in ("__module__", "__qualname__"):
                self._metadata(tracer, name).realize()  # guarded
            return repr(self.cls)
        return super().to_text(tracer, conversion)

    def format(self, tracer: Tracer, spec: str) -> str:
        return self.to_text(tracer, "str") if not spec else super().format(tracer, spec)

    def reconstruct(self, output: Output) -> Template:
        return Template(held_class(self.cls))
