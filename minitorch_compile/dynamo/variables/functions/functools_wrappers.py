"""functools.lru_cache and functools.singledispatch: functions whose answer depends on what they keep.

A cached function of the program is called for real, between two graphs: so it gives the very object that the plain
program gets, does what it does when the plain program would, and counts its calls in `cache_info`. Caches of this
package and of einops are nobody's to count; they are asked while tracing, and again when the guards are.

>>> import functools
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> @functools.singledispatch
... def factor(value):
...     return 2
>>> print(captured(lambda x: x * factor("abc"), ones(2)))
x -> (x * 2,)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards.source import AttrSource, ChainedSource
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable, has_literal
from minitorch_compile.dynamo.variables.containers.sequences import SizeVariable, TupleVariable
from minitorch_compile.dynamo.variables.functions.fixed_functions import FixedFunctionVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import is_library
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.tensor import Size

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

LruCacheWrapper: type = functools._lru_cache_wrapper


@functools.singledispatch
def _dispatching(value: object) -> None:
    """An example of what singledispatch makes: all of its functions have the same code."""


SINGLE_DISPATCH_CODE = _dispatching.__code__  # type: ignore[attr-defined]


@dataclass(frozen=True)
class CallSource(ChainedSource):
    """origin(*arguments), where calling again gives the same object."""

    arguments: tuple[str, ...]

    def read(self, base: str) -> str:
        return f"{base}({', '.join(self.arguments)})"


PURE_PACKAGES = (
    "einops",
)  # whose caches only save time: nobody counts their calls, and they read nothing that changes


class FunctoolsWrapperVariable(FixedFunctionVariable):
    """A function made by functools. Its identity is guarded."""

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "__wrapped__":
            return tracer.output.wrap_constant(self.function.__wrapped__, self.function.__name__)
        return super().getattr(tracer, name)


class CachedFunctionVariable(FunctoolsWrapperVariable):
    """A function with functools.lru_cache or cache. Where it is called while tracing, its arguments must be known."""

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        wrapped = self.function.__wrapped__
        if not (is_library(wrapped) or wrapped.__module__.partition(".")[0] in PURE_PACKAGES):
            raise Unsupported(
                "unsupported-call",
                f"{self.describe()} has a cache, which only real calls fill, use and count.",
                f"call {self.function.__name__}.__wrapped__, or ask the function outside and pass in what it gave.",
            )
        named = {name: value.realize() for name, value in kwargs.items()}
        tracked = [arg.realize() for arg in args]
        texts = [self._text(tracer, value) for value in tracked]
        texts += [f"{name}={self._text(tracer, value)}" for name, value in named.items()]
        result = tracer.compute(
            self.function, *(_real(value) for value in tracked), **{name: _real(value) for name, value in named.items()}
        )
        assert self.source is not None
        source = CallSource(self.source, tuple(texts))
        tracer.output.guards.must_read(source)
        return tracer.output.wrap(result, source)

    def _text(self, tracer: Tracer, value: VariableTracker) -> str:
        """The argument, as the generated code writes it."""
        if isinstance(value, ConstantVariable):
            known = value.value
            return repr(known) if has_literal(known) else tracer.output.names.install(known, "argument")
        if type(value) in (TupleVariable, SizeVariable):
            inside = "".join(f"{self._text(tracer, item.realize())}, " for item in value.items)  # type: ignore[attr-defined]
            return (
                f"({inside})"
                if type(value) is TupleVariable
                else f"{tracer.output.names.install(Size, 'Size')}(({inside}))"
            )
        if value.source is None or isinstance(value, TensorVariable) or value.real_value() is MISSING:
            raise Unsupported("unsupported-call", f"{self.describe()} has a cache, but got {value.describe()}.")
        return value.source.name()


def _real(value: VariableTracker) -> Any:
    if isinstance(value, TupleVariable):
        return value.cls(_real(item.realize()) for item in value.items)
    return value.as_constant() if value.is_constant() else value.real_value()


class SingleDispatchVariable(FunctoolsWrapperVariable):
    """A function with functools.singledispatch: the class of the first argument decides which function is called."""

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if not args:
            tracer.raise_error(TypeError, f"{self.function.__name__} requires at least 1 positional argument")
        cls = args[0].realize().python_type()
        chosen = tracer.compute(self.function.dispatch, cls)
        assert self.source is not None
        name = tracer.output.names.install(cls, cls.__name__)
        source = CallSource(AttrSource(self.source, "dispatch"), (name,))
        return tracer.call(tracer.output.wrap(chosen, source), args, kwargs)
