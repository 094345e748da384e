"""The hooks of `raise` and `except`, on trackers: an exception of the traced program is an `ObservedException`.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x, scales):
...     try:
...         return x * scales["missing"]
...     except KeyError as error:
...         return x * len(error.args)
>>> print(captured(f, ones(2), {}))
x -> (x * 1,)
"""

from __future__ import annotations

from typing import Any, NoReturn, cast

from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.capture.domain import SymbolicDomain
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import ObservedException, Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.sequences import TupleVariable
from minitorch_compile.dynamo.variables.exceptions import ExceptionVariable, TracebackVariable
from minitorch_compile.dynamo.variables.objects.classes import ClassVariable


class RaisingHooks(SymbolicDomain):
    """What `raising_instructions.py` asks."""

    def caught(self, error: BaseException) -> Value | None:
        return error.value if isinstance(error, ObservedException) else None

    def raise_(self, exception: Any, cause: Any) -> NoReturn:
        if exception is NULL:
            handled = self.handled_here_or_above()
            if handled is NULL:
                self.raise_error(RuntimeError, "No active exception to reraise")
            raise ObservedException(handled.realize())
        value = exception.realize()
        if isinstance(value, ClassVariable):
            value = self.call(value, [], {}).realize()
        if not isinstance(value, ExceptionVariable):
            raise Unsupported("unsupported-object", f"raising {value.describe()}, which was made before the call.")
        if cause is not NULL:
            value.cause = cause
        handled = self.handled_here_or_above()
        if handled is not NULL and handled is not value:
            value.context = handled
        raise ObservedException(value)

    def reraise(self, exception: Value) -> NoReturn:
        raise ObservedException(cast(ExceptionVariable, exception.realize()))  # or one from outside, of any tracker

    def exception_matches(self, exception: Value, classes: Value) -> Value:
        cls = exception.realize().python_type()
        tracked = classes.realize()
        listed = self.unpack_all(tracked) if isinstance(tracked, TupleVariable) else [tracked]
        wanted = [self.constant(item) for item in listed]
        if not all(isinstance(item, type) and issubclass(item, BaseException) for item in wanted):
            self.raise_error(TypeError, "catching classes that do not inherit from BaseException is not allowed")
        return ConstantVariable(any(item in cls.__mro__ for item in wanted))

    def exception_info(self, exception: Value) -> list[Value]:
        cls = exception.realize().python_type()
        return [self.output.wrap_constant(cls, cls.__name__), exception, TracebackVariable()]
