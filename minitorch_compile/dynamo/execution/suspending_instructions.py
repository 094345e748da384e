"""Instructions of generators and coroutines, whose frames wait and go on: `yield`, `yield from`, `await`, `async for`.

>>> from minitorch_compile.dynamo.execution.concrete import interpret
>>> def count(n):
...     yield from range(n)
...     return "done"
>>> list(interpret(count, 3))
[0, 1, 2]
"""

from __future__ import annotations

from minitorch_compile.dynamo.bytecode.instructions import Instruction
from minitorch_compile.dynamo.execution.frame import Returned, Yielded
from minitorch_compile.dynamo.execution.hooks import Value
from minitorch_compile.dynamo.execution.raising_instructions import RaisingInstructions


class SuspendingInstructions(RaisingInstructions):
    """The handlers, and the hooks that they ask."""

    # --- the questions ------------------------------------------------------------------------------------------------

    def make_generator(self) -> Value:
        """The generator object that stands for this frame, which stops here (`outcome`) and goes on with
        `resume_with`."""
        self.unsupported("make_generator")

    def get_yield_from_iter(self, iterable: Value) -> Value:
        self.unsupported("get_yield_from_iter")

    def get_awaitable(self, value: Value, purpose: int) -> Value:
        """What to wait for; purpose: 0 for `await`, 1 to enter, 2 to leave an `async with`."""
        self.unsupported("get_awaitable")

    def get_aiter(self, iterable: Value) -> Value:
        self.unsupported("get_aiter")

    def get_anext(self, iterator: Value) -> Value:
        """What `async for` waits for to get its next item."""
        self.unsupported("get_anext")

    def ends_async_for(self, exception: Value) -> bool:
        """A plain bool: whether this is the StopAsyncIteration that ends the loop."""
        self.unsupported("ends_async_for")

    def send(self, receiver: Value, value: Value) -> tuple[bool, Value]:
        """(True, yielded), or (False, returned) when the receiver is finished."""
        self.unsupported("send")

    def stop_iteration_value(self, exception: Value) -> tuple[bool, Value]:
        """(True, the returned value) if this is a StopIteration, else (False, anything)."""
        self.unsupported("stop_iteration_value")

    def stop_iteration_error(self, exception: Value) -> Value:
        """In a generator's body: a StopIteration becomes `RuntimeError: generator raised StopIteration`, others
        stay."""
        self.unsupported("stop_iteration_error")

    # --- the instructions ---------------------------------------------------------------------------------------------

    def RETURN_GENERATOR(self, inst: Instruction) -> None:
        self.outcome = Returned(self.make_generator())

    def YIELD_VALUE(self, inst: Instruction) -> None:
        self.outcome = Yielded(self.pop(), inst.argval)

    def GET_YIELD_FROM_ITER(self, inst: Instruction) -> None:
        self.push(self.get_yield_from_iter(self.pop()))

    def SEND(self, inst: Instruction) -> None:
        value = self.pop()
        more, result = self.send(self.stack[-1], value)
        if not more:
            self.pop()
            self.goto(inst)
        self.push(result)

    def END_SEND(self, inst: Instruction) -> None:
        del self.stack[-2]

    def CLEANUP_THROW(self, inst: Instruction) -> None:
        _, _, exception = self.popn(3)
        finished, value = self.stop_iteration_value(exception)
        if not finished:
            self.reraise(exception)
        self.push(self.load_const(None))
        self.push(value)

    def STOP_ITERATION_ERROR(self, inst: Instruction) -> None:
        self.push(self.stop_iteration_error(self.pop()))

    def GET_AWAITABLE(self, inst: Instruction) -> None:
        self.push(self.get_awaitable(self.pop(), inst.argval))

    def GET_AITER(self, inst: Instruction) -> None:
        self.push(self.get_aiter(self.pop()))

    def GET_ANEXT(self, inst: Instruction) -> None:
        self.push(self.get_anext(self.stack[-1]))

    def END_ASYNC_FOR(self, inst: Instruction) -> None:
        _, exception = self.popn(2)
        if not self.ends_async_for(exception):
            self.reraise(exception)
