"""The generator object of an interpreted generator function: a frame that is stepped on demand.

>>> from minitorch_compile.dynamo.execution.concrete import interpret
>>> def squares(n):
...     for i in range(n):
...         yield i * i
>>> generator = interpret(squares, 3)
>>> generator
<interpreted generator squares>
>>> list(generator)
[0, 1, 4]
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter, Returned, Yielded


class InterpretedGenerator(Generator[Any, Any, Any]):
    """What a call of a generator function gives. It is no `types.GeneratorType`, but acts like one."""

    def __init__(self, frame: BytecodeInterpreter) -> None:
        self.frame = frame
        self.started = self.running = self.finished = False

    def __repr__(self) -> str:
        return f"<interpreted generator {self.frame.program.code.co_qualname}>"

    def send(self, value: Any) -> Any:
        if not self.started and not self.finished and value is not None:
            raise TypeError("can't send non-None value to a just-started generator")
        if self.finished:
            raise StopIteration
        return self._continue(self.frame.resume_with, value)

    def throw(self, typ: Any, val: Any = None, tb: Any = None) -> Any:
        error = _exception(typ, val, tb)
        self._check_not_running()
        receiver = self._delegate()
        if receiver is not NULL:
            return self._throw_into(receiver, error)
        if not self.started or self.finished:
            self.finished = True
            raise error
        return self._continue(self.frame.throw, error)

    def close(self) -> None:
        if not self.started or self.finished:
            self.finished = True
            return
        try:
            self.throw(GeneratorExit())
        except (GeneratorExit, StopIteration):
            return
        raise RuntimeError("generator ignored GeneratorExit")

    def __del__(self) -> None:
        self.close()

    def _check_not_running(self) -> None:
        if self.running:
            raise ValueError("generator already executing")

    def _continue(self, resume: Any, value: Any) -> Any:
        """Run the frame to its next yield, or to its end."""
        self._check_not_running()
        self.started = self.running = True
        try:
            result = resume(value)
        except StopIteration as error:
            self.finished = True
            raise RuntimeError("generator raised StopIteration") from error
        except BaseException:
            self.finished = True
            raise
        finally:
            self.running = False
        if isinstance(self.frame.outcome, Returned):
            self.finished = True
            raise StopIteration(result) if result is not None else StopIteration
        return result

    def _delegate(self) -> Any:
        """The iterator of the `yield from` in which the frame waits, else NULL."""
        outcome = self.frame.outcome
        waiting = isinstance(outcome, Yielded) and outcome.delegating and not self.finished
        return self.frame.stack[-1] if waiting else NULL

    def _throw_into(self, receiver: Any, error: BaseException) -> Any:
        """Inside `yield from`, the inner iterator gets the exception first."""
        if isinstance(error, GeneratorExit):
            try:
                getattr(receiver, "close", lambda: None)()
            except BaseException as other:  # noqa: BLE001 (whatever it is, it goes on in the frame)
                return self._continue(self.frame.throw, other)
            return self._continue(self.frame.throw, error)
        if not hasattr(receiver, "throw"):
            return self._continue(self.frame.throw, error)
        self.running = True
        try:
            return receiver.throw(error)
        except StopIteration as stop:
            self.running = False
            return self._continue(self._leave_delegation, stop.value)
        except BaseException as other:  # noqa: BLE001
            self.running = False
            return self._continue(self.frame.throw, other)
        finally:
            self.running = False

    def _leave_delegation(self, value: Any) -> Any:
        """The inner iterator has returned: go where its SEND would have gone."""
        self.frame.pop()
        self.frame.goto(self._send_instruction())
        return self.frame.resume_with(value)

    def _send_instruction(self) -> Instruction:
        index = self.frame.current
        while self.frame.instructions[index].opname != "SEND":
            index -= 1
        return self.frame.instructions[index]


def _exception(typ: Any, val: Any, tb: Any) -> BaseException:
    """The exception that `throw(typ, val, tb)` means; the three-argument form is the old one."""
    if isinstance(typ, BaseException):
        error = typ
    elif isinstance(typ, type) and issubclass(typ, BaseException):
        error = val if isinstance(val, typ) else typ() if val is None else typ(val)
    else:
        raise TypeError(
            f"exceptions must be classes or instances deriving from BaseException, not {type(typ).__name__}"
        )
    return error if tb is None else error.with_traceback(tb)
