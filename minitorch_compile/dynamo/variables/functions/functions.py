"""Python functions: from outside or made while tracing; methods, partials. Calling one interprets its bytecode in
place.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def scale(x, by=2, *rest):
...     return x * by + len(rest)
>>> print(captured(lambda x: scale(x) + scale(x, 3, x), ones(2)))
x -> (((x * 2) + 0) + ((x * 3) + 1),)
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from types import CodeType, FunctionType, MethodType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.execution.binding import bind_arguments
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import AttrSource, ItemSource, Source
from minitorch_compile.dynamo.variables.base import MISSING, ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.functions.code_objects import CodeVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import look_up
from minitorch_compile.dynamo.variables.objects.own_attributes import own_attribute, own_attributes
from minitorch_compile.dynamo.variables.rebuilding import IT, Description, Held, Made, Template, call

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.scope import CellVariable, GlobalsVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class FunctionVariable(VariableTracker):
    """Something with Python bytecode. Subclasses say where defaults, closure and globals come from."""

    code: CodeType
    qualname: str

    def describe(self) -> str:
        return f"the function {self.qualname}()"

    def python_type(self) -> type:
        return FunctionType

    def defaults(self, tracer: Tracer) -> tuple[list[Value], dict[str, Value]]:
        """Values of the defaults, positional and keyword-only."""
        raise NotImplementedError

    def closure(self, tracer: Tracer) -> list[CellVariable]:
        raise NotImplementedError

    def scope(self, tracer: Tracer) -> GlobalsVariable:
        raise NotImplementedError

    def bind(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
        """The slots that the call fills. TypeError of the program if the arguments don't fit."""
        positional, keyword = self.defaults(tracer)
        name = self.qualname
        signature = SimpleNamespace(
            __code__=self.code,
            __name__=self.code.co_name,
            __qualname__=name,
            __defaults__=tuple(positional),
            __kwdefaults__=keyword,
        )
        try:
            bound = tracer.compute(bind_arguments, signature, args, kwargs)
        except ObservedException:
            self.guard_defaults(tracer)
            raise
        for default in (*positional, *keyword.values()):
            if default.source is not None and any(value is default for value in bound.values()):
                tracer.output.guards.must_read(default.source)
        return {slot: self._packed(tracer, value) for slot, value in bound.items()}

    def guard_defaults(self, tracer: Tracer) -> None:
        """The call did not fit, which depends on which parameters have defaults."""

    @staticmethod
    def _packed(tracer: Tracer, value: Any) -> Value:
        """*args arrives as a Python tuple of values, **kwargs as a dict."""
        if isinstance(value, tuple):
            return tracer.build("tuple", list(value))
        if isinstance(value, dict):
            return tracer.build_map([ConstantVariable(name) for name in value], list(value.values()))
        return value

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        slots = self.bind(tracer, args, kwargs)
        slots.update(zip(self.code.co_freevars, self.closure(tracer)))
        return tracer.inline(self, slots)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        if name in ("__code__", "__defaults__", "__kwdefaults__", "__closure__", "__globals__"):
            self.unsupported(f"setting {name}", "unsupported-store")
        tracer.side_effects.store_attribute(self, name, value)

    def getattr(self, tracer: Tracer, name: str) -> Value:
        from minitorch_compile.dynamo.variables.objects.instance_dict import InstanceDictVariable

        stored = tracer.side_effects.attribute(self, name)
        if stored is not None:
            return stored
        if name == "__dict__":
            return InstanceDictVariable(self)
        if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return self.metadata(tracer, name)
        if name == "__code__":
            return CodeVariable(self.code)
        if name == "__get__":
            return super().getattr(tracer, name)
        return self.other_attribute(tracer, name)

    def metadata(self, tracer: Tracer, name: str) -> Value:
        """What it is called, and where it comes from."""
        raise NotImplementedError

    def other_attribute(self, tracer: Tracer, name: str) -> Value:
        tracer.raise_error(AttributeError, f"'function' object has no attribute '{name}'")

    def delattr(self, tracer: Tracer, name: str) -> None:
        if look_up(FunctionType, name) is not None:
            self.unsupported(f"deleting {name}", "unsupported-store")
        if self.instance_attribute(tracer, name) is None:
            tracer.raise_error(AttributeError, f"'function' object has no attribute '{name}'")
        tracer.side_effects.delete_attribute(self, name)

    def instance_attribute(self, tracer: Tracer, name: str) -> Value | None:
        """What the function's `__dict__` has under a name."""
        return own_attribute(tracer, self, name)

    def base_attributes(self, tracer: Tracer) -> dict[str, Value]:
        """The function's own attributes from before the call."""
        return {}


class UserFunctionVariable(FunctionVariable):
    """A function that existed before the call."""

    def __init__(self, function: FunctionType, source: Source) -> None:
        super().__init__(source)
        self.function = function
        self.code = function.__code__
        self.qualname = function.__qualname__

    def real_value(self) -> Any:
        return self.function

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("value", self.function)

    def defaults(self, tracer: Tracer) -> tuple[list[Value], dict[str, Value]]:
        assert self.source is not None
        wrap = tracer.output.wrap
        values = self.function.__defaults__ or ()  # read from the end: that is how they belong to parameters
        positional = AttrSource(self.source, "__defaults__")
        keyword = AttrSource(self.source, "__kwdefaults__")
        return (
            [wrap(value, ItemSource(positional, i - len(values))) for i, value in enumerate(values)],
            {
                name: wrap(value, ItemSource(keyword, name))
                for name, value in (self.function.__kwdefaults__ or {}).items()
            },
        )

    def guard_defaults(self, tracer: Tracer) -> None:
        assert self.source is not None
        positional, keyword = AttrSource(self.source, "__defaults__"), AttrSource(self.source, "__kwdefaults__")
        count, names = len(self.function.__defaults__ or ()), list(self.function.__kwdefaults__ or {})
        tracer.output.guards.add(
            Guard(positional, "DEFAULTS", f"len({{0}} or ()) == {count}", f"{count} defaults"),
            Guard(keyword, "DEFAULTS", f"[*({{0}} or ())] == {names!r}", f"defaults for {names!r}"),
        )

    def closure(self, tracer: Tracer) -> list[CellVariable]:
        assert self.source is not None
        source = AttrSource(self.source, "__closure__")
        return [
            tracer.output.wrap_cell(cell, ItemSource(source, i))
            for i, cell in enumerate(self.function.__closure__ or ())
        ]

    def scope(self, tracer: Tracer) -> GlobalsVariable:
        return tracer.output.scope_of(self.function.__globals__)

    def metadata(self, tracer: Tracer, name: str) -> Value:
        assert self.source is not None
        return tracer.output.wrap(getattr(self.function, name), AttrSource(self.source, name))

    def other_attribute(self, tracer: Tracer, name: str) -> Value:
        assert self.source is not None
        if look_up(FunctionType, name) is None:
            own = self.instance_attribute(tracer, name)
            return super().other_attribute(tracer, name) if own is None else own
        value = tracer.compute(getattr, self.function, name)
        if name in ("__globals__", "__closure__", "__builtins__"):
            self.unsupported(f"the attribute '{name}'")
        source = AttrSource(self.source, name)
        tracer.output.guards.must_read(source)
        return tracer.output.wrap(value, source)

    def base_attributes(self, tracer: Tracer) -> dict[str, Value]:
        names = own_attributes(tracer, self)
        return {name: tracer.output.wrap(vars(self.function)[name], source) for name, source in names.items()}


class NestedFunctionVariable(FunctionVariable):
    """A function that the traced program made: a def or lambda inside."""

    def __init__(self, code: CodeType, attributes: dict[str, Value], scope: GlobalsVariable) -> None:
        super().__init__()
        self.code = code
        self.attributes = attributes
        self._scope = scope
        self.qualname = code.co_qualname

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("identity", id(self))

    def defaults(self, tracer: Tracer) -> tuple[list[Value], dict[str, Value]]:
        positional = self.attributes.get("defaults")
        keyword = self.attributes.get("kwdefaults")
        named = tracer.mapping_items(keyword) if keyword is not None else []
        return (
            tracer.unpack_all(positional) if positional is not None else [],
            {tracer.constant(name): value for name, value in named},
        )

    def closure(self, tracer: Tracer) -> list[CellVariable]:
        cells = self.attributes.get("closure")
        return [] if cells is None else tracer.unpack_all(cells)  # type: ignore[return-value]

    def scope(self, tracer: Tracer) -> GlobalsVariable:
        return self._scope

    def metadata(self, tracer: Tracer, name: str) -> Value:
        if name == "__module__":
            return ConstantVariable(self._scope.real.get("__name__"))
        if name == "__doc__":
            documented = bool(self.code.co_consts) and isinstance(self.code.co_consts[0], str)
            return ConstantVariable(self.code.co_consts[0] if documented else None)
        return ConstantVariable(self.code.co_name if name == "__name__" else self.qualname)

    def reconstruct(self, output: Output) -> Description:
        """types.FunctionType(code, globals, name, defaults, closure), then what else was set."""
        code, given = Held(self.code, f"code_{self.code.co_name}"), self.attributes
        behind = given.get("defaults", "None"), given.get("closure", "None")
        made = call(Held(FunctionType, "FunctionType"), code, self._scope, repr(self.code.co_name), *behind)
        statements = []
        if "kwdefaults" in given:
            statements.append(Template(IT, ".__kwdefaults__ = ", given["kwdefaults"]))
        if "annotations" in given:  # until 3.13 a tuple of name, value, name, value, ...
            names, values = (Template(given["annotations"], half) for half in ("[::2]", "[1::2]"))
            statements.append(Template(IT, ".__annotations__ = ", call("dict", call("zip", names, values))))
        if "annotate" in given:  # from 3.14 on a function
            statements.append(Template(IT, ".__annotate__ = ", given["annotate"]))
        return Made("function", made, *statements)


class MethodVariable(VariableTracker):
    """A function bound to its first argument."""

    def __init__(self, function: Value, owner: Value, source: Source | None = None) -> None:
        super().__init__(source)
        self.function = function
        self.owner = owner

    def describe(self) -> str:
        return self.function.realize().describe().replace("the function", "the method")

    def python_type(self) -> type:
        return MethodType

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return tracer.call(self.function, [self.owner, *args], kwargs)

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "__self__":
            return self.owner
        if name == "__func__":
            return self.function
        return tracer.load_attr(self.function, name)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("method", self.function.realize().hash_key(tracer), self.owner.realize().hash_key(tracer))

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op not in ("==", "!=") or not isinstance(other, MethodVariable):
            return None
        same = tracer.identical(self.function, other.function) and tracer.identical(self.owner, other.owner)
        return ConstantVariable(same == (op == "=="))

    def reconstruct(self, output: Output) -> Template:
        return call(Held(MethodType, "MethodType"), self.function, self.owner)


class PartialVariable(VariableTracker):
    """functools.partial(function, *args, **kwargs)"""

    def __init__(
        self,
        function: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        source: Source | None = None,
        real: Any = MISSING,
    ) -> None:
        super().__init__(source)
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.real = real

    def python_type(self) -> type:
        return functools.partial

    def real_value(self) -> Any:
        return self.real

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return tracer.call(self.function, [*self.args, *args], {**self.kwargs, **kwargs})

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "func":
            return self.function
        if name == "args":
            return tracer.build("tuple", list(self.args))
        if name == "__doc__":
            own = own_attribute(tracer, self, name)
            return ConstantVariable(functools.partial.__doc__) if own is None else own
        if name == "keywords" and self.source is None:
            return tracer.build_map([ConstantVariable(key) for key in self.kwargs], list(self.kwargs.values()))
        return super().getattr(tracer, name)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("identity", id(self))

    def reconstruct(self, output: Output) -> Template:
        return call(Held(functools.partial, "partial"), self.function, *self.args, **self.kwargs)
