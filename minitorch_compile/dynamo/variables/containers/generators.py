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

from minitorch_compile.dynamo.bytecode.control_flow import caught_names, enclosing_handlers
from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.bytecode.liveness import live_slots
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.frame import Returned, Yielded
from minitorch_compile.dynamo.resuming.resume import ResumeCode
from minitorch_compile.dynamo.resuming.resume_prefix import CannotResume, handled_exceptions
from minitorch_compile.dynamo.resuming.resumed_generators import make_resumed_generator
from minitorch_compile.dynamo.variables.base import ObservedException, Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
from minitorch_compile.dynamo.variables.rebuilding import IT, Held, Made, Part, call
from minitorch_compile.dynamo.variables.scope import CellVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class GeneratorVariable(IteratorVariable):
    """A suspended frame of the traced program. `returned` is the value of its return statement."""

    cls = GeneratorType

    def __init__(self, frame: Tracer) -> None:
        super().__init__()
        self.frame = frame
        self.finished = self.running = self.started = False
        self.returned: Value = ConstantVariable(None)
        frame.output.generators.append(self)

    @property
    def waits_in_a_block(self) -> bool:
        """Whether Python would run a `finally` or `__exit__` of it when the last reference to it goes."""
        if not self.started or self.finished:
            return False
        program = self.frame.program
        return any(
            program.instructions[handler].opname == "PUSH_EXC_INFO" and self._takes_its_end(handler)
            for handler in enclosing_handlers(program, self.frame.current)
        )

    def _takes_its_end(self, handler: int) -> bool:
        """Whether a handler does something with the GeneratorExit that is raised then."""
        names = caught_names(self.frame.program, handler)
        if names is None:
            return True
        classes = [self.frame.load_global(name).realize().real_value() for name in names]
        return any(not isinstance(cls, type) or issubclass(GeneratorExit, cls) for cls in classes)

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

    def reconstruct(self, output: Output) -> Made:
        """A new one, brought to the same place."""
        if self.finished or self.running or self.frame.is_library:
            self.not_again()
        frame, stack = self.frame, self.frame.stack
        live = live_slots(frame.program, frame.index)
        cells = {name: v for name, v in frame.locals.items() if isinstance(v, CellVariable) and name in live}
        slots = {name: v for name, v in frame.locals.items() if name in live and name not in cells}
        handled = handled_exceptions(frame, frame.index)
        try:
            code = make_resumed_generator(
                frame.program,
                frame.index,
                started=self.started,
                stack_size=len(stack),
                nulls={position for position, value in enumerate(stack) if value is NULL},
                slots=slots,
                cells=cells,
            )
        except CannotResume:
            self.not_again()
        values = {**slots, **{f"__stack{position}": value for position, value in enumerate(stack)}}
        values.update({f"__handled{position}": value for position, value in handled.items()})
        made = call(self._maker(code), *(values[name] for name in code.argument_names))
        return Made("generator", made, *([call("next", IT)] if self.started else []))

    def _maker(self, code: ResumeCode) -> Part:
        """The function that makes it; one with a closure is made from its cells each time."""
        name, module_globals = code.code.co_name, self.frame.scope.real
        if not code.free_names:
            return Held(code.function(module_globals), name)
        cells = (self.frame.locals[name] for name in code.free_names)
        return call(Held(code.closing_over(module_globals), name), *cells)
