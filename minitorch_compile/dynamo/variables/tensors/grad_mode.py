"""no_grad, enable_grad, set_grad_enabled: switching grad mode becomes a node of the graph, as in Dynamo.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import no_grad, ones
>>> def f(x):
...     with no_grad():
...         return x * 2
>>> print(captured(f, ones(2)))
x -> switch_grad_mode = switch_grad_mode(False); switch_grad_mode_1 = switch_grad_mode(True); (x * 2,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.rebuilding import IT, Made, Template, call, new_object
from minitorch_compile.tensor import grad_mode

if TYPE_CHECKING:
    from minitorch_compile.dynamo.guards.source import Source
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class GradModeVariable(VariableTracker):
    """The context manager. `mode` is what it switches to, `previous` the list in which it remembers what was before.

    `before`: set_grad_enabled has switched when it was made, and in `with` puts back what was before that.
    """

    def __init__(
        self, cls: type, mode: bool, previous: ListVariable, source: Source | None = None, before: bool | None = None
    ) -> None:
        super().__init__(source)
        self.cls = cls
        self.mode = mode
        self.previous = previous
        self.before = before

    @classmethod
    def new(cls, manager: type, mode: bool, before: bool | None = None) -> GradModeVariable:
        """One that the traced program makes."""
        return cls(manager, mode, ListVariable([]), before=before)

    def python_type(self) -> type:
        return self.cls

    def truth(self, tracer: Tracer) -> bool:
        return True

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Used as a decorator."""
        if len(args) != 1 or kwargs:
            self.unsupported("a call with these arguments", "unsupported-call")
        return GradModeFunctionVariable(args[0], self)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__enter__":
            old = grad_mode.state.enabled if self.before is None else self.before
            self.previous.append(tracer, ConstantVariable(old))
            tracer.output.switch_grad_mode(self.mode)
            return ConstantVariable(None)
        if name == "__exit__":
            tracer.output.switch_grad_mode(tracer.constant(self.previous.method_pop(tracer)))
            return ConstantVariable(None)
        if name == "clone":
            return GradModeVariable.new(self.cls, self.mode)
        return super().call_method(tracer, name, args, kwargs)

    def reconstruct(self, output: Output) -> Made:
        """Past __init__, since set_grad_enabled switches when it is made."""
        statements = [Template(IT, "._previous = ", self.previous)]
        if self.before is not None:
            statements.append(Template(IT, ".mode, ", IT, f"._before = {self.mode}, {self.before}"))
        return Made("manager", new_object(self.cls), *statements)


class GradModeFunctionVariable(VariableTracker):
    """A function decorated with a grad mode while tracing."""

    def __init__(self, function: Value, manager: GradModeVariable) -> None:
        super().__init__()
        self.function = function
        self.manager = manager

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        before = grad_mode.state.enabled
        tracer.output.switch_grad_mode(self.manager.mode)
        try:
            return tracer.call(self.function, args, kwargs)
        finally:
            tracer.output.switch_grad_mode(before)

    def reconstruct(self, output: Output) -> Template:
        return call(self.manager, self.function)
