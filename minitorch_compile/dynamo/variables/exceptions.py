"""Exceptions of the traced program: raised and caught inside it, or leaving it.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     try:
...         return x.view(7)
...     except RuntimeError:
...         return x + 1
>>> print(captured(f, ones(2)))
x -> (x + 1,)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import FunctionType, NoneType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import CONVERT
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import bind_class_attribute, look_up
from minitorch_compile.dynamo.variables.objects.special_answers import judged
from minitorch_compile.dynamo.variables.rebuilding import IT, Made, Template, call, held_class

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class ExceptionVariable(VariableTracker):
    """An exception object made while tracing, by the program or by a traced operation."""

    def __init__(self, cls: type[BaseException], args: Sequence[Value]) -> None:
        super().__init__()
        self.cls = cls
        self.args = list(args)
        self.cause: Value = ConstantVariable(None)
        self.context: Value = ConstantVariable(None)
        self.was_raised = False

    def note_raised(self) -> None:
        self.was_raised = True

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        shown = ", ".join(arg.realize().describe() for arg in self.args)
        return f"{self.cls.__name__}({shown})"

    def truth(self, tracer: Tracer) -> bool:
        return True

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("identity", id(self))

    def getattr(self, tracer: Tracer, name: str) -> Value:
        stored = tracer.side_effects.attribute(self, name)
        if stored is not None:
            return stored
        if name == "args":
            return tracer.build("tuple", list(self.args))
        if name == "value" and issubclass(self.cls, StopIteration):
            return self.args[0] if self.args else ConstantVariable(None)
        if name == "__cause__":
            return self.cause
        if name == "__context__":
            return self.context
        found = look_up(self.cls, name)
        if found is not None and found.owner.__module__ != "builtins":
            return bind_class_attribute(tracer, self, found)
        return super().getattr(tracer, name)

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        if name == "args":
            self.args = tracer.unpack_all(value)
        elif name == "__cause__":
            self.cause = value
        elif name == "__context__":
            self.context = value
        elif name in ("__traceback__", "__suppress_context__"):
            cls = value.realize().python_type()
            if name == "__traceback__" and not isinstance(value.realize(), TracebackVariable) and cls is not NoneType:
                tracer.raise_error(TypeError, "__traceback__ must be a traceback or None")
            self.was_raised = True  # it has more to it than can be made again
        else:
            tracer.side_effects.store_attribute(self, name, value)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__init__":
            self.args = list(args)
            return ConstantVariable(None)
        if name == "with_traceback":
            return self
        return super().call_method(tracer, name, args, kwargs)

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        name = "__str__" if conversion == "str" else "__repr__"
        found = look_up(self.cls, name)
        if found is not None and isinstance(found.value, FunctionType):
            answer = tracer.call(bind_class_attribute(tracer, self, found), [], {})
            return str(judged(tracer, CONVERT[conversion], name, answer))
        args = [arg.realize() for arg in self.args]
        if (
            self.cls.__module__ != "builtins"
            and (found is None or found.owner.__module__ != "builtins")
            or not all(arg.is_constant() for arg in args)
        ):
            self.unsupported(f"{conversion}()")
        values = [arg.as_constant() for arg in args]
        real = tracer.compute(self.cls, *values) if self._is_made_by_args() else self._with_args(values)
        return str(tracer.compute(str if conversion == "str" else repr, real))

    def _is_made_by_args(self) -> bool:
        """Whether calling the class with what is now in `args` gives this exception."""
        init, new = look_up(self.cls, "__init__"), look_up(self.cls, "__new__")
        return not any(found is not None and found.owner.__module__ != "builtins" for found in (init, new))

    def _with_args(self, values: list[Any]) -> BaseException:
        """An exception with these args whose own __init__, which was traced, does not run again."""
        if issubclass(self.cls, (OSError, UnicodeError, SyntaxError, ImportError)):
            self.unsupported("the text, which is made of attributes,")
        real = BaseException.__new__(self.cls)
        real.args = tuple(values)
        return real

    def format(self, tracer: Tracer, spec: str) -> str:
        return format(self.to_text(tracer, "str"), spec)

    def reconstruct(self, output: Output) -> Made:
        if self.was_raised:
            raise Unsupported("unrebuildable-value", f"{self.describe()} was raised and lives on, with its traceback.")
        init = look_up(self.cls, "__init__")
        if init is not None and isinstance(init.value, FunctionType):
            super().reconstruct(output)
        cause = self.cause.realize()
        has_cause = not (isinstance(cause, ConstantVariable) and cause.value is None)
        causes = [Template(IT, ".__cause__ = ", cause)] if has_cause else []
        return Made("error", call(held_class(self.cls), *self.args), *causes)


class TracebackVariable(VariableTracker):
    """The traceback of an exception raised while tracing: it can be passed on, not looked into."""

    def truth(self, tracer: Tracer) -> bool:
        return True
