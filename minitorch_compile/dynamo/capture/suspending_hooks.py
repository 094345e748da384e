"""The hooks of generators, on trackers: a generator of the traced program is a frame that waits.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     def powers():
...         yield x
...         yield from (x * x, x * x * x)
...     return sum(powers())
>>> print(captured(f, ones(2)).count("*"))
3
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.dynamo.capture.raising_hooks import RaisingHooks
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.generators import GeneratorVariable
from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
from minitorch_compile.dynamo.variables.exceptions import ExceptionVariable


class SuspendingHooks(RaisingHooks):
    """What `suspending_instructions.py` asks."""

    def make_generator(self) -> Value:
        return GeneratorVariable(self)

    def get_yield_from_iter(self, iterable: Value) -> Value:
        return self.as_iterator(iterable)

    def send(self, receiver: Value, value: Value) -> tuple[bool, Value]:
        tracked = receiver.realize()
        if isinstance(tracked, GeneratorVariable):
            item = tracked.send_value(self, value)
            return (False, tracked.returned) if item is None else (True, item)
        item = self.next_or_none(tracked) if isinstance(tracked, IteratorVariable) else None
        if item is None and not isinstance(tracked, IteratorVariable):
            raise Unsupported("generator-frame", f"`yield from` {tracked.describe()} is not followed.")
        return (False, ConstantVariable(None)) if item is None else (True, item)

    def stop_iteration_value(self, exception: Value) -> tuple[bool, Any]:
        tracked = exception.realize()
        if not issubclass(tracked.python_type(), StopIteration):
            return False, None
        return True, self.load_attr(tracked, "value")

    def stop_iteration_error(self, exception: Value) -> Value:
        if not issubclass(exception.realize().python_type(), StopIteration):
            return exception
        error = ExceptionVariable(RuntimeError, [ConstantVariable("generator raised StopIteration")])
        error.cause = error.context = exception
        return error
