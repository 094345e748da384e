"""A frame of the interpreter: where it is, its stack and its slots, and how it is driven. It has no instructions yet.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> frame = InterpretedFrame(decode((lambda x: x).__code__), {"x": 5})
>>> frame.push(1); frame.push(2)
>>> before = frame.checkpoint()
>>> frame.popn(2), frame.load_slot("x"), frame.stack
([1, 2], 5, [])
>>> frame.restore(before); frame.stack
[1, 2]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction, Program
from minitorch_compile.dynamo.execution.hooks import DomainHooks, UnsupportedInstruction, Value


@dataclass(frozen=True, slots=True)
class Returned:
    """The frame is finished."""

    value: Value


@dataclass(frozen=True, slots=True)
class Yielded:
    """The frame waits for `resume_with` or `throw`. `delegating`: inside `yield from`, whose iterator is on top of
    the stack."""

    value: Value
    delegating: bool = False


@dataclass(frozen=True, slots=True)
class FrameState:
    """All that an instruction can change in its frame; values are shared, not copied."""

    index: int
    stack: tuple[Value, ...]
    locals: dict[str, Value]
    handled: Value


class InterpretedFrame(DomainHooks):
    """One frame: a program, its stack and slots, and where it is.

    `index`    the next instruction            `current`  the one being executed (or executed last)
    `stack`    values, and NULL                `locals`   slot name -> content (value or cell); an empty slot is absent
    `handled`  the exception that `raise` without argument would raise again, NULL if none
    """

    def __init__(self, program: Program, locals: dict[str, Value]) -> None:
        self.program = program
        self.instructions = program.instructions
        self.locals = locals
        self.stack: list[Value] = []
        self.index = self.current = 0
        self.handled: Value = NULL
        self.outcome: Returned | Yielded | None = None

    # --- driving ------------------------------------------------------------------------------------------------------

    def run(self) -> Value:
        """Step until the frame returns or yields; the value."""
        while self.outcome is None:
            self.step()
        return self.outcome.value

    def step(self) -> None:
        """Execute the instruction at `index`."""
        self.current = self.index
        self.index += 1
        instruction = self.instructions[self.current]
        handler: Callable[[Instruction], None] = getattr(self, instruction.opname)
        try:
            handler(instruction)
        except BaseException as error:
            exception = self.caught(error)
            if exception is None or not self.unwind(exception):
                raise

    def unwind(self, exception: Value) -> bool:
        """Go to the handler that covers the current instruction; False if there is none."""
        entry = self.program.handler_of(self.current)
        if entry is None:
            return False
        del self.stack[entry.depth :]
        if entry.lasti:
            self.push(self.current)
        self.push(exception)
        self.index = entry.target
        return True

    def resume_with(self, value: Value) -> Value:
        """Continue a generator's frame: `value` is what its `yield` gives; the next value it returns or yields."""
        self.push(value)
        self.outcome = None
        return self.run()

    def throw(self, error: BaseException) -> Value:
        """Continue a generator's frame by raising at its `yield`; the next value it returns or yields."""
        exception = self.caught(error)
        self.push(NULL)  # where the sent value would be
        if exception is None or not self.unwind(exception):
            raise error
        self.outcome = None
        return self.run()

    def checkpoint(self) -> FrameState:
        """What `restore` needs to continue from here once more."""
        return FrameState(self.index, tuple(self.stack), dict(self.locals), self.handled)

    def restore(self, state: FrameState) -> None:
        self.index, self.stack = state.index, list(state.stack)
        self.locals, self.handled, self.outcome = dict(state.locals), state.handled, None

    @property
    def instruction(self) -> Instruction:
        """The instruction being executed (or executed last)."""
        return self.instructions[self.current]

    def unsupported(self, hook: str) -> NoReturn:
        asked_by = f"{self.instruction.opname}, line {self.instruction.line}"
        raise UnsupportedInstruction(f"{type(self).__name__} does not interpret {hook} (asked by {asked_by}).")

    # --- stack and slots ----------------------------------------------------------------------------------------------

    def push(self, value: Value) -> None:
        self.stack.append(value)

    def pop(self) -> Value:
        return self.stack.pop()

    def popn(self, count: int) -> list[Value]:
        """The top count values, in the order they were pushed."""
        split = len(self.stack) - count
        values = self.stack[split:]
        del self.stack[split:]
        return values

    def pop_callable(self) -> tuple[Value, list[Value]]:
        """The callable pair below the arguments: the function and its first argument, if the pair carries one."""
        first, second = self.popn(2)
        if first is NULL:
            return second, []
        return first, [] if second is NULL else [second]

    def goto(self, instruction: Instruction) -> None:
        assert instruction.target is not None
        self.index = instruction.target

    def load_slot(self, name: str) -> Value:
        if name not in self.locals:
            self.unbound(name)
        return self.locals[name]

    def store_slot(self, name: str, content: Value) -> None:
        if content is NULL:
            self.locals.pop(name, None)
        else:
            self.locals[name] = content
