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
from collections.abc import Collection, Hashable
from types import CodeType, FunctionType, MethodType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.execution.binding import bind_arguments
from minitorch_compile.dynamo.guards.guards import attribute_absent
from minitorch_compile.dynamo.guards.source import AttrSource, ItemSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.tracer import Tracer
    from minitorch_compile.dynamo.rewriting.codegen import Codegen
    from minitorch_compile.dynamo.variables.scope import CellVariable, GlobalsVariable


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
        bound = tracer.compute(bind_arguments, signature, args, kwargs)
        return {slot: self._packed(tracer, value) for slot, value in bound.items()}

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
        from minitorch_compile.dynamo.variables.instance_dict import InstanceDictVariable

        stored = tracer.side_effects.attribute(self, name)
        if stored is not None:
            return stored
        if name == "__dict__":
            return InstanceDictVariable(self)
        if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return tracer.output.from_python(self.metadata(name))
        if name == "__get__":
            return super().getattr(tracer, name)
        return self.other_attribute(tracer, name)

    def metadata(self, name: str) -> Any:
        raise NotImplementedError

    def other_attribute(self, tracer: Tracer, name: str) -> Value:
        tracer.raise_error(AttributeError, f"'function' object has no attribute '{name}'")

    def instance_attribute(self, tracer: Tracer, name: str) -> Value | None:
        """What the function's `__dict__` has under a name."""
        return tracer.side_effects.attribute(self, name)

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

    def closure(self, tracer: Tracer) -> list[CellVariable]:
        assert self.source is not None
        source = AttrSource(self.source, "__closure__")
        return [
            tracer.output.wrap_cell(cell, ItemSource(source, i))
            for i, cell in enumerate(self.function.__closure__ or ())
        ]

    def scope(self, tracer: Tracer) -> GlobalsVariable:
        return tracer.output.scope_of(self.function.__globals__)

    def metadata(self, name: str) -> Any:
        return getattr(self.function, name)

    def other_attribute(self, tracer: Tracer, name: str) -> Value:
        assert self.source is not None
        value = tracer.compute(getattr, self.function, name)
        if name in ("__globals__", "__closure__", "__code__", "__builtins__"):
            self.unsupported(f"the attribute '{name}'")
        source = AttrSource(self.source, name)
        tracer.output.guards.must_read(source)
        return tracer.output.wrap(value, source)

    def instance_attribute(self, tracer: Tracer, name: str) -> Value | None:
        stored = super().instance_attribute(tracer, name)
        if stored is None and self.function.__dict__:
            self.unsupported("the __dict__ of a function that has attributes")
        return stored

    def base_attributes(self, tracer: Tracer) -> dict[str, Value]:
        if self.function.__dict__:
            self.unsupported("the __dict__ of a function that has attributes")
        return {}


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

    def metadata(self, name: str) -> Any:
        if name == "__module__":
            return self._scope.real.get("__name__")
        if name == "__doc__":
            documented = bool(self.code.co_consts) and isinstance(self.code.co_consts[0], str)
            return self.code.co_consts[0] if documented else None
        return self.code.co_name if name == "__name__" else self.qualname

    def reconstruct(self, codegen: Codegen) -> str:
        """types.FunctionType(code, globals, name, defaults, closure), then what else was set."""
        parts = {name: codegen.value(value) for name, value in self.attributes.items()}
        make = codegen.constant(FunctionType, "FunctionType")
        code = codegen.constant(self.code, f"code_{self.code.co_name}")
        arguments = [
            code,
            codegen.value(self._scope),
            repr(self.code.co_name),
            parts.get("defaults", "None"),
            parts.get("closure", "None"),
        ]
        variable = codegen.assign("function", f"{make}({', '.join(arguments)})", self)
        if "kwdefaults" in parts:
            codegen.line(f"{variable}.__kwdefaults__ = {parts['kwdefaults']}")
        if "annotations" in parts:  # until 3.13 a tuple of name, value, name, value, ...
            pairs = parts["annotations"]
            codegen.line(f"{variable}.__annotations__ = dict(zip({pairs}[::2], {pairs}[1::2]))")
        if "annotate" in parts:  # from 3.14 on a function
            codegen.line(f"{variable}.__annotate__ = {parts['annotate']}")
        codegen.fill_attributes(self, variable)
        return variable


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

    def reconstruct(self, codegen: Codegen) -> str:
        make = codegen.constant(MethodType, "MethodType")
        return f"{make}({codegen.value(self.function)}, {codegen.value(self.owner)})"


class PartialVariable(VariableTracker):
    """functools.partial(function, *args, **kwargs). `attributes`: the names in its `__dict__`."""

    def __init__(
        self,
        function: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        source: Source | None = None,
        attributes: Collection[str] = (),
    ) -> None:
        super().__init__(source)
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.attributes = attributes

    def python_type(self) -> type:
        return functools.partial

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return tracer.call(self.function, [*self.args, *args], {**self.kwargs, **kwargs})

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "func":
            return self.function
        if name == "args":
            return tracer.build("tuple", list(self.args))
        if name in ("__name__", "__qualname__", "__doc__") and name not in self.attributes:
            if self.source is not None:
                tracer.output.guards.add(attribute_absent(self.source, name))
            if name == "__doc__":
                return ConstantVariable(functools.partial.__doc__)
            tracer.raise_error(AttributeError, f"'functools.partial' object has no attribute '{name}'")
        if name == "keywords" and self.source is None:
            return tracer.build_map([ConstantVariable(key) for key in self.kwargs], list(self.kwargs.values()))
        return super().getattr(tracer, name)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("identity", id(self))

    def reconstruct(self, codegen: Codegen) -> str:
        make = codegen.constant(functools.partial, "partial")
        parts = [codegen.value(self.function), *(codegen.value(arg) for arg in self.args)]
        parts += [f"{name}={codegen.value(value)}" for name, value in self.kwargs.items()]
        return f"{make}({', '.join(parts)})"
