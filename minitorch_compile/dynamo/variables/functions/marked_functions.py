"""Functions that say how they want to be compiled: disable(), allow_in_graph(), assume_constant_result().

>>> from minitorch_compile.control import allow_in_graph
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> @allow_in_graph
... def shifted(x):
...     return x * 2 + 1
>>> print(captured(lambda x: shifted(x) - 1, ones(2)))
x -> (shifted(x) - 1,)
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.control import ASKED_AGAIN, FORBIDDEN, GRAPH_STEP
from minitorch_compile.dynamo.errors import ForbiddenCall, Unsupported
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.variables.base import MISSING, ObservedException, Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.functions.fixed_functions import FixedFunctionVariable
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


class MarkedFunctionVariable(FixedFunctionVariable):
    """A function that is not looked into."""


class DisabledFunctionVariable(MarkedFunctionVariable):
    """A function marked with disable(): a call of it breaks the graph."""

    @property
    def only_frame(self) -> bool:
        """Whether what it calls is compiled all the same."""
        return "_dynamo_only_frame" in vars(self.function)

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        because = vars(self.function).get("_dynamo_disabled_because")
        why = f", because: {because}" if because else "."
        raise Unsupported("disabled-function", f"{self.describe()} is marked with disable(){why}")


class AllowedFunctionVariable(MarkedFunctionVariable):
    """A function marked with allow_in_graph(): a call of it is a node."""

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        try:
            return tracer.output.call("call_function", self.function, args, kwargs)
        except ObservedException as error:
            raise Unsupported(
                "unsupported-call", f"{self.describe()} raises {error.value.describe()} for tensors without data."
            ) from error


class ForbiddenFunctionVariable(MarkedFunctionVariable):
    """A function marked with forbid_in_graph(): a call of it is an error."""

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        raise ForbiddenCall.of(self.function)


class GraphStepVariable(MarkedFunctionVariable):
    """A step of a function transform: a call of it is a node."""

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return tracer.output.call("call_function", self.function, args, kwargs)


class ConstantFunctionVariable(MarkedFunctionVariable):
    """A function marked with assume_constant_result(): it is called now, and what it gives is never guarded."""

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        values = [self._real(arg) for arg in args]
        named = {name: self._real(arg) for name, arg in kwargs.items()}
        result = tracer.compute(self.function, *values, **named)
        if isinstance(result, TensorBase):
            return tracer.output.wrap_constant(result, self.function.__name__)
        return tracer.output.from_python(result)

    def _real(self, argument: Value) -> Any:
        tracked = argument.realize()
        value = tracked.as_constant() if tracked.is_constant() else tracked.real_value()
        if value is MISSING:
            raise Unsupported("unsupported-call", f"{self.describe()} needs {tracked.describe()} while tracing.")
        return value


class QuestionVariable(MarkedFunctionVariable):
    """A function marked with asked_again(): it is called now, and its answer guarded by calling it again."""

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if args or kwargs:
            raise Unsupported("wrong-arguments", f"{self.describe()} takes no arguments.")
        answer = bool(tracer.compute(self.function))
        source = tracer.output.constant_source(self.function, self.function.__name__)
        tracer.output.guards.add(Guard(source, "ANSWER", f"{{0}}() is {answer}", str(answer), actual="{0}()"))
        return ConstantVariable(answer)


MARKS: dict[str, type[MarkedFunctionVariable]] = {
    "_dynamo_disabled": DisabledFunctionVariable,
    "_dynamo_allowed": AllowedFunctionVariable,
    "_dynamo_constant": ConstantFunctionVariable,
    FORBIDDEN: ForbiddenFunctionVariable,
    GRAPH_STEP: GraphStepVariable,
    ASKED_AGAIN: QuestionVariable,
}


def mark_of(function: FunctionType) -> type[MarkedFunctionVariable] | None:
    """The kind of tracker for a marked function, None if it has no mark."""
    return next((kind for name, kind in MARKS.items() if function.__dict__.get(name)), None)
