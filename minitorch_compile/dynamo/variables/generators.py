"""Generators made and consumed inside the traced program: a frame that is stepped on demand.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def powers(x):
...     while True:
...         yield x
...         x = x * 2
>>> print(captured(lambda x: [p for p, _ in zip(powers(x), range(3))], ones(2)))
x -> mul = x * 2; mul_1 = mul * 2; mul_2 = mul_1 * 2; (mul, mul_1)
"""

from __future__ import annotations

from collections.abc import Callable
from types import GeneratorType
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.errors import ObservedException, Unsupported
from minitorch_compile.dynamo.interpreter import Returned, Yielded
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.iterators import IteratorVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.codegen import Codegen
    from minitorch_compile.dynamo.symbolic import SymbolicInterpreter
    from minitorch_compile.dynamo.tracer import Tracer


class GeneratorVariable(IteratorVariable):
    """A suspended frame of the traced program. `returned` is the value of its return statement."""

    cls = GeneratorType

    def __init__(self, frame: SymbolicInterpreter) -> None:
        super().__init__()
        self.frame = frame
        self.finished = self.running = self.started = False
        self.returned: Value = ConstantVariable(None)

    def describe(self) -> str:
        return f"the generator {self.frame.program.code.co_qualname}"

    def next_value(self, tracer: Tracer) -> Value | None:
        return self.send_value(tracer, ConstantVariable(None))

    def send_value(self, tracer: Tracer, value: Value) -> Value | None:
        """The next yielded value, None when the generator has returned."""
        if self.finished:
            self.returned = ConstantVariable(None)
            return None
        if not self.started and not tracer.is_none(value):
            tracer.raise_error(TypeError, "can't send non-None value to a just-started generator")
        return self._continue(tracer, lambda: self.frame.resume_with(value))

    def throw(self, tracer: Tracer, exception: Value) -> Value | None:
        """Raises an exception at the yield."""
        error = ObservedException(exception.realize())
        if self.finished or not self.started:
            self.finished = True
            raise error
        if isinstance(self.frame.outcome, Yielded) and self.frame.outcome.delegating:
            raise Unsupported("generator-frame", "throw() into a generator that waits in `yield from` is not followed.")
        return self._continue(tracer, lambda: self.frame.throw(error))

    def _continue(self, tracer: Tracer, go_on: Callable[[], Value]) -> Value | None:
        if self.running:
            tracer.raise_error(ValueError, "generator already executing")
        self.started = self.running = True
        self.frame.called_by(tracer)
        try:
            result = go_on()
        except ObservedException as error:
            self.finished = True
            raise ObservedException(self.frame.stop_iteration_error(error.value).realize()) from error
        finally:
            self.running = False
        if isinstance(self.frame.outcome, Returned):
            self.finished, self.returned = True, result
            return None
        return result

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "send" and len(args) == 1:
            return self._or_stop(tracer, self.send_value(tracer, args[0]))
        if name == "throw" and args:
            exception = args[1] if len(args) > 1 and not tracer.is_none(args[1]) else args[0]
            return self._or_stop(tracer, self.throw(tracer, exception))
        if name == "close":
            return self._close(tracer)
        return super().call_method(tracer, name, args, kwargs)

    def _or_stop(self, tracer: Tracer, item: Value | None) -> Value:
        if item is None:
            tracer.raise_stop(self)
        return item

    def _close(self, tracer: Tracer) -> Value:
        from minitorch_compile.dynamo.variables.exceptions import ExceptionVariable

        if self.started and not self.finished:
            try:
                ignored = self.throw(tracer, ExceptionVariable(GeneratorExit, [])) is not None
            except ObservedException as error:
                ignored = False
                if not issubclass(error.value.python_type(), (GeneratorExit, StopIteration)):
                    raise
            if ignored:
                tracer.raise_error(RuntimeError, "generator ignored GeneratorExit")
        self.finished = True
        return ConstantVariable(None)

    def reconstruct(self, codegen: Codegen) -> str:
        raise Unsupported("unrebuildable-value", f"{self.describe()} is still in use after the graph.")
