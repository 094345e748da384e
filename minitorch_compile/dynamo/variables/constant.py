"""Constants: values that are known while tracing and can't change.

Numbers, strings, None, dtypes, devices, enum members, code objects, ranges. Operators and methods on constants are
computed at once, with the real Python operation, so they can't differ from it.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x, n: x * (len("ab" * n) + 2**n), ones(2), 3))
x -> (x * 14,)
"""

from __future__ import annotations

import enum
import functools
import math
import operator
from collections.abc import Hashable
from types import CodeType, MethodDescriptorType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.dynamo.execution.concrete import CONVERT, UNARY
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.rebuilding import Description, Held, Template
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.memory.memory_format import layout, memory_format
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.numerics.numeric_limits import finfo, iinfo

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

# Types whose values are immutable, and compare and hash by value.
LITERAL_TYPES = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
NUMPY_SCALARS: tuple[type, ...] = tuple(np.dtype(code).type for code in "?bhilBHILefdFD")
CONSTANT_TYPES = (*LITERAL_TYPES, *NUMPY_SCALARS, dtype, device, memory_format, layout, finfo, iinfo, CodeType, range)


def has_literal(value: object) -> bool:
    """Whether repr() gives Python text that makes the value again.

    >>> [has_literal(v) for v in (1, -0.5, "a", None, float("inf"), 1j, range(2))]
    [True, True, True, True, False, False, False]
    """
    if type(value) is int:
        return value.bit_length() < 4096  # Python limits the length of decimal text
    if type(value) is float:
        return math.isfinite(value)
    return type(value) in (bool, str, bytes, type(None), type(Ellipsis))


def is_constant_value(value: object) -> bool:
    """Whether a ConstantVariable can hold it. Exact types only: a subclass may behave in another way."""
    return type(value) in CONSTANT_TYPES or issubclass(type(value), enum.Enum)


def name_of(value: object) -> str:
    """What generated code calls it. A member of an enum is asked past what its class makes of attributes."""
    if issubclass(type(value), enum.Enum):
        return str(object.__getattribute__(value, "_name_"))
    return str(getattr(value, "name", None) or getattr(value, "co_name", None) or value)


class ConstantVariable(VariableTracker):
    """A known value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def __repr__(self) -> str:
        return f"<constant {self.value!r}>"

    def describe(self) -> str:
        return repr(self.value)

    def python_type(self) -> type:
        return type(self.value)

    def is_constant(self) -> bool:
        return True

    def is_literal(self) -> bool:
        return True

    def as_constant(self) -> Any:
        return self.value

    def real_value(self) -> Any:
        return self.value

    def hash_key(self, tracer: Tracer) -> Hashable:
        tracer.compute(hash, self.value)
        if self.value != self.value:
            self.unsupported("hash() of NaN, which depends on where the object lies in memory,")
        return ("value", self.value)

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "__class__" or callable(getattr(self.value, name, None)):
            return super().getattr(tracer, name)
        return tracer.output.from_python(tracer.compute(getattr, self.value, name))

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        realized = [arg.realize() for arg in args]
        for argument in (*realized, *(value.realize() for value in kwargs.values())):
            argument.check_text(tracer)
        if name == "join" and len(args) == 1 and not isinstance(realized[0], ConstantVariable):
            return ConstantVariable(
                tracer.compute(self.value.join, [tracer.constant(item) for item in tracer.unpack_all(args[0])])
            )
        named = {key: value.realize() for key, value in kwargs.items()}
        if name == "format" or not all(v.is_constant() for v in [*realized, *named.values()]):
            return self._format(tracer, name, realized, named)
        method = tracer.compute(self._method, name)
        values = [v.as_constant() for v in realized]
        return tracer.output.from_python(
            tracer.compute(method, *values, **{k: v.as_constant() for k, v in named.items()})
        )

    def _method(self, name: str) -> Any:
        """The method, to be called as Python calls it: through the class, which is what its error messages name."""
        found = getattr(type(self.value), name, None)
        if isinstance(found, (MethodDescriptorType, WrapperDescriptorType)):
            return functools.partial(found, self.value)
        return getattr(self.value, name)

    def _format(
        self, tracer: Tracer, name: str, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> Value:
        """str.format of constants; anything else is not followed."""
        if name != "format" or not all(v.is_constant() for v in [*args, *kwargs.values()]):
            self.unsupported(f"the method {name}() with arguments that are not constants")
        values = [v.as_constant() for v in args]
        return ConstantVariable(
            tracer.compute(self.value.format, *values, **{k: v.as_constant() for k, v in kwargs.items()})
        )

    def unary(self, tracer: Tracer, op: str) -> Value:
        return tracer.output.from_python(tracer.compute(UNARY[op], self.value))

    def truth(self, tracer: Tracer) -> bool:
        return bool(tracer.compute(bool, self.value))

    def length(self, tracer: Tracer) -> int:
        return int(tracer.compute(len, self.value))

    def item(self, tracer: Tracer, key: Value) -> Value:
        """self[key]"""
        index = tracer.constant(key)
        return tracer.output.from_python(tracer.compute(lambda: self.value[index]))

    def contains(self, tracer: Tracer, item: Value) -> Value:
        tracked = item.realize()
        if not tracked.is_constant():
            return super().contains(tracer, item)
        return ConstantVariable(tracer.compute(operator.contains, self.value, tracked.as_constant()))

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        from minitorch_compile.dynamo.variables.containers.iterators import ConstantIterator

        return ConstantIterator(tracer.compute(iter, self.value), self)

    def format(self, tracer: Tracer, spec: str) -> str:
        return str(tracer.compute(format, self.value, spec))

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        return str(tracer.compute(CONVERT[conversion], self.value))

    def reconstruct(self, output: Output) -> Description:
        value = self.value
        if has_literal(value):
            return Template(repr(value))
        return Template(Held(value, getattr(value, "name", type(value).__name__)))
